"""Writes the golden file again: `python -m tests.crdgen.reading.oracle`. Needs Go."""

import json

from tests.crdgen.reading.oracle.answers import GOLDEN, ask
from tests.crdgen.reading.oracle.corpus import CORPUS

answers = dict(zip(CORPUS, ask(list(CORPUS.values())), strict=True))
lines = (f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items())
GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")

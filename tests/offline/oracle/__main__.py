"""Writes the golden file anew: `python -m tests.offline.oracle`. It needs Go."""

import json

from tests.offline.oracle.answers import GOLDEN, ask
from tests.offline.oracle.corpus import CORPUS

answers = dict(zip(CORPUS, ask(list(CORPUS.values())), strict=True))
lines = (f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items())
GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")

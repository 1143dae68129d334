"""Compares with Go, or writes the golden file again. It needs Go.

python -m tests.crdgen.re2.oracle                       the golden file
python -m tests.crdgen.re2.oracle --compare 100000 [--seed N]
"""

import argparse
import json
import sys

from tests.crdgen.re2.comparison import differences
from tests.crdgen.re2.oracle.answers import GOLDEN, ask
from tests.crdgen.re2.oracle.corpus import corpus

parser = argparse.ArgumentParser(prog="python -m tests.crdgen.re2.oracle")
parser.add_argument("--compare", type=int, metavar="COUNT", help="how many patterns are made, and compared")
parser.add_argument("--seed", type=int, default=1)
command = parser.parse_args()

questions = corpus(command.seed, command.compare or 1500)
asked = [question | answer for question, answer in zip(questions, ask(questions), strict=True)]
if command.compare:
    found = differences(asked)
    sys.stdout.write(
        f"{len(asked)} patterns, of which Go takes {sum('error' not in one for one in asked)}; {len(found)} differ\n"
    )
    sys.exit("\n".join(found))
GOLDEN.parent.mkdir(exist_ok=True)
GOLDEN.write_text("[\n" + ",\n".join(map(json.dumps, asked)) + "\n]\n")

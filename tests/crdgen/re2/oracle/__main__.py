"""Compares our regular expressions with Go's, or writes the golden file again. Needs Go.

python -m tests.crdgen.re2.oracle                                write the golden file
python -m tests.crdgen.re2.oracle --compare 100000 [--seed N]    compare
"""

import argparse
import json
import sys

from tests.crdgen.re2.comparison import differences
from tests.crdgen.re2.oracle.answers import GOLDEN, ask
from tests.crdgen.re2.oracle.corpus import corpus

parser = argparse.ArgumentParser(prog="python -m tests.crdgen.re2.oracle")
parser.add_argument("--compare", type=int, metavar="COUNT", help="number of random patterns to compare")
parser.add_argument("--seed", type=int, default=1)
command = parser.parse_args()

questions = corpus(command.seed, command.compare or 1500)
answers = [question | answer for question, answer in zip(questions, ask(questions), strict=True)]
if command.compare:
    different = differences(answers)
    valid = sum("error" not in answer for answer in answers)
    sys.stdout.write(f"{len(answers)} patterns: Go compiles {valid}, {len(different)} differ\n")
    sys.exit("\n".join(different))
GOLDEN.parent.mkdir(exist_ok=True)
GOLDEN.write_text("[\n" + ",\n".join(map(json.dumps, answers)) + "\n]\n")

"""The README shows the output of the commands."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from jobgate.cli import main

ROOT = Path(__file__).parents[2]
#: A file to review, and a pattern for its report in the README; `…` stands for omitted text.
SAMPLES = [
    ("examples/dijob/broken/four-faults.yaml", r"four-faults\.yaml\n.*is invalid:\n(.*?)```"),
    ("examples/dijob/with-tasks.yaml", r"```\n(examples/dijob/with-tasks\.yaml.*?)```"),
]


@pytest.mark.parametrize(("file", "sample"), SAMPLES)
def test_the_readme_shows_the_report_on_an_example(file: str, sample: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    shown = re.search(sample, Path("README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    reported = CliRunner().invoke(main, shlex.split(f"review {file}")).output
    for line in shown[1].splitlines():
        pattern = ".*".join(re.escape(part) for part in line.strip().removeprefix("* ").split("…"))
        assert re.search(pattern, reported), line

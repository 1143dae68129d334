"""Whole texts of messages, one file per package: tests compare field and reason, and that the text is in the file.

`JOBGATE_MESSAGES=write pytest tests/kinds tests/rules` adds the texts that a file lacks. Delete the files before to drop
old ones.
"""

import os
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_WRITE = os.environ.get("JOBGATE_MESSAGES") == "write"


def compare(package: str, texts: Sequence[str], expected: Sequence[str]) -> None:
    """Assert that each text begins as expected, with its field and reason, and is in the file of a package."""
    assert len(texts) == len(expected), texts
    file = _HERE / package / "messages.txt"
    known = set(file.read_text().splitlines()) if file.exists() else set()
    for text, begins in zip(texts, expected, strict=True):
        assert text.startswith(begins), f"{text!r} does not begin with {begins!r}"
        if _WRITE:
            known.add(text)
        assert text in known, f"{file.name} of {package} has no line {text!r}"
    if _WRITE:
        file.write_text("".join(f"{line}\n" for line in sorted(known)))

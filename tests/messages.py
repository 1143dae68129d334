"""Complete texts of messages, in a file for each package: tests check field and reason, and that the file has the text.

`JOBGATE_MESSAGES=write pytest tests/kinds tests/rules` adds missing texts to the files. Delete the files first to remove
old texts.
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

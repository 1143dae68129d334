"""A file against what it should be."""

from dataclasses import dataclass
from difflib import unified_diff


@dataclass(frozen=True)
class Stale:
    """A file that is not what its model gives; `difference` is what would mend it, as a unified diff."""

    file: str
    difference: str


def stale(file: str, kept: str | None, wanted: str) -> Stale | None:
    """Return what is not up to date in a file.

    Args:
        file: Its name, for the difference.
        kept: Its text, or None where there is no such file.
        wanted: What its text should be.
    """
    if kept == wanted:
        return None
    before = [] if kept is None else kept.splitlines(keepends=True)
    name = "/dev/null" if kept is None else file
    lines = unified_diff(before, wanted.splitlines(keepends=True), name, f"{file} (generated)")
    return Stale(
        file, "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    )

"""Updates `docs/explanation/performance.md`: benchmarks fill the blocks between its markers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"


def renew(block: str, text: str, page: Path = PAGE) -> None:
    """Replace the text between the markers of a block.

    Raises:
        ValueError: the page has no such block.
    """
    begin, end = f"<!-- begin {block} -->", f"<!-- end {block} -->"
    pattern = re.compile(f"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
    renewed, count = pattern.subn(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{page} has {count} blocks {begin}: there must be one")
    page.write_text(renewed, encoding="utf-8")


def piped(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first row is the header."""
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] + ["--:"] * (len(head) - 1), *rest])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table for the terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)

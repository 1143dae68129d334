"""Markdown that means what it says: text of others is escaped, code is fenced by what it does not hold."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

# A pair of backticks around something: an author's code.
_CODE: Final = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# `_` is emphasis at the edge of a word only; `&` matters before what looks like an entity.
_SPECIAL: Final = re.compile(r"[\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# What begins a block at the start of a line.
_BLOCK: Final = re.compile(r"^(\s*)([-+>#=]|\d+(?=[.)]))", re.MULTILINE)


def escape(text: str) -> str:
    """Return text as Markdown shows it, on one line; what the author has put between backticks stays code."""
    line = " ".join(text.split())
    parts: list[str] = []
    end = 0
    for found in _CODE.finditer(line):
        parts += [_escaped(line[end : found.start()]), code(found[2].strip())]
        end = found.end()
    return "".join([*parts, _escaped(line[end:])])


def paragraph(text: str) -> str:
    """Return text as a paragraph of its own, which begins no list, heading or quotation."""
    # Of `1.` the point is escaped, since digits cannot be.
    return _BLOCK.sub(lambda found: f"{found[0]}\\" if found[2].isdigit() else f"{found[1]}\\{found[2]}", escape(text))


def code(text: str, *, in_table: bool = True) -> str:
    """Return text as inline code; in a table a bar is escaped, which elsewhere would show the backslash."""
    if not text:
        return ""
    runs = [len(run) for run in re.findall("`+", text)]
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    line = text.replace("\r", "\\r").replace("\n", "\\n")
    line = line.replace("|", "\\|") if in_table else line
    padded = f" {line} " if line.startswith("`") or line.endswith("`") else line
    return f"{fence}{padded}{fence}"


def block(text: str, language: str) -> str:
    """Return text as a block of code."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [head, ["---" for _ in head], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}" if found[0] != "&" else "&amp;", text)

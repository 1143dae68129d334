"""Write Markdown: text is escaped, and code has fences that it does not contain."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

# Code between backticks.
_CODE: Final = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# `_` is emphasis only at the edge of a word; `&` is special only in front of an entity.
_SPECIAL: Final = re.compile(r"[\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# Characters that begin a block at the start of a line.
_BLOCK: Final = re.compile(r"^(\s*)([-+>#=]|\d+(?=[.)]))", re.MULTILINE)


def escape(text: str) -> str:
    """Escape text for Markdown, on one line; code between backticks stays code."""
    line = " ".join(text.split())
    parts: list[str] = []
    end = 0
    for match in _CODE.finditer(line):
        parts += [_escape_line(line[end : match.start()]), code(match[2].strip())]
        end = match.end()
    return "".join([*parts, _escape_line(line[end:])])


#: Widest line of a wrapped text, in characters.
_WIDEST: Final = 120
#: The beginning of an item of a list.
_ITEM: Final = re.compile(r"[ \t]*([-*+]|\d+[.)])[ \t]+(?=\S)")


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and lists of a text, which blank lines separate.

    Lines of a text with wider lines than people wrap are paragraphs of their own.
    """
    is_wrapped = max(map(len, text.split("\n"))) <= _WIDEST
    for part in re.split(r"\n[ \t]*\n" if is_wrapped else r"\n+", text):
        lines: list[str] = []
        for line in part.split("\n"):
            if not lines or _ITEM.match(line):
                lines.append(line)
            else:
                lines[-1] += f" {line.strip()}"
        items = [
            match and f"{match[1]} {escape(line[match.end() :])}" for line in lines for match in [_ITEM.match(line)]
        ]
        if len(lines) == 1 and lines[0].strip():
            yield paragraph(lines[0])
        elif lines[0].strip():
            before = [] if items[0] else [paragraph(lines[0])]
            yield "\n\n".join([*before, "\n".join(filter(None, items))])


def paragraph(text: str) -> str:
    """Return text as a paragraph that does not become a list, heading or quotation."""
    # In `1.` the point is escaped, since digits cannot be.
    return _BLOCK.sub(lambda match: f"{match[0]}\\" if match[2].isdigit() else f"{match[1]}\\{match[2]}", escape(text))


def code(text: str, *, in_table: bool = True) -> str:
    """Return text as inline code. In tables, `|` must be escaped; elsewhere the backslash would be visible."""
    if not text:
        return ""
    runs = [len(run) for run in re.findall("`+", text)]
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    line = text.replace("\r", "\\r").replace("\n", "\\n")
    line = line.replace("|", "\\|") if in_table else line
    padded = f" {line} " if line.startswith("`") or line.endswith("`") else line
    return f"{fence}{padded}{fence}"


def block(text: str, language: str) -> str:
    """Return text as a code block."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown."""
    lines = [head, ["---" for _ in head], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape_line(text: str) -> str:
    return _SPECIAL.sub(lambda match: f"\\{match[0]}" if match[0] != "&" else "&amp;", text)

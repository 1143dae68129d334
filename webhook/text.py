"""Texts of findings: printable lines of limited length, whatever names or values a user put into them.

A name can be as long as a request, and can have characters that control a terminal or cannot be encoded. Paths,
messages and values are cut and escaped here, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

#: Longest name or value in a text, in characters: the output of `kubectl` stays readable.
SHOWN_VALUE: Final = 120
#: Longest path, and longest message, in characters. Valid names of Kubernetes hardly ever need more.
PATH_LIMIT: Final = 400
MESSAGE_LIMIT: Final = 1024

#: Characters that JSON escapes by a letter.
_LETTERS: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def line(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return a text as one printable line: escaped, and cut in the middle if it is longer than `limit`.

    Both ends stay: a message begins with what is wrong, and ends with what would be right.
    """
    if len(text) <= limit and text.isprintable():
        return text
    return _cut(escaped(_cut(text, limit)), limit)


def short(name: str) -> str:
    """Return a name for a path or a sentence: as it is, if an object of the cluster can have this name."""
    return line(name, SHOWN_VALUE)


def first_of(items: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first items for a message, with the number of those that it leaves out."""
    return separator.join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")


def shown(value: Any) -> str:
    """Return a value for a message: one line of JSON, cut if it is long, with control characters escaped."""
    text = ""
    for part in _json(value):
        text += escaped(part)
        if len(text) > SHOWN_VALUE + 40:
            return text[:SHOWN_VALUE] + "…"
    return text


def escaped(text: str) -> str:
    """Return a text with escapes for control characters, lone surrogates and overrides of direction."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _LETTERS.get(char) or f"\\u{ord(char):04x}" for char in text)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = limit // 3
    return f"{text[: limit - end - 1]}…{text[-end:]}"


def _json(value: Any) -> Iterator[str]:
    """Yield a value as JSON, piece by piece, so that the caller can stop early."""
    if isinstance(value, str):
        cut = value if len(value) <= SHOWN_VALUE else value[:SHOWN_VALUE] + "…"
        yield json.dumps(cut, ensure_ascii=False)
    elif isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield ", " if index else ""
            yield from _json(str(key))
            yield ": "
            yield from _json(item)
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from _json(item)
        yield "]"
    else:
        try:
            yield json.dumps(value, default=str)
        except ValueError:
            yield f"a {type(value).__name__}"  # a number with more digits than Python writes


def bearer(header: str) -> str:
    """Return the token of an `Authorization` header; empty if it has none."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""

"""Texts of findings: each one printable line of bounded length, whatever name or value a user put into it.

A name may be as long as a request, and hold what a terminal obeys or what no encoder takes. Paths, messages and values
are cut and escaped here, and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

#: Longest name or value that a text shows, in characters: a screen of `kubectl` output stays readable.
SHOWN_VALUE: Final = 120
#: Longest path, and longest message, in characters. Names that Kubernetes takes hardly ever amount to as much.
PATH_LIMIT: Final = 400
MESSAGE_LIMIT: Final = 1024

#: What JSON escapes by a letter.
_LETTERS: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def line(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return a text as one printable line: cut in the middle where it is longer than `limit`, and escaped.

    Both ends stay: a message says first what is wrong and last what would be right. What is cut costs nothing.
    """
    if len(text) <= limit and text.isprintable():
        return text
    return _cut(escaped(_cut(text, limit)), limit)


def short(name: str) -> str:
    """Return a name as a path or a sentence has it: as it is, unless no object of the cluster can be called so."""
    return line(name, SHOWN_VALUE)


def shown(value: Any) -> str:
    """Return a value as a message shows it: one line of JSON, cut where it grows long, control characters escaped."""
    text = ""
    for part in _json(value):
        text += escaped(part)
        if len(text) > SHOWN_VALUE + 40:
            return text[:SHOWN_VALUE] + "…"
    return text


def escaped(text: str) -> str:
    """Return a text with what does not print escaped: control characters, lone surrogates, overrides of direction."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _LETTERS.get(one) or f"\\u{ord(one):04x}" for one in text)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = limit // 3
    return f"{text[: limit - end - 1]}…{text[-end:]}"


def _json(value: Any) -> Iterator[str]:
    """Yield a value as JSON, piece by piece: who needs only the beginning stops there, however much follows."""
    if isinstance(value, str):
        cut = value if len(value) <= SHOWN_VALUE else value[:SHOWN_VALUE] + "…"
        yield json.dumps(cut, ensure_ascii=False)
    elif isinstance(value, dict):
        yield "{"
        for place, (key, item) in enumerate(value.items()):
            yield ", " if place else ""
            yield from _json(str(key))
            yield ": "
            yield from _json(item)
        yield "}"
    elif isinstance(value, list | tuple):
        yield "["
        for place, item in enumerate(value):
            yield ", " if place else ""
            yield from _json(item)
        yield "]"
    else:
        try:
            yield json.dumps(value, default=str)
        except ValueError:
            yield f"a {type(value).__name__}"  # a number of more digits than Python writes

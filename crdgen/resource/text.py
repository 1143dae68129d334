"""Write YAML that is byte for byte the same on every machine.

PyYAML has two emitters, which differ in line breaks and quotes.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

# Strings that YAML 1.1 and 1.2 read as strings without quotes.
_PLAIN: Final = re.compile(r"[A-Za-z/_$.][A-Za-z0-9/_$.+-]*(?: (?:[A-Za-z0-9/_$.+(-][A-Za-z0-9/_$.,;()+'-]*))*")
_WORDS: Final = frozenset({"", "false", "n", "no", "null", "off", "on", "true", "y", "yes", ".nan", ".inf"})
_NUMBER: Final = re.compile(r"[.0-9_+-]+(e[0-9+-]*)?", re.IGNORECASE)
_UNPRINTABLE: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def to_yaml(document: Any, header: str = "") -> str:
    """Return the document as YAML, with keys in their order, after the header as a comment."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in header.splitlines())
    return comment + "\n".join(_block(document, 0)) + "\n"


def _block(value: Any, depth: int) -> Iterator[str]:
    margin = "  " * depth
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from _entry(f"{margin}{_scalar(key)}:", child, depth)
    elif isinstance(value, list) and value:
        for child in value:
            lines = _block(child, depth + 1)
            yield f"{margin}- {next(lines).lstrip(' ')}"
            yield from lines
    else:
        yield margin + _scalar(value)


def _entry(head: str, child: Any, depth: int) -> Iterator[str]:
    if isinstance(child, dict | list) and child:
        yield head
        yield from _block(child, depth + isinstance(child, dict))
    elif isinstance(child, str) and _fits_literal(child):
        yield f"{head} |-"
        yield from ("  " * (depth + 1) + line for line in child.split("\n"))
    else:
        yield f"{head} {_scalar(child)}"


def _fits_literal(text: str) -> bool:
    lines = text.split("\n")
    return (
        len(lines) > 1
        and all(line and line == line.strip() and line.isprintable() for line in lines)
        and not _UNPRINTABLE.search(text)
    )


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        # PyYAML, which follows YAML 1.1, reads 1e-05 as a string: a number needs a dot.
        return re.sub(r"^(-?[0-9]+)e", r"\1.0e", json.dumps(value, allow_nan=False))
    if not isinstance(value, str):
        return json.dumps(value, allow_nan=False)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS and not _NUMBER.fullmatch(value):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)

"""The JSON documents of a stream, read as encoding/json reads them."""

import json
import re
from dataclasses import dataclass
from typing import Any

from crdgen.reading.yaml_nodes import MAX_DEPTH, Broken, Path
from crdgen.reading.yaml_scalars import Untrue, json_number

_SPACE = re.compile(r"[ \t\r\n]*")
_NOT_UNICODE = re.compile("[\ud800-\udfff]")
_LONGEST_INTEGER = 400


@dataclass(frozen=True, slots=True)
class Value:
    """One document: its value, where it begins and ends in the text, and which keys were written twice."""

    value: Any
    start: int
    end: int
    duplicates: list[Path]


class Unsendable(Broken):
    """The text is JSON, but no object that can be sent: so it is not tried as YAML."""


class _Repeated(dict[str, Any]):
    """An object in which `keys_twice` were written more than once."""

    keys_twice: tuple[str, ...] = ()


def next_value(text: str, start: int) -> Value | None:
    """The document that begins at or after `start`; None at the end of the text.

    `text` is UTF-8 decoded with `surrogateescape`, so that bytes that are no UTF-8 become U+FFFD one by one, as in Go.

    Raises:
        Broken: what stands there is no JSON; the line and column are of the text.
    """
    start = _end_of(_SPACE.match(text, start), start)
    if start == len(text):
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise broken_at(text, error.pos, f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}") from error
    except RecursionError as error:
        raise _unsendable(text, start, f"nested too deep: at most {MAX_DEPTH} levels are read") from error
    except _NoConstant as error:
        raise broken_at(text, start, str(error)) from error
    except Untrue as error:
        raise _unsendable(text, start, str(error)) from error
    duplicates: list[Path] = []
    try:
        return Value(_clean(value, (), duplicates), start, end, duplicates)
    except Untrue as error:
        raise _unsendable(text, start, str(error)) from error


def broken_at(text: str, position: int, message: str) -> Broken:
    """The error at a position of the text."""
    line_start = text.rfind("\n", 0, position) + 1
    return Broken(message, text.count("\n", 0, position), position - line_start)


def _unsendable(text: str, position: int, message: str) -> Unsendable:
    broken = broken_at(text, position, message)
    return Unsendable(broken.message, broken.line, broken.column)


def _end_of(match: "re.Match[str] | None", otherwise: int) -> int:
    return match.end() if match else otherwise


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) == len(pairs):
        return entries
    repeated = _Repeated(entries)
    keys = [key for key, _ in pairs]
    seen: set[str] = set()
    repeated.keys_twice = tuple(key for key in keys if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _integer(digits: str) -> float:
    return json_number(int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits))


class _NoConstant(ValueError):
    """A word that Python takes for a number."""


def _constant(word: str) -> float:
    raise _NoConstant(f"JSON has no {word}: use a finite number")


def _clean(value: Any, path: Path, duplicates: list[Path]) -> Any:
    """The value without broken text, once it is known to be shallow enough; notes keys that were written twice."""
    if len(path) > MAX_DEPTH:
        raise Untrue(f"nested too deep: at most {MAX_DEPTH} levels are read")
    if isinstance(value, dict):
        duplicates.extend((*path, key) for key in getattr(value, "keys_twice", ()))
        return {_text(key): _clean(item, (*path, _text(key)), duplicates) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, (*path, index), duplicates) for index, item in enumerate(value)]
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    return text if text.isascii() else _NOT_UNICODE.sub("\ufffd", text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=lambda digits: json_number(float(digits)),
    parse_constant=_constant,
)

"""Texts: CEL's own functions, those of ext.Strings, and Kubernetes' find and findAll."""

from collections.abc import Callable
from typing import Any, Final

from crdgen.cel.functions.conversions import number
from crdgen.cel.functions.overloads import Table
from crdgen.cel.times import Duration, Fault, Timestamp, written
from crdgen.cel.values import Fields, Items, TypeName
from crdgen.re2 import compiled
from crdgen.utf8 import utf8

#: What Go's strings.TrimSpace takes away.
_BLANKS: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # noqa: E501
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def pattern(text: str) -> Any:
    """Compile a pattern of RE2."""
    try:
        return compiled(text)
    except ValueError as error:
        raise Fault(f"error parsing regexp: {error}") from None


def _find(text: str, expression: str) -> str:
    found = pattern(expression).search(text)
    return found[0] if found else ""


def _find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    found = [match[0] for match in pattern(expression).finditer(text)]
    return found if limit < 0 else found[:limit]


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise Fault(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if not 0 <= start < max(len(text), 1):
        raise Fault(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, end: int | None = None) -> int:
    if not part:
        return len(text) if end is None else end
    if end is not None and not 0 <= end < max(len(text), 1):
        raise Fault(f"index out of range: {end}")
    return text.rfind(part) if end is None else text.rfind(part, 0, end + len(part))


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit in {0, 1}:
        return [text][:limit]
    if not separator:
        parts = list(text) if limit < 0 or len(text) <= limit else [*text[: limit - 1], text[limit - 1 :]]
        return parts or []
    return text.split(separator) if limit < 0 else text.split(separator, limit - 1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    if not 0 <= start <= len(text):
        raise Fault(f"index out of range: {start}")
    if end is None:
        return text[start:]
    if not 0 <= end <= len(text):
        raise Fault(f"index out of range: {end}")
    if start > end:
        raise Fault(f"invalid substring range. start: {start}, end: {end}")
    return text[start:end]


def _join(parts: Any, separator: str = "") -> str:
    return separator.join(parts)


def _quote(text: str) -> str:
    names = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 92: "\\\\", 34: '\\"'}
    return f'"{text.translate(names)}"'


def _format(text: str, arguments: Any) -> str:
    """`'%d of %s'.format([1, 'a'])`."""
    values = list(arguments)
    made: list[str] = []
    at = used = 0
    while at < len(text):
        if text[at] != "%":
            made.append(text[at])
            at += 1
            continue
        at += 1
        digits = ""
        if text[at : at + 1] == ".":
            at += 1
            while text[at : at + 1].isdigit():
                digits += text[at]
                at += 1
        clause = text[at : at + 1]
        at += 1
        if clause == "%":
            made.append("%")
            continue
        if clause not in _CLAUSES:
            raise Fault(f"could not parse formatting clause: unrecognized formatting clause {clause!r}")
        if used >= len(values):
            raise Fault(f"index {used} out of range")
        made.append(_CLAUSES[clause](values[used], int(digits) if digits else 6))
        used += 1
    return "".join(made)


def _shown(value: Any, _precision: int = 6) -> str:  # noqa: PLR0911 - one for each type
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return number(value)
        case bytes():
            return value.decode(errors="replace")
        case Timestamp() | Duration():
            return written(value)
        case TypeName(name):
            return name
        case list() | Items():
            return f"[{', '.join(_shown(element) for element in value)}]"
        case dict():
            return f"{{{', '.join(sorted(f'{_shown(key)}: {_shown(child)}' for key, child in value.items()))}}}"
        case Fields():
            return f"{{{', '.join(sorted(f'{key}: {_shown(value.find(key))}' for key in value))}}}"
        case _:
            return str(value)


def _decimal(value: Any, _precision: int) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Fault("error during formatting: decimal clause can only be used on integers")
    return number(value) if isinstance(value, float) else str(int(value))


def _real(form: str) -> Callable[[Any, int], str]:
    def shown(value: Any, precision: int) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Fault("error during formatting: fixed-point clause can only be used on doubles")
        return f"{value:.{precision}{form}}"

    return shown


def _based(form: str) -> Callable[[Any, int], str]:
    def shown(value: Any, _precision: int) -> str:
        match value:
            case str() | bytes() if form in "xX":
                data = (utf8(value) if isinstance(value, str) else value).hex()
                return data.upper() if form == "X" else data
            case int() if not isinstance(value, bool) or form == "b":
                return f"{int(value):{form}}"
        raise Fault("error during formatting: only integers, byte buffers, and strings can be formatted as hex")

    return shown


_CLAUSES: Final[dict[str, Callable[[Any, int], str]]] = {
    "s": _shown,
    "d": _decimal,
    "f": _real("f"),
    "e": _real("e"),
    "b": _based("b"),
    "o": _based("o"),
    "x": _based("x"),
    "X": _based("X"),
}

TEXTS: Final[Table] = {
    ("contains", str, str): lambda text, part: part in text,
    ("startsWith", str, str): str.startswith,
    ("endsWith", str, str): str.endswith,
    ("matches", str, str): lambda text, expression: pattern(expression).search(text) is not None,
    ("find", str, str): _find,
    ("findAll", str, str): _find_all,
    ("findAll", str, str, int): _find_all,
    ("charAt", str, int): _char_at,
    ("indexOf", str, str): _index_of,
    ("indexOf", str, str, int): _index_of,
    ("lastIndexOf", str, str): _last_index_of,
    ("lastIndexOf", str, str, int): _last_index_of,
    ("lowerAscii", str): lambda text: text.translate(_LOWER),
    ("upperAscii", str): lambda text: text.translate(_UPPER),
    ("replace", str, str, str): str.replace,
    ("replace", str, str, str, int): str.replace,
    ("split", str, str): _split,
    ("split", str, str, int): _split,
    ("substring", str, int): _substring,
    ("substring", str, int, int): _substring,
    ("trim", str): lambda text: text.strip(_BLANKS),
    ("strings.quote", str): _quote,
    **{("join", kind): _join for kind in (list, Items)},
    **{("join", kind, str): _join for kind in (list, Items)},
    **{("format", str, kind): _format for kind in (list, Items)},
}

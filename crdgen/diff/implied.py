"""What a schema accepts: a new keyword that rejects none of it is compatible.

Everything errs on one side: what is returned may be more than was taken, and never less. So a keyword that passes all
of it passes all stored values.
"""

import re
from collections.abc import Mapping
from math import inf, isfinite
from types import MappingProxyType
from typing import Any, Final

from crdgen.evaluate.scalars import scalar_checker, unfit_bounds
from crdgen.integers import RANGES
from crdgen.re2 import matcher
from crdgen.schema import EMBEDDED, INT_OR_STRING, PRESERVE
from crdgen.schema.look import mapping, members, number

_TYPES: Final = frozenset({"boolean", "integer", "number", "string"})
_COUNTS: Final = ("minLength", "maxLength")
_BOUNDS: Final = ("minimum", "maximum", "multipleOf")
_EXCLUSIVE: Final = ("exclusiveMinimum", "exclusiveMaximum")
#: What the API server keeps of every whole object, whether the schema names it or not.
_OF_RESOURCES: Final = frozenset({"apiVersion", "kind", "metadata"})
#: So many integers are looked at one by one.
_FEW: Final = 1000
#: Characters of texts of a format that every API server checks, at least and at most; not of those formats that pass
#: over some characters, nor of those that only newer API servers know.
_LENGTHS: Final = MappingProxyType(
    {
        "bsonobjectid": (24, 24),
        "date": (10, 10),
        "hexcolor": (3, 7),
        "hostname": (1, 255),
        "mac": (12, 59),
        "ssn": (11, 11),
        "uuid": (32, 36),
        "uuid3": (32, 36),
        "uuid4": (32, 36),
        "uuid5": (32, 36),
    }
)
_ANYTHING: Final = frozenset(
    {r"^[\s\S]*$", r"^[\S\s]*$", r"^(.|\n)*$", r"^(?:.|\n)*$", "(?s)^.*$", "^(?s).*$", "^(?s:.*)$"}
)


def scalar(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the schema says of texts, numbers and booleans, without what has the wrong JSON type."""
    kind = schema.get("type")
    found: dict[str, Any] = {"type": kind} if isinstance(kind, str) and kind in _TYPES else {}
    if schema.get(INT_OR_STRING) is True:
        found = {INT_OR_STRING: True}
    for keyword in (*_COUNTS, *_BOUNDS):
        bound = number(schema.get(keyword))
        if bound is not None and _is_finite(bound) and (keyword not in _COUNTS or bound == int(bound)):
            found[keyword] = bound
    found |= {keyword: True for keyword in _EXCLUSIVE if schema.get(keyword) is True}
    if members(schema.get("enum")):
        found["enum"] = [value for value in schema["enum"] if isinstance(value, str | int | float)]
    for keyword in ("pattern", "format"):
        if isinstance(schema.get(keyword), str):
            found[keyword] = schema[keyword]
    return found


def takes(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether the scalar keywords take the value; true where that cannot be told."""
    return scalar_checker(scalar(schema))(value) is None


def finite(schema: Mapping[str, Any]) -> list[Any] | None:
    """Return the few values, without null, that are taken; None where they are many or cannot be told.

    Enums are looked at for some types only: of others the API server converts values before it compares.
    """
    own = scalar(schema)
    kind = own.get("type")
    if unfit_bounds(own):
        return []
    if kind == "boolean":
        candidates: list[Any] = [False, True]
    elif kind in {"integer", "string"} and "enum" in own:
        candidates = own["enum"]
    elif kind == "integer":
        low, high = integers(schema)
        if high - low >= _FEW:
            return None
        candidates = list(range(low, high + 1))
    else:
        return None
    return [value for value in candidates if takes(schema, value)]


def passes(old: Mapping[str, Any], new: Mapping[str, Any], *keywords: str) -> bool:
    """Return whether the few values that `old` took all pass these keywords of `new`."""
    values = finite(old)
    own = scalar(new)
    if values is None or any(keyword in new and keyword not in own for keyword in keywords):
        return False
    if "pattern" in keywords and not _is_known(own.get("pattern", "")):
        return False
    return all(takes({key: own[key] for key in ("type", *keywords) if key in own}, value) for value in values)


def lengths(schema: Mapping[str, Any]) -> tuple[float, float]:
    """Return how many characters the texts have that are taken, at least and at most."""
    own = scalar(schema)
    least, most = _LENGTHS.get(own.get("format", "").replace("-", ""), (0, inf))
    return max(least, own.get("minLength", 0)), min(most, own.get("maxLength", inf))


def integers(schema: Mapping[str, Any]) -> tuple[int, int]:
    """Return the least and the largest integer that a schema of integers takes; without a format it has 64 bits."""
    own = scalar(schema)
    low, high = RANGES["int32" if own.get("format") == "int32" else "int64"]
    if "minimum" in own:
        low = max(low, int(own["minimum"]) + ("exclusiveMinimum" in own))
    if "maximum" in own:
        high = min(high, int(own["maximum"]) - ("exclusiveMaximum" in own))
    return low, high


def most_fields(schema: Mapping[str, Any], *, root: bool) -> float:
    """Return how many fields an object has at most, once those that the schema does not name are pruned."""
    if schema.get(PRESERVE) or schema.get("additionalProperties") or schema.get("type") != "object":
        return inf
    names = mapping(schema, "properties").keys()
    return len(names | _OF_RESOURCES) if root or schema.get(EMBEDDED) else len(names)


def matches_all(pattern: Any) -> bool:
    r"""Return whether a pattern is sure to match every text.

    Patterns are searched for. One that matches the empty text matches at the beginning of every text, or at its end, if
    it does not look at both ends and at nothing beside it. `^.*$` does: RE2's `.` takes no line break.
    """
    if not isinstance(pattern, str):
        return False
    if pattern in _ANYTHING:
        return True
    if ("^" in pattern and "$" in pattern) or re.search(r"\\[^sSdDwW.]", pattern):
        return False
    return _is_known(pattern) and matcher(pattern)("")


def _is_known(pattern: str) -> bool:
    """Return whether the pattern can be tried here."""
    try:
        matcher(pattern)
    except ValueError:
        return False
    return True


def _is_finite(bound: float) -> bool:
    return isinstance(bound, int) or isfinite(bound)

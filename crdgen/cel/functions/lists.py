"""Lists: Kubernetes' own functions, those of ext.Lists, and sets."""

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from crdgen.cel.equality import equal
from crdgen.cel.functions.operators import OPERATORS, compare
from crdgen.cel.functions.overloads import Table, by_type
from crdgen.cel.times import Fault
from crdgen.cel.values import Items, Optional

_PLUS: Final = by_type([(tuple(types), function) for (name, *types), function in OPERATORS.items() if name == "_+_"])


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=cmp_to_key(lambda left, right: compare(left, right) or 0))


def _is_sorted(values: Any) -> bool:
    found = list(values)
    return all(compare(left, right) != 1 for left, right in pairwise(found))


def _sum(values: Any) -> Any:
    """The type of an empty list's sum is not known here; comparisons hold across numbers."""
    total: Any = None
    for value in values:
        total = value if total is None else _PLUS(total, value)
    return 0 if total is None else total


def _most(name: str, worse: int) -> Callable[[Any], Any]:
    def most(values: Any) -> Any:
        found = list(values)
        if not found:
            raise Fault(f"{name} called on empty list")
        best = found[0]
        for value in found[1:]:
            if compare(best, value) == worse:
                best = value
        return best

    return most


def _index_of(values: Any, wanted: Any) -> int:
    return next((index for index, value in enumerate(values) if equal(value, wanted)), -1)


def _last_index_of(values: Any, wanted: Any) -> int:
    found = list(values)
    return next((index for index in range(len(found) - 1, -1, -1) if equal(found[index], wanted)), -1)


def _distinct(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(equal(value, known) for known in found):
            found.append(value)
    return found


def _flattened(values: Any, depth: int = 1) -> list[Any]:
    if depth < 0:
        raise Fault("level must be non-negative")
    found: list[Any] = []
    for value in values:
        if isinstance(value, list | Items) and depth > 0:
            found += _flattened(value, depth - 1)
        else:
            found.append(value)
    return found


def _sliced(values: Any, start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise Fault(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise Fault(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(values):
        raise Fault(f"cannot slice({start}, {end}), list is length {len(values)}")
    return list(values)[start:end]


def _range(length: int) -> list[int]:
    if length > 1_000_000:
        raise Fault("lists.range is too long")
    return list(range(length))


def _by_key(one: tuple[Any, Any], two: tuple[Any, Any]) -> int:
    return compare(one[0], two[0]) or 0


def _sorted_by(values: Any, keys: Any) -> list[Any]:
    pairs = sorted(zip(keys, values, strict=True), key=cmp_to_key(_by_key))
    return [value for _, value in pairs]


def _held(values: Any, wanted: Any) -> bool:
    found = list(values)
    return all(any(equal(value, part) for value in found) for part in wanted)


_KINDS: Final = (list, Items)

LISTS: Table = {}
for _kind in _KINDS:
    LISTS |= {
        ("isSorted", _kind): _is_sorted,
        ("sum", _kind): _sum,
        ("min", _kind): _most("min", 1),
        ("max", _kind): _most("max", -1),
        ("indexOf", _kind, object): _index_of,
        ("lastIndexOf", _kind, object): _last_index_of,
        ("distinct", _kind): _distinct,
        ("flatten", _kind): _flattened,
        ("flatten", _kind, int): _flattened,
        ("slice", _kind, int, int): _sliced,
        ("sort", _kind): _sorted,
        ("@sortByAssociatedKeys", _kind, list): _sorted_by,
        ("reverse", _kind): lambda values: list(values)[::-1],
        ("first", _kind): lambda values: Optional(next(iter(values))) if len(values) else Optional(),
        ("last", _kind): lambda values: Optional(list(values)[-1]) if len(values) else Optional(),
    }
    for _other in _KINDS:
        LISTS |= {
            ("sets.contains", _kind, _other): _held,
            ("sets.equivalent", _kind, _other): lambda one, two: _held(one, two) and _held(two, one),
            ("sets.intersects", _kind, _other): lambda one, two: any(
                equal(left, right) for left in one for right in two
            ),
        }
LISTS["lists.range", int] = _range

"""When two values are equal: numbers across their types, sets and map lists whatever their order."""

from typing import Any, Final

from crdgen.cel.values import MISSING, Fields, Hidden, Items, NoOverload, Optional, kind, plain, value_of

_NUMBERS: Final = frozenset({"int", "uint", "double"})


def equal(left: Any, right: Any) -> bool:  # noqa: PLR0911 - one for each type
    """Tell whether CEL's `==` holds; how it compares is up to the value on the left."""
    if left is None or right is None:
        return left is None and right is None
    match left:
        case Hidden(value):
            return bool(value == plain(right))
        case Items():
            return _items(left, right)
        case Fields():
            return _fields(left, right)
        case list():
            if not isinstance(right, list | Items) or len(left) != len(right):
                return False
            return all(equal(mine, other) for mine, other in zip(left, right, strict=True))
        case dict():
            return _map(left, right)
        case Optional(value):
            if not isinstance(right, Optional) or (value is MISSING) != (right.value is MISSING):
                return False
            return value is MISSING or equal(value, right.value)
        case _:
            kinds = {kind(left), kind(right)}
            return bool((len(kinds) == 1 or kinds <= _NUMBERS) and left == right)


def _items(left: Items, right: Any) -> bool:
    if not isinstance(right, list | Items):
        raise NoOverload
    if len(left) != len(right):
        return False
    if left.kind == "set":
        mine = {left.key(element) for element in left.elements}
        return all(left.key(plain(other)) in mine for other in right)
    if left.kind == "map":
        found = {left.key(element): element for element in left.elements}
        for other in right:
            key = left.key(plain(other))
            if key not in found or not equal(value_of(found[key], left.schema), other):
                return False
        return True
    return all(equal(mine, other) for mine, other in zip(left, right, strict=True))


def _fields(left: Fields, right: Any) -> bool:
    if not isinstance(right, dict | Fields):
        raise NoOverload
    if len(left) != len(right):
        return False
    named = set(left)
    for key in named:
        mine, other = left.find(key), find(right, key)
        if (mine is MISSING) != (other is MISSING):
            return False
        if mine is not MISSING and not equal(mine, other):
            return False
    # What the schema does not list is compared as JSON, where both have it.
    for key, value in left.value.items():
        if left.child(key) is None:
            if not isinstance(right, Fields):
                raise NoOverload
            if key in right.value and value != right.value[key]:
                return False
    return True


def _map(left: dict[Any, Any], right: Any) -> bool:
    if not isinstance(right, dict | Fields):
        return False
    if len(left) != len(right):
        return False
    for key, value in left.items():
        other = find(right, key)
        if other is MISSING or not equal(value, other):
            return False
    return True


def find(value: Any, key: Any) -> Any:
    """Return what a map holds for a key, or MISSING."""
    if isinstance(value, Fields):
        return value.find(key)
    if kind(key) in _NUMBERS:
        # 1, 1u and 1.0 are the same key; true is another.
        return next((found for held, found in value.items() if equal(held, key)), MISSING)
    return value.get(key, MISSING) if isinstance(key, bool | str) else MISSING

"""Validation: k8s.io/kube-openapi, pkg/validation/validate, for what a structural schema may hold.

It differs from the API server in one point, on purpose: a list where a text with a format is expected, as a time, is
rejected here, and taken there by mistake. No typed client could read it.

A check returns None for a value that is right, which costs nothing, or the violations, seen from that value.
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import Any, TypeAlias

from crdgen.evaluate.check import (
    ENOUGH,
    Check,
    ErrorType,
    Violation,
    identity,
    under,
    wrong_type,
)
from crdgen.evaluate.scalars import scalar_checker, supported_values
from crdgen.formats import text_format
from crdgen.schema import EITHER, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, Schema


def branches(schema: Schema) -> Check | None:
    """Return the check of the schema's branches, or None where it has none."""
    if not schema.keys() & {"allOf", "anyOf", "not", "oneOf"}:
        return None

    def compiled(keyword: str) -> list[Check]:
        found = schema.get(keyword, ())
        if schema.get(INT_OR_STRING):
            # Its two types may be repeated as a branch, which then says nothing more.
            found = [] if found == EITHER else [branch for branch in found if branch != {"anyOf": EITHER}]
        return [checker(branch) for branch in found]

    every, some, one = compiled("allOf"), compiled("anyOf"), compiled("oneOf")
    none = checker(schema["not"]) if "not" in schema else None

    def check(value: Any) -> list[Violation] | None:
        found = [violation for branch in every for violation in branch(value) or ()]
        if some and all(branch(value) for branch in some):
            found.append(Violation((), ErrorType.INVALID, value, "must match one of the alternatives"))
        if one and sum(branch(value) is None for branch in one) != 1:
            found.append(Violation((), ErrorType.INVALID, value, "must match exactly one of the alternatives"))
        if none is not None and none(value) is None:
            found.append(Violation((), ErrorType.INVALID, value, "must not match the excluded form"))
        return found or None

    return check


def checker(schema: Schema) -> Check:
    """Return the function that checks a value against this schema."""
    check = _of_type(schema)
    more = branches(schema)
    return _nullable((lambda value: check(value) or more(value)) if more else check, schema)


def _of_type(schema: Schema) -> Check:
    match schema.get("type"):
        case "object":
            return object_checker(schema)
        case "array":
            return list_checker(schema)
        case None if not schema.get(INT_OR_STRING):
            return _untyped(schema)
        case _:
            return scalar_checker(schema)


def _untyped(schema: Schema) -> Check:
    """Without a type, each keyword holds for values of its own type only."""
    fields = object_checker(schema)
    items = list_checker(schema)
    scalar = scalar_checker(schema)
    only_texts = text_format(schema.get("format")) is not None

    def check(value: Any) -> list[Violation] | None:
        # A format alone says of what type a value is, unless it is a list.
        if only_texts and not isinstance(value, str | list):
            return wrong_type(value, "string")
        # An enum is the one keyword of scalars that holds for objects and lists too.
        if isinstance(value, dict):
            return fields(value) or scalar(value)
        return (items(value) or scalar(value)) if isinstance(value, list) else scalar(value)

    return check


def _nullable(check: Check, schema: Schema) -> Check:
    if not schema.get("nullable") and (schema.get("type") or schema.get(INT_OR_STRING)):
        return check

    # A null is held against the enum and against nothing else; it is no member even where the enum lists it.
    enum = schema.get("enum")
    rejection = [Violation((), ErrorType.NOT_SUPPORTED, None, supported_values(enum))] if enum else None

    def check_unless_null(value: Any) -> list[Violation] | None:
        return rejection if value is None else check(value)

    return check_unless_null


def object_checker(schema: Schema) -> Check:
    """Return the check of an object: its fields, those that it must have, and how many it may have."""
    fields = {name: checker(child) for name, child in schema.get("properties", {}).items()}
    extra = schema.get("additionalProperties")
    others = checker(extra) if isinstance(extra, dict) else None
    required: tuple[str, ...] = tuple(schema.get("required", ()))
    counted = schema.keys() & {"minProperties", "maxProperties"}

    def check(value: Any) -> list[Violation] | None:
        if not isinstance(value, dict):
            return wrong_type(value, "object")
        found: list[Violation] | None = None
        for key, child in value.items():
            field = fields.get(key, others)
            if field is not None:
                problems = field(child)
                if problems is not None:
                    # In place: a copy for each entry of a map would cost the square of them.
                    found = found or []
                    found += under(key, problems)
                    if len(found) >= ENOUGH:
                        break
        missing = [Violation((key,), ErrorType.REQUIRED, None, "must be set") for key in required if key not in value]
        if missing or counted:
            found = [*(found or []), *missing, *_count(schema, value)] or None
        return found

    return _bounded(check, schema)


def _bounded(check: Check, schema: Schema) -> Check:
    """Return the check that does not look into an object of far more entries than it may have."""
    if "maxProperties" not in schema:
        return check
    most = max(schema["maxProperties"], ENOUGH)
    return lambda value: list(_count(schema, value)) if isinstance(value, dict) and len(value) > most else check(value)


def _count(schema: Schema, value: dict[str, Any]) -> Iterator[Violation]:
    least = schema.get("minProperties", 0)
    most = schema.get("maxProperties", len(value))
    if len(value) < least:
        yield Violation((), ErrorType.INVALID, value, f"must have at least {least} entries")
    if len(value) > most:
        yield Violation((), ErrorType.TOO_MANY, value, f"must have at most {most} entries")


Test: TypeAlias = Callable[[list[Any]], list[Violation]]


def list_checker(schema: Schema) -> Check:
    """Return the check of a list: its length, its items, and that none is there twice."""
    item = checker(schema["items"]) if isinstance(schema.get("items"), dict) else None
    lengths, unique = _length(schema), _unique(schema)
    most = max(schema.get("maxItems", inf), ENOUGH)

    def check(value: Any) -> list[Violation] | None:
        if not isinstance(value, list):
            return wrong_type(value, "array")
        found = [violation for test in lengths for violation in test(value)]
        if len(value) > most:
            return found
        for test in unique:
            found += test(value)
        if item is not None:
            for index, child in enumerate(value):
                problems = item(child)
                if problems is not None:
                    found += under(index, problems)
                    if len(found) >= ENOUGH:
                        break
        return found or None

    return check


def _length(schema: Schema) -> list[Test]:
    tests: list[Test] = []
    if "minItems" in schema:
        least: int = schema["minItems"]
        text = "must have at least one item" if least == 1 else f"must have at least {least} items"
        tests.append(lambda value: [] if len(value) >= least else [Violation((), ErrorType.INVALID, value, text)])
    if "maxItems" in schema:
        most: int = schema["maxItems"]
        more = f"must have at most {most} item{'' if most == 1 else 's'}"
        tests.append(lambda value: [] if len(value) <= most else [Violation((), ErrorType.TOO_MANY, value, more)])
    return tests


def _unique(schema: Schema) -> list[Test]:
    match schema.get(LIST_TYPE):
        case "set":
            return [lambda value: _duplicates(value, lambda _: "value")]
        case "map":
            return [_by_keys(tuple(schema[LIST_MAP_KEYS]))]
        case _:
            return []


def _by_keys(keys: tuple[str, ...]) -> Test:
    def check(value: list[Any]) -> list[Violation]:
        if len(value) < 2 or not all(isinstance(item, dict) for item in value):
            return []
        held = [{key: item[key] for key in keys if key in item} for item in value]
        return _duplicates(held, lambda item: " and ".join(item) or "key")

    return check


def _duplicates(keys: list[Any], describe: Callable[[Any], str]) -> list[Violation]:
    """Return one violation for each value that is there more than once, at its second place."""
    first: dict[Any, int] = {}
    reported: set[Any] = set()
    found: list[Violation] = []
    for index, key in enumerate(keys):
        known = tuple((name, identity(part)) for name, part in key.items()) if isinstance(key, dict) else identity(key)
        place = first.setdefault(known, index)
        if place != index and known not in reported:
            reported.add(known)
            message = f"[{place}] already has this {describe(key)}"
            found.append(Violation((index,), ErrorType.DUPLICATE, key, message))
    return found

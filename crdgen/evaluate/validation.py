"""Validate values against a structural schema, like k8s.io/kube-openapi, pkg/validation/validate.

There is one difference on purpose: the API server accepts, by mistake, a list instead of a string with a format, such
as a time. No typed client could read it, so it is rejected here.

A check returns None for a valid value, which costs nothing, or its violations, with paths from that value.
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import Any, TypeAlias

from crdgen.evaluate.check import (
    VIOLATIONS_LIMIT,
    Check,
    Compiled,
    ErrorType,
    Violation,
    identity,
    under,
    wrong_type,
)
from crdgen.evaluate.scalars import scalar_checker, supported_values
from crdgen.formats import text_format
from crdgen.schema import INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE, Schema, look


def branches(schema: Schema) -> Check | None:
    """Return the check of the schema's branches, or None if it has none."""
    if not schema.keys() & {"allOf", "anyOf", "not", "oneOf"}:
        return None

    def checkers(keyword: str) -> list[Check]:
        return [checker(branch) for branch in look.branches(schema, keyword)]

    all_of, any_of, one_of = checkers("allOf"), checkers("anyOf"), checkers("oneOf")
    excluded = checker(schema["not"]) if "not" in schema else None

    def check(value: Any) -> list[Violation] | None:
        violations = [violation for branch in all_of for violation in branch(value) or ()]
        if any_of and all(branch(value) for branch in any_of):
            violations.append(Violation((), ErrorType.INVALID, value, "must match one of the alternatives"))
        if one_of and sum(branch(value) is None for branch in one_of) != 1:
            violations.append(Violation((), ErrorType.INVALID, value, "must match exactly one of the alternatives"))
        if excluded is not None and excluded(value) is None:
            violations.append(Violation((), ErrorType.INVALID, value, "must not match the excluded form"))
        return violations or None

    return check


def checker(schema: Schema) -> Check:
    """Return a function that checks values against this schema."""
    check = _of_type(schema)
    check_branches = branches(schema)
    return _nullable((lambda value: check(value) or check_branches(value)) if check_branches else check, schema)


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
    """Without a type, each keyword only applies to values of its own type."""
    fields = object_checker(schema)
    items = list_checker(schema)
    scalar = scalar_checker(schema)
    only_texts = text_format(schema.get("format")) is not None

    def check(value: Any) -> list[Violation] | None:
        # A format without a type requires a string, or a list.
        if only_texts and not isinstance(value, str | list):
            return wrong_type(value, "string")
        # Of the keywords of scalars, only enum also applies to objects and lists.
        if isinstance(value, dict):
            return fields(value) or scalar(value)
        return (items(value) or scalar(value)) if isinstance(value, list) else scalar(value)

    return check


def _nullable(check: Check, schema: Schema) -> Check:
    if not schema.get("nullable") and (schema.get("type") or schema.get(INT_OR_STRING)):
        return check

    # Only the enum applies to null, and it rejects null even if it lists it.
    enum = schema.get("enum")
    rejection = [Violation((), ErrorType.NOT_SUPPORTED, None, supported_values(enum))] if enum else None

    def check_unless_null(value: Any) -> list[Violation] | None:
        return rejection if value is None else check(value)

    return check_unless_null


def object_checker(schema: Schema) -> Check:
    """Return the check of an object: its fields, required fields, and their number."""
    extra = schema.get("additionalProperties")
    fields = Compiled[Check | None](schema, checker, checker(extra) if isinstance(extra, dict) else None)
    required: tuple[str, ...] = tuple(schema.get("required", ()))
    counted = schema.keys() & {"minProperties", "maxProperties"}

    def check(value: Any) -> list[Violation] | None:
        if not isinstance(value, dict):
            return wrong_type(value, "object")
        violations: list[Violation] | None = None
        for key, child in value.items():
            field = fields[key]
            if field is not None:
                child_violations = field(child)
                if child_violations is not None:
                    # In place: copies would take quadratic time.
                    violations = violations or []
                    violations += under(key, child_violations)
                    if len(violations) >= VIOLATIONS_LIMIT:
                        break
        missing = [Violation((key,), ErrorType.REQUIRED, None, "must be set") for key in required if key not in value]
        if missing or counted:
            violations = [*(violations or []), *missing, *_count(schema, value)] or None
        return violations

    return _bounded(check, schema)


def _bounded(check: Check, schema: Schema) -> Check:
    """Return a check that does not read the entries of an object with far too many."""
    if "maxProperties" not in schema:
        return check
    most = max(schema["maxProperties"], VIOLATIONS_LIMIT)
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
    """Return the check of a list: its length, its items, and that items are unique."""
    item = checker(schema["items"]) if isinstance(schema.get("items"), dict) else None
    lengths, unique = _length(schema), _unique(schema)
    most = max(schema.get("maxItems", inf), VIOLATIONS_LIMIT)

    def check(value: Any) -> list[Violation] | None:
        if not isinstance(value, list):
            return wrong_type(value, "array")
        violations = [violation for test in lengths for violation in test(value)]
        if len(value) > most:
            return violations
        for test in unique:
            violations += test(value)
        if item is not None:
            for index, child in enumerate(value):
                item_violations = item(child)
                if item_violations is not None:
                    violations += under(index, item_violations)
                    if len(violations) >= VIOLATIONS_LIMIT:
                        break
        return violations or None

    return check


def _length(schema: Schema) -> list[Test]:
    tests: list[Test] = []
    if "minItems" in schema:
        least: int = schema["minItems"]
        text = "must have at least one item" if least == 1 else f"must have at least {least} items"
        tests.append(lambda value: [] if len(value) >= least else [Violation((), ErrorType.INVALID, value, text)])
    if "maxItems" in schema:
        most: int = schema["maxItems"]
        message = f"must have at most {most} item{'' if most == 1 else 's'}"
        tests.append(lambda value: [] if len(value) <= most else [Violation((), ErrorType.TOO_MANY, value, message)])
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
        identities = [{key: item[key] for key in keys if key in item} for item in value]
        return _duplicates(identities, lambda item: " and ".join(item) or "key")

    return check


def _duplicates(keys: list[Any], describe: Callable[[Any], str]) -> list[Violation]:
    """Return a violation for each value that occurs more than once, at its second index."""
    first: dict[Any, int] = {}
    reported: set[Any] = set()
    violations: list[Violation] = []
    for index, key in enumerate(keys):
        key_identity = (
            tuple((name, identity(part)) for name, part in key.items()) if isinstance(key, dict) else identity(key)
        )
        first_index = first.setdefault(key_identity, index)
        if first_index != index and key_identity not in reported:
            reported.add(key_identity)
            message = f"[{first_index}] already has this {describe(key)}"
            violations.append(Violation((index,), ErrorType.DUPLICATE, key, message))
    return violations

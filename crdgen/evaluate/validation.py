"""Validation: k8s.io/kube-openapi, pkg/validation/validate, for what a structural schema may hold.

It differs from the API server in one point, on purpose: a list in the place of a text with a format, such as a time, is
refused here, and taken there by mistake. No typed client could read it.

A check returns None for a value that is right, which costs nothing, or the violations, seen from that value.
"""

from typing import Any, Final

from crdgen.evaluate.check import Check, Compile, Reason, Violation, both, wrong_type
from crdgen.evaluate.lists import list_checker
from crdgen.evaluate.objects import object_checker
from crdgen.evaluate.scalars import scalar_checker, supported_values
from crdgen.formats import text_format
from crdgen.schema import INT_OR_STRING, Schema

#: The branches that may repeat the two types of int-or-string.
EITHER: Final = [{"type": "integer"}, {"type": "string"}]


def branches(schema: Schema, compile_: Compile) -> Check | None:
    """Return the check of the schema's branches, or None where it has none."""
    if not schema.keys() & {"allOf", "anyOf", "not", "oneOf"}:
        return None

    def compiled(keyword: str) -> list[Check]:
        found = schema.get(keyword, ())
        if schema.get(INT_OR_STRING):
            # Its two types may be repeated as a branch, which then says nothing more.
            found = [] if found == EITHER else [branch for branch in found if branch != {"anyOf": EITHER}]
        return [compile_(branch) for branch in found]

    every, some, one = compiled("allOf"), compiled("anyOf"), compiled("oneOf")
    none = compile_(schema["not"]) if "not" in schema else None

    def check(value: Any) -> list[Violation] | None:
        found = [violation for branch in every for violation in branch(value) or ()]
        if some and all(branch(value) for branch in some):
            found.append(Violation((), Reason.INVALID, value, "must match one of the alternatives"))
        if one and sum(branch(value) is None for branch in one) != 1:
            found.append(Violation((), Reason.INVALID, value, "must match exactly one of the alternatives"))
        if none is not None and none(value) is None:
            found.append(Violation((), Reason.INVALID, value, "must not match the excluded form"))
        return found or None

    return check


__all__ = ["Check", "checker"]


def checker(schema: Schema) -> Check:
    """Return the function that checks a value against this schema."""
    check = _of_type(schema)
    more = branches(schema, checker)
    return _nullable(both(check, more) if more else check, schema)


def _of_type(schema: Schema) -> Check:
    match schema.get("type"):
        case "object":
            return object_checker(schema, checker)
        case "array":
            return list_checker(schema, checker)
        case None if not schema.get(INT_OR_STRING):
            return _untyped(schema)
        case _:
            return scalar_checker(schema)


def _untyped(schema: Schema) -> Check:
    """Without a type, each keyword holds for values of its own type only."""
    fields = object_checker(schema, checker)
    items = list_checker(schema, checker)
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
    refusal = [Violation((), Reason.NOT_SUPPORTED, None, supported_values(enum))] if enum else None

    def check_unless_null(value: Any) -> list[Violation] | None:
        return refusal if value is None else check(value)

    return check_unless_null

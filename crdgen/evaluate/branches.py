"""Checks of `allOf`, `anyOf`, `oneOf` and `not`."""

from typing import Any

from crdgen.evaluate.check import Check, Compile
from crdgen.evaluate.violation import Reason, Violation
from crdgen.schema import INT_OR_STRING, Schema


def branches(schema: Schema, compile_: Compile) -> Check | None:
    """Return the check of the schema's branches, or None where it has none."""
    if not schema.keys() & {"allOf", "anyOf", "not", "oneOf"}:
        return None

    def compiled(keyword: str) -> list[Check]:
        # A branch has no type of its own; `type` is there only in the two of int-or-string, which are known.
        return [compile_(branch) for branch in schema.get(keyword, ()) if not schema.get(INT_OR_STRING)]

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

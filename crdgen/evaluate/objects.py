"""Checks of objects."""

from collections.abc import Iterator
from typing import Any

from crdgen.evaluate.check import ENOUGH, Check, Compile, Reason, Violation, quick_class, under, wrong_type
from crdgen.schema import Schema


def object_checker(schema: Schema, compile_: Compile) -> Check:
    """Return the check of an object: its fields, those that it must have, and how many it may have."""
    fields = {name: compile_(child) for name, child in schema.get("properties", {}).items()}
    extra = schema.get("additionalProperties")
    others = compile_(extra) if isinstance(extra, dict) else None
    quick = {name: quick_class(child) for name, child in schema.get("properties", {}).items()}
    others_quick = quick_class(extra) if isinstance(extra, dict) else None
    required: tuple[str, ...] = tuple(schema.get("required", ()))
    counted = schema.keys() & {"minProperties", "maxProperties"}

    def check(value: Any) -> list[Violation] | None:
        if not isinstance(value, dict):
            return wrong_type(value, "object")
        found: list[Violation] | None = None
        for key, child in value.items():
            if quick.get(key, others_quick) is type(child):
                continue
            field = fields.get(key, others)
            if field is not None:
                problems = field(child)
                if problems is not None:
                    # In place: a copy for each entry of a map would cost the square of them.
                    found = found or []
                    found += under(key, problems)
                    if len(found) >= ENOUGH:
                        break
        missing = [Violation((key,), Reason.REQUIRED, None, "must be set") for key in required if key not in value]
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
        yield Violation((), Reason.INVALID, value, f"must have at least {least} entries")
    if len(value) > most:
        yield Violation((), Reason.TOO_MANY, value, f"must have at most {most} entries")

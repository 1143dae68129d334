"""Defaults, held against the very node that they are for."""

import re
from typing import Any

from crdgen.errors import SchemaError
from crdgen.evaluate import Evaluator
from crdgen.schema.notes import SPELLING
from crdgen.schema.walk import Schema
from crdgen.words import LIST_TYPE


def defaults(schema: Schema, path: str) -> Schema:
    """Return the node with its default as the API server would have it: no nulls that it drops, sets in a fixed order.

    A default makes `required` moot: it is applied first. So the parent forgets it.

    Raises:
        SchemaError: When the schema refuses its own default, or would prune it.
    """
    schema = _without_defaulted(schema)
    if "default" not in schema:
        return schema
    forms = schema[SPELLING].value.forms if SPELLING in schema else (schema["default"],)
    problems = []
    for form in forms:
        default = _settled(form, schema)
        problem = _problem(default, {key: value for key, value in schema.items() if key != "default"})
        if problem is None:
            return schema | {"default": default}
        problems.append(problem)
    raise SchemaError(path, *problems[-1])


def _without_defaulted(schema: Schema) -> Schema:
    defaulted = {name for name, child in schema.get("properties", {}).items() if "default" in child}
    required = schema.get("required", ())
    if defaulted.isdisjoint(required):
        return schema
    rest = [name for name in required if name not in defaulted]
    return {key: value for key, value in schema.items() if key != "required"} | ({"required": rest} if rest else {})


def _settled(value: Any, schema: Schema) -> Any:
    """Return a default without the nulls that mean that a field is absent."""
    if isinstance(value, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        children = {key: fields.get(key, others if isinstance(others, dict) else None) for key in value}
        return {
            key: child if children[key] is None else _settled(child, children[key] or {})
            for key, child in value.items()
            if child is not None or children[key] is None or (children[key] or {}).get("nullable")
        }
    if isinstance(value, list):
        items = schema["items"] if isinstance(schema.get("items"), dict) else {}
        settled = [_settled(item, items) for item in value]
        return sorted(settled, key=repr) if schema.get(LIST_TYPE) == "set" else settled
    return value


def _problem(default: Any, schema: Schema) -> tuple[str, str] | None:
    try:
        return _refusal(default, schema)
    except re.error:  # a pattern of RE2 that Python cannot compile: the API server judges
        return None


def _refusal(default: Any, schema: Schema) -> tuple[str, str] | None:
    evaluator = Evaluator({"type": "object", "properties": {"value": schema}})
    holder = {"value": default}
    if evaluator.prune(holder) != holder:
        return f"the default {default!r} has fields that the schema does not know", "name the fields as in JSON"
    found = evaluator.validate(evaluator.default(holder))
    if not found:
        return None
    at = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found[0].path[1:])
    where = f", at {at.removeprefix('.')}" if at else ""
    fix = "give a default that the field's own type and bounds take"
    if schema.get("format") == "date-time":
        fix = "give the default a time zone: `datetime(…, tzinfo=UTC)`"
    return f"the default {default!r} is refused by the field's own schema{where}: {found[0].message}", fix

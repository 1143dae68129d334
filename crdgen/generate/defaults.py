"""Validates defaults against the schema of their field."""

from typing import Any

from crdgen.evaluate import Evaluator
from crdgen.evaluate.check import CONTAINERS
from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import FORMS
from crdgen.schema import LIST_TYPE, Schema
from crdgen.schema.look import path_of, plain, without


def defaults(schema: Schema, path: str) -> Schema:
    """Return the node with its default as the API server would have it: no nulls that it drops, sets in a fixed order.

    A default makes `required` moot: it is applied first. So the parent forgets it.
    """
    schema = _without_defaulted(schema)
    if "default" not in schema:
        return schema
    rest = without(schema, "default", FORMS)
    rejections = []
    for form in (schema["default"], *schema.get(FORMS, ())):
        default = _settled(form, schema)
        rejection = _rejection(default, rest)
        if rejection is None:
            return rest | {"default": default}
        rejections.append(rejection)
    raise SchemaError(path, *rejections[0])


def _without_defaulted(schema: Schema) -> Schema:
    defaulted = {name for name, child in schema.get("properties", {}).items() if "default" in child}
    required = schema.get("required", ())
    if defaulted.isdisjoint(required):
        return schema
    rest = [name for name in required if name not in defaulted]
    return without(schema, "required") | ({"required": rest} if rest else {})


def _settled(value: Any, schema: Schema) -> Any:
    """Return a default without nulls for absent fields."""
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


def _rejection(default: Any, schema: Schema) -> tuple[str, str] | None:
    """Return why the schema rejects the default, and the fix."""
    evaluator = Evaluator({"type": "object", "properties": {"value": schema}})
    value = {"value": plain(default)}
    if isinstance(default, CONTAINERS):
        if evaluator.prune(value) != value:
            return f"the default {default!r} has fields that the schema does not know", "name the fields as in JSON"
        value = evaluator.default(value)
    found = next(iter(evaluator.validate(value)), None)
    if found is None:
        return None
    at = path_of(found.path[1:])
    where = f", at {at.removeprefix('.')}" if at else ""
    problem = f"the default {default!r} is not valid for the schema of the field{where}: {found.message}"
    return problem, "use a default that is valid for the type and bounds of the field"

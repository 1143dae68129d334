"""Validate defaults against the schema of their field."""

from typing import Any

from crdgen.evaluate import Evaluator
from crdgen.evaluate.check import CONTAINERS
from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import FORMS
from crdgen.schema import LIST_TYPE, Schema
from crdgen.schema.look import path_of, plain, without


def defaults(schema: Schema, path: str) -> Schema:
    """Return the node with a default as on the API server: without nulls that it drops, and with sets in a fixed order.

    A field with a default need not be required, since defaults are set first: the parent drops it from `required`.
    """
    schema = _without_required_defaults(schema)
    if "default" not in schema:
        return schema
    rest = without(schema, "default", FORMS)
    rejections = []
    for form in (schema["default"], *schema.get(FORMS, ())):
        default = _without_absent(form, schema)
        rejection = _rejection(default, rest)
        if rejection is None:
            return rest | {"default": default}
        rejections.append(rejection)
    raise SchemaError(path, *rejections[0])


def _without_required_defaults(schema: Schema) -> Schema:
    defaulted = {name for name, child in schema.get("properties", {}).items() if "default" in child}
    required = schema.get("required", ())
    if defaulted.isdisjoint(required):
        return schema
    rest = [name for name in required if name not in defaulted]
    return without(schema, "required") | ({"required": rest} if rest else {})


def _without_absent(value: Any, schema: Schema) -> Any:
    """Return a default without nulls that stand for absent fields."""
    if isinstance(value, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        children = {key: fields.get(key, others if isinstance(others, dict) else None) for key in value}
        return {
            key: child if children[key] is None else _without_absent(child, children[key] or {})
            for key, child in value.items()
            if child is not None or children[key] is None or (children[key] or {}).get("nullable")
        }
    if isinstance(value, list):
        items = schema["items"] if isinstance(schema.get("items"), dict) else {}
        items_without_nulls = [_without_absent(item, items) for item in value]
        return sorted(items_without_nulls, key=repr) if schema.get(LIST_TYPE) == "set" else items_without_nulls
    return value


def _rejection(default: Any, schema: Schema) -> tuple[str, str] | None:
    """Return why the schema rejects the default, and the fix."""
    evaluator = Evaluator({"type": "object", "properties": {"value": schema}})
    value = {"value": plain(default)}
    if isinstance(default, CONTAINERS):
        if evaluator.prune(value) != value:
            return f"the default {default!r} has fields that the schema does not know", "name the fields as in JSON"
        value = evaluator.default(value)
    violation = next(iter(evaluator.validate(value)), None)
    if violation is None:
        return None
    path = path_of(violation.path[1:])
    where = f", at {path.removeprefix('.')}" if path else ""
    problem = f"the default {default!r} is not valid for the schema of the field{where}: {violation.message}"
    return problem, "use a default that is valid for the type and bounds of the field"

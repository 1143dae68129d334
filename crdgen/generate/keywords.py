"""Convert keywords of newer JSON Schema drafts to `JSONSchemaProps`, or report an error."""

from datetime import timedelta
from typing import Any, Final

from pydantic import TypeAdapter

from crdgen import re2
from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import MARKERS, merge
from crdgen.generate.walk import BOUNDS, DEPRECATED, KEYS, PREFIX, PROBLEM
from crdgen.schema import TEXTS, VALUES, Schema
from crdgen.schema.look import without

# Keywords of `JSONSchemaProps`, and those that this or later stages translate. All other keywords of JSON schema are
# for other tools (`x-order`, `contentMediaType`), or constraints in the table below.
_KNOWN: Final = VALUES | {
    *("additionalProperties", "default", "discriminator", "externalDocs", "items", "nullable", "properties"),
    *("required", "type", "uniqueItems", *TEXTS),
}
_IMPOSSIBLE: Final = (
    *("contains", "dependentRequired", "dependentSchemas", "else", "if", "patternProperties", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_BOUNDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_TIMEDELTA: Final = TypeAdapter(timedelta)


def keywords(schema: Schema, path: str) -> Schema:
    """Return the node with `const`, tuples, exclusive bounds, keys and examples in the API server's form."""
    _reject(schema, path)
    result = {key: value for key, value in schema.items() if key in _KNOWN or key.startswith(("x-kubernetes-", PREFIX))}
    if isinstance(result.get("type"), list):
        result = _types(result)
    if "const" in schema:
        result["enum"] = [schema["const"]]
    if schema.get("examples"):
        result["example"] = schema["examples"][0]
    if schema.get("deprecated"):
        result[DEPRECATED] = "Deprecated." if schema["deprecated"] is True else f"Deprecated: {schema['deprecated']}"
    bounds = {name: schema[name] for name in _BOUNDS if name in schema}
    if bounds:
        result = _with_bounds(result, bounds, path)
    result = _only_member(_null_in_enum(result))
    if "prefixItems" in schema:
        result = _tuple(result, schema["prefixItems"], path)
    if "propertyNames" in schema:
        result[KEYS] = {"type": "string", **schema["propertyNames"]}
    result = _exclusive(result, "exclusiveMinimum", "minimum", max)
    return _exclusive(result, "exclusiveMaximum", "maximum", min)


def _reject(schema: Schema, path: str) -> None:
    if PROBLEM in schema:
        raise SchemaError(path, *schema[PROBLEM])
    if unsupported := [keyword for keyword in _IMPOSSIBLE if keyword in schema]:
        raise SchemaError(path, f"{unsupported[0]} is not supported in structural schemas", "move it into a rule")
    if schema.get("type") == "null":
        # Not reported here: it may be a member of a union, which the stage of unions handles in the parent.
        return
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (fault := re2.problem(pattern)):
        raise SchemaError(path, f"the pattern {pattern!r} has {fault.what}, which RE2 does not support", fault.fix)


def _with_bounds(schema: Schema, bounds: Schema, path: str) -> Schema:
    """Add bounds that Pydantic checks by a function, because there is a validator between them and the type."""
    if any(getattr(marker, "bounded", False) for marker in schema.get(MARKERS, ())):
        return schema | {BOUNDS: {name: _TIMEDELTA.validate_python(bound) for name, bound in bounds.items()}}
    if schema.get("type") in {"integer", "number"}:
        return schema | {_BOUNDS[name]: bound for name, bound in bounds.items()}
    texts = ", ".join(f"{name}={bound}" for name, bound in bounds.items())
    fix = "put the bounds next to the type, before other validators, or leave them to a rule"
    raise SchemaError(path, f"the bounds {texts} are not supported for this type", fix)


def _types(schema: Schema) -> Schema:
    """Convert `type: [string, null]` to a union."""
    rest = without(schema, "type")
    return {"anyOf": [{**rest, "type": kind} if kind != "null" else {"type": kind} for kind in schema["type"]]}


def _null_in_enum(schema: Schema) -> Schema:
    """Move null from an enum to a member of a union, because the API server accepts null for no enum."""
    if None not in schema.get("enum", ()):
        return schema
    rest = [value for value in schema["enum"] if value is not None]
    outer = without(schema, "enum", "type")
    return outer | {"anyOf": [{"enum": rest}, {"type": "null"}] if rest else [{"type": "null"}]}


def _only_member(schema: Schema) -> Schema:
    """Replace `allOf` with a single member by the member."""
    if len(schema.get("allOf", ())) != 1 or "type" in schema:
        return schema
    return merge(schema["allOf"][0], without(schema, "allOf"))


def _tuple(schema: Schema, members: list[Schema], path: str) -> Schema:
    """Convert a tuple of equal members to a list of fixed length. Descriptions of members are dropped."""
    first, *others = [_without_texts(member) for member in members]
    rest = schema.get("items", False)
    are_equal = all(other == first for other in others) and (rest is False or (rest and _without_texts(rest) == first))
    if not are_equal:
        raise SchemaError(
            path,
            "a tuple of different types cannot be a structural list, whose items have one schema",
            "use a list, or a model with one field for each member",
        )
    return {**schema, "items": first} | ({} if rest else {"maxItems": schema.get("maxItems", len(members))})


def _without_texts(schema: Any) -> Any:
    texts = {"default", *TEXTS}
    return {key: value for key, value in schema.items() if key not in texts} if isinstance(schema, dict) else schema


def _exclusive(schema: Schema, exclusive: str, inclusive: str, tighter: Any) -> Schema:
    """Convert two numbers of later drafts to the number and the boolean of draft 4; keep the tighter bound."""
    bound = schema.get(exclusive)
    if bound is None or isinstance(bound, bool):
        return schema
    rest = without(schema, exclusive)
    other = schema.get(inclusive)
    if other is not None and other != bound and tighter(other, bound) == other:
        return rest
    return rest | {inclusive: bound, exclusive: True}

"""Stage 4: unions. `X | None` is X; null is how a user of Kubernetes leaves a field out."""

from typing import Final

from crdgen.errors import SchemaError
from crdgen.schema.inline import merge
from crdgen.schema.walk import Schema

INT_OR_STRING: Final = "x-kubernetes-int-or-string"
_NULL: Final = {"type": "null"}


def unions(schema: Schema, path: str) -> Schema:
    """Return the node without `anyOf` and `oneOf`.

    A field that defaults to null is simply optional: the API server drops a null there. One that may be null and has no
    such default is `nullable`, because the null means something.

    Raises:
        SchemaError: For a union that has no single type.
    """
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices is None:
        return _without_null_default(schema)
    outer = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    members = [choice for choice in choices if choice != _NULL]
    if len(members) < len(choices) and not _defaults_to_null(schema):
        outer["nullable"] = True
    if len(members) == 1:
        return _without_null_default(merge(members[0], outer))
    if {member.get("type") for member in members} == {"integer", "string"} and len(members) == 2:
        return _without_null_default(merge(_int_or_string(members, path), outer))
    names = " | ".join(str(member.get("type", "any")) for member in members)
    raise SchemaError(
        path, f"a union ({names}) has no single type", "use one type, `int | str`, or `Annotated[Any, PreserveUnknown]`"
    )


def _int_or_string(members: list[Schema], path: str) -> Schema:
    if any(set(member) - {"type"} for member in members):
        raise SchemaError(
            path, "the members of `int | str` cannot have constraints of their own", "put constraints into a rule"
        )
    return {INT_OR_STRING: True}


def _defaults_to_null(schema: Schema) -> bool:
    return "default" in schema and schema["default"] is None


def _without_null_default(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "default"} if _defaults_to_null(schema) else schema

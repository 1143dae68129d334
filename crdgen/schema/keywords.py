"""Stage 3: keywords of newer JSON Schema drafts become what `JSONSchemaProps` has, or an error."""

from typing import Any, Final

from crdgen.errors import SchemaError
from crdgen.schema.generate import FACTORY
from crdgen.schema.walk import Schema

# Legal in JSON Schema, unknown to the API server, and no constraint: dropping them changes no verdict. Titles are the
# model's class names again.
_NOISE: Final = frozenset(
    {
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "deprecated",
        "discriminator",
        "readOnly",
        "title",
        "writeOnly",
    }
)
_IMPOSSIBLE: Final = {
    "if": "move the condition into a rule",
    "patternProperties": "use `dict[str, …]` with unconstrained keys",
    "prefixItems": "use a list, or a model with one field for each member",
    "propertyNames": "use `dict[str, …]` with unconstrained keys",
    FACTORY: "give a plain default, or a factory that is `list`, `dict`, `set` or a model class",
}


def keywords(schema: Schema, path: str) -> Schema:
    """Return the node with `const`, exclusive bounds and examples in the API server's form.

    Raises:
        SchemaError: For a keyword that constrains and has no counterpart.
    """
    for keyword, fix in _IMPOSSIBLE.items():
        if keyword in schema:
            name = f"default_factory {schema[FACTORY]}" if keyword == FACTORY else keyword
            raise SchemaError(path, f"{name} cannot be written into a structural schema", fix)
    result = {key: value for key, value in schema.items() if key not in _NOISE}
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if "examples" in result:
        result["example"] = result.pop("examples")[0]
    result = _exclusive(result, "exclusiveMinimum", "minimum", max)
    return _exclusive(result, "exclusiveMaximum", "maximum", min)


def _exclusive(schema: Schema, exclusive: str, inclusive: str, tighter: Any) -> Schema:
    """Draft 4 has a number and a boolean where later drafts have two numbers; the tighter bound of the two stays."""
    bound = schema.get(exclusive)
    if bound is None or isinstance(bound, bool):
        return schema
    rest = {key: value for key, value in schema.items() if key != exclusive}
    other = schema.get(inclusive)
    if other is not None and other != bound and tighter(other, bound) == other:
        return rest
    return rest | {inclusive: bound, exclusive: True}

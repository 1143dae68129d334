"""Tagged unions: one field tells which variant an object is."""

from crdgen.escaping import escape
from crdgen.generate.errors import SchemaError
from crdgen.generate.hoist import named
from crdgen.schema import VALIDATIONS, Schema


def tag_of(variant: Schema, tag: str) -> Schema:
    """Return a variant whose tag must be there, as Pydantic wants it even where it has a default."""
    tagged = variant.get("properties", {}).get(tag)
    if tagged is None or tag in variant.get("required", ()):
        return variant
    plain = {key: value for key, value in tagged.items() if key != "default"}
    properties = {**variant["properties"], tag: plain}
    return {**variant, "properties": properties, "required": [*variant.get("required", ()), tag]}


def guarded(variants: list[Schema], tag: str | None, path: str) -> list[Schema]:
    """Return the variants with rules that hold for all of them: a branch has none, so each rule asks for the tag."""
    if all(variant.get(VALIDATIONS) == variants[0].get(VALIDATIONS) for variant in variants):
        return variants
    rules = [rule for variant in variants for rule in _guarded(variant, tag, path)]
    return [{**variant, VALIDATIONS: rules} for variant in variants]


def _guarded(variant: Schema, tag: str | None, path: str) -> list[Schema]:
    if VALIDATIONS not in variant:
        return []
    values = variant.get("properties", {}).get(tag or "", {}).get("enum")
    name = escape(tag or "")
    if name is None or not values or not all(isinstance(value, str) for value in values):
        fix = "tag the union with `Field(discriminator=…)`, or move the rule to the object around it"
        raise SchemaError(path, f"a rule of {named(variant)}, one of several variants, would hold for all of them", fix)
    listed = ", ".join(cel_text(value) for value in values)
    return [{**rule, "rule": f"!(self.{name} in [{listed}]) || ({rule['rule']})"} for rule in variant[VALIDATIONS]]


def cel_text(text: str) -> str:
    """Return a text as CEL writes it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"

"""How large the values of a schema can be, as the API server prices rules on them.

Sources: k8s.io/apiserver, pkg/cel/common/schemas.go; pkg/cel/limits.go.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from crdgen.cel.declared import with_meta
from crdgen.escaping import escape
from crdgen.schema.walk import Schema
from crdgen.utf8 import utf8
from crdgen.words import EMBEDDED, INT_OR_STRING

#: The most bytes of a request: what has no bound may be as large.
REQUEST: Final = 3 * 1024 * 1024

# The fewest bytes of a value in JSON: of `0`, `true`, `""`, `[]`, `{}`, and of the shortest time of each kind.
_LEAST: Final = {"integer": 1, "number": 1, "boolean": 4, "string": 2, "array": 2, "object": 2}
_LEAST_OF_TIMES: Final = {"duration": 3, "date": 12, "date-time": 21}
# The most characters that a time has.
_TIMES: Final = {"duration": 32, "date": 12, "date-time": 32}
# A character is up to so many bytes.
_CHARACTER: Final = 4


@dataclass(frozen=True)
class Extent:
    """The size of values at one place of a schema.

    Attributes:
        kind: their type in the schema; `map` for an object without fields of its own; empty for int-or-string.
        most: the most characters, bytes or entries that they have; 0 for what has no size.
        least: the fewest bytes of one in JSON.
        unbounded: the keyword that would bound them; empty where they are bounded.
        fields: what is in an object, by the name that rules have for it, with its own name.
        inner: what is in a list or map.
    """

    kind: str
    most: int = 0
    least: int = 0
    unbounded: str = ""
    fields: "dict[str, tuple[str, Extent]]" = field(default_factory=dict)
    inner: "Extent | None" = None

    @property
    def keyword(self) -> str:
        """The keyword that bounds them; empty where none does."""
        return {"array": "maxItems", "map": "maxProperties", "string": "maxLength", "": "maxLength"}.get(self.kind, "")

    @property
    def most_in_a_request(self) -> int:
        """How many of them fit into a request."""
        return REQUEST // (self.least + 1)


#: Of a map's keys it has no idea, and takes them for nothing.
KEY: Final = Extent("key")


def extent(schema: Schema, *, root: bool = False) -> Extent | None:  # noqa: PLR0911 - one for each type
    """Return the extent of a schema's values, or None where rules do not see them."""
    if schema.get(INT_OR_STRING):
        return _bounded("", schema, "maxLength", _CHARACTER, REQUEST - 2, least=1)
    kind = schema.get("type", "")
    least = _LEAST.get(kind, 0)
    match kind:
        case "array":
            items = _inside(schema.get("items"))
            most = (REQUEST - 2) // (items.least + 1) if items else 0
            return _bounded(kind, schema, "maxItems", 1, most, least=least, inner=items) if items else None
        case "object" if isinstance(schema.get("additionalProperties"), dict):
            values = _inside(schema["additionalProperties"])
            most = (REQUEST - 2) // (values.least + 6) if values else 0
            return _bounded("map", schema, "maxProperties", 1, most, least=least, inner=values) if values else None
        case "object":
            return _object(with_meta(schema) if root or schema.get(EMBEDDED) else schema)
        case "string":
            return _text(schema)
        case "integer" | "number" | "boolean":
            return Extent(kind, least=least)
        case _:
            return None


def _inside(schema: Any) -> Extent | None:
    return extent(schema) if isinstance(schema, dict) else None


def _bounded(
    kind: str, schema: Schema, keyword: str, factor: int, otherwise: int, *, least: int, inner: Extent | None = None
) -> Extent:
    if keyword in schema:
        return Extent(kind, max(0, schema[keyword]) * factor, least, inner=inner)
    return Extent(kind, otherwise, least, unbounded=keyword, inner=inner)


def _object(schema: Schema) -> Extent:
    fields, least = {}, _LEAST["object"]
    required = schema.get("required", ())
    for name, child in schema.get("properties", {}).items():
        inner = extent(child)
        if inner is None:
            continue
        written = escape(name)
        if written:
            fields[written] = (name, inner)
        # What has a default need not be sent.
        if name in required and child.get("default") is None:
            least += len(utf8(name)) + inner.least + len('"":,')
    return Extent("object", least=least, fields=fields)


def _text(schema: Schema) -> Extent:
    named = schema.get("format", "")
    if named in _TIMES:
        return Extent("time", _TIMES[named], _LEAST_OF_TIMES[named])
    factor = 1 if named == "byte" else _CHARACTER
    if "maxLength" not in schema and named != "byte" and schema.get("enum"):
        longest = max((len(utf8(value)) for value in schema["enum"] if isinstance(value, str)), default=0)
        return Extent("string", longest, _LEAST["string"])
    return _bounded("string", schema, "maxLength", factor, REQUEST - 2, least=_LEAST["string"])

"""Random values of a schema: of a structural schema, or the JSON schema of a Pydantic model."""

from collections.abc import Callable, Iterable, Mapping
from math import ceil, floor
from types import MappingProxyType
from typing import Any, Final

from hypothesis import strategies as st

from crdgen.evaluate.check import identity
from crdgen.schema.limits import RANGES
from tests.differential.objects.texts import ANY, matching, of_format, text

Schema = Mapping[str, Any]

#: Numbers beyond this are rarely bounds of a schema.
_FAR: Final = 1_000_000
#: Maximum number of optional fields in an object, by its depth; deeper objects have none.
_FIELDS: Final = (6, 4, 3, 2, 1, 1)
_KEYS: Final = st.sampled_from(["a", "b", "c", "1", "q/r", "x.y", "", "ä", "metadata"])

SCALARS: Final[st.SearchStrategy[Any]] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 3.0, 2.5, -1, -0.0, 0.1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 1e19, 1e300, "", "a", "3"]),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    ANY,
)
JSON: Final[st.SearchStrategy[Any]] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=5
)
#: Values for a schema with only a type.
_OF_TYPE: Final = MappingProxyType({None: JSON, "boolean": st.booleans(), "null": st.none()})


@st.composite
def right(draw: st.DrawFn, schema: Schema) -> Any:
    """Draw a valid value of the schema; CEL rules, `not` and contradictions in the schema are ignored."""
    return _Drawing(draw, schema.get("$defs", {})).value(schema, 0)


class _Drawing:
    """Draws one value."""

    def __init__(self, draw: st.DrawFn, definitions: Schema) -> None:
        self.draw = draw
        self.definitions = definitions

    def value(self, schema: Schema, depth: int) -> Any:
        schema = self._plain(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.draw(st.sampled_from(schema["enum"]))
        if schema.get("nullable") and self._once_in(6):
            return None
        return self._of_type(self._type(schema), schema, depth)

    def _of_type(self, name: str | None, schema: Schema, depth: int) -> Any:
        match name:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case None | "boolean" | "null":
                return self.draw(_OF_TYPE[name])
            case _:
                scalars: dict[str, Callable[[Schema], Any]] = {
                    "integer": self._integer,
                    "number": self._number,
                    "string": self._text,
                }
                return scalars[name](schema)

    def _once_in(self, times: int) -> bool:
        return self.draw(st.integers(1, times)) == times

    def _plain(self, schema: Schema) -> Schema:
        """Return the schema merged with its references, all of `allOf`, and one branch of each choice."""
        while "$ref" in schema:
            rest = {key: child for key, child in schema.items() if key != "$ref"}
            schema = merged(self.definitions[schema["$ref"].rpartition("/")[2]], rest)
        for keyword in ("allOf", "anyOf", "oneOf"):
            branches = schema.get(keyword)
            if not branches:
                continue
            schema = {key: child for key, child in schema.items() if key != keyword}
            for branch in branches if keyword == "allOf" else [self.draw(st.sampled_from(branches))]:
                schema = merged(schema, self._plain(branch))
        return schema

    def _type(self, schema: Schema) -> str | None:
        match schema.get("type"):
            case list(types):
                return str(self.draw(st.sampled_from(types)))
            case str(name):
                return name
        if schema.get("x-kubernetes-int-or-string"):
            return self.draw(st.sampled_from(["integer", "string"]))
        if schema.keys() & {"properties", "required", "additionalProperties"}:
            return "object"
        return "array" if "items" in schema else None

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        needed = list(schema.get("required", ()))
        optional = [name for name in properties if name not in needed]
        most = _FIELDS[depth] if depth < len(_FIELDS) else 0
        chosen = self.draw(st.lists(st.sampled_from(optional), max_size=most, unique=True)) if optional and most else []
        fields = {name: self.value(properties.get(name, {}), depth + 1) for name in (*needed, *chosen)}
        if schema.get("x-kubernetes-embedded-resource"):
            fields |= self.draw(_RESOURCES)
        return fields | self._entries(schema, len(fields), depth)

    def _entries(self, schema: Schema, existing: int, depth: int) -> dict[str, Any]:
        """Return entries beside the properties, as many as the bounds allow."""
        entries = dict(schema.get("patternProperties", {}))
        extra = schema.get("additionalProperties", schema.get("x-kubernetes-preserve-unknown-fields"))
        if not entries and not extra:
            return {}
        keys = _KEYS
        if entries:
            pattern, extra = next(iter(entries.items()))
            keys = matching(pattern)
        elif "propertyNames" in schema:
            keys = right({"$defs": self.definitions, "type": "string", **schema["propertyNames"]})
        least = max(schema.get("minProperties", 0) - existing, 0)
        most = max(min(schema.get("maxProperties", 10) - existing, least + 2), least)
        count = self.draw(st.integers(least, most))
        child = extra if isinstance(extra, Mapping) else {}
        return {self.draw(keys): self.value(child, depth + 1) for _ in range(count)}

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        first = schema.get("prefixItems", ())
        least = schema.get("minItems", 0)
        most = max(min(schema.get("maxItems", least + 3), least + 3), least)
        count = self.draw(st.integers(least, most))
        items = schema.get("items", {})
        children = [first[index] if index < len(first) else items for index in range(count)]
        values = [self.value(child or {}, depth + 1) for child in children]
        if schema.get("uniqueItems") or schema.get("x-kubernetes-list-type") == "set":
            return _once(values, identity)
        if schema.get("x-kubernetes-list-type") == "map":
            keys = schema["x-kubernetes-list-map-keys"]
            return _once(values, lambda item: tuple(identity(item.get(key)) for key in keys))
        return values

    def _text(self, schema: Schema) -> str:
        texts = of_format(schema.get("format", "") or _CONTENT.get(schema.get("contentMediaType", ""), ""))
        if "pattern" in schema and (texts is None or self._once_in(2)):
            texts = matching(schema["pattern"])
        if texts is not None and not self._once_in(8):
            return self.draw(texts)
        least: int = schema.get("minLength", 0)
        most: int = max(schema.get("maxLength", least + 5), least)
        if most <= 100 and self._once_in(5):
            return "ä" * most
        return self.draw(text(least, min(most, least + 5)))

    def _integer(self, schema: Schema) -> int:
        low, high = RANGES.get(schema.get("format", ""), RANGES["int64"])
        least, most = _bounds(schema)
        low = low if least is None else max(low, ceil(least))
        high = high if most is None else min(high, floor(most))
        near = max(low, min(0, high))
        number = self._number_between(low, max(low, high), near)
        factor = int(schema.get("multipleOf", 1)) or 1
        return number - number % factor if low <= number - number % factor else number

    def _number_between(self, low: int, high: int, near: int) -> int:
        match self.draw(st.integers(0, 4)):
            case 0:
                return low if abs(low) < _FAR else near
            case 1:
                return high if abs(high) < _FAR else near
            case 2:
                return self.draw(st.integers(low, high))
            case _:
                return self.draw(st.integers(max(low, near - 9), min(high, near + 9)))

    def _number(self, schema: Schema) -> float:
        least, most = _bounds(schema)
        if "multipleOf" in schema:
            return float(self.draw(st.integers(0, 9)) * schema["multipleOf"])
        low = -_FAR if least is None else least
        high = max(low, _FAR if most is None else most)
        if ceil(low) <= floor(high) and self._once_in(3):
            return self._number_between(ceil(low), floor(high), max(ceil(low), min(0, floor(high))))
        return self.draw(st.floats(low, high, allow_nan=False, allow_infinity=False))


#: Formats of texts with a media type.
_CONTENT: Final = MappingProxyType({"application/json": "json-string"})

_RESOURCES: Final = st.fixed_dictionaries(
    {"apiVersion": st.sampled_from(["v1", "a/b", "apps/v1"]), "kind": st.sampled_from(["Pod", "ConfigMap", "A-b"])},
    optional={
        "metadata": st.sampled_from(
            [{}, {"name": "a"}, {"name": "a", "namespace": "b"}, {"labels": {"a": "b"}, "annotations": {"a/b": "c d"}}]
        )
    },
)


def merged(schema: Schema, other: Schema) -> Schema:
    """Return both schemas merged; for the same keyword, the value of `other` is used."""
    both = {**schema, **other}
    if "required" in schema and "required" in other:
        both["required"] = list(dict.fromkeys([*schema["required"], *other["required"]]))
    if "properties" in schema and "properties" in other:
        both["properties"] = dict(schema["properties"])
        for name, child in other["properties"].items():
            both["properties"][name] = merged(schema["properties"].get(name, {}), child)
    return both


def _bounds(schema: Schema) -> tuple[float | None, float | None]:
    """Return minimum and maximum; `exclusiveMinimum` is a boolean in a structural schema, else a number."""
    return _bound(schema, "minimum", "exclusiveMinimum", 1), _bound(schema, "maximum", "exclusiveMaximum", -1)


def _bound(schema: Schema, keyword: str, exclusive: str, inward: int) -> float | None:
    outer: float | None = schema.get(keyword)
    strict = schema.get(exclusive, False)
    if strict is True and outer is not None:
        return outer + inward * _step(schema)
    if strict is not True and strict is not False:
        return float(strict) + inward * _step(schema)
    return outer


def _step(schema: Schema) -> float:
    return 1 if schema.get("type") == "integer" else 0.125


def _once(values: Iterable[Any], key: Any) -> list[Any]:
    """Return the values without duplicates: the first value of each key."""
    unique: dict[Any, Any] = {}
    for value in values:
        unique.setdefault(key(value), value)
    return list(unique.values())

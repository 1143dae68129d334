"""Mistakes of people and programs: valid values with a few wrong places."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from tests.differential.objects.texts import DOUBTFUL
from tests.differential.objects.values import JSON, Schema, merged, right

Path = tuple[str | int, ...]

#: Instead of a value: remove the field or the item.
_ABSENT: Final = object()
#: Number of mistakes in an object: mostly one, which tests most.
_COUNTS: Final = (0, 0, 0, 1, 1, 1, 1, 2, 4)
_UNKNOWN: Final = "unknown"
_UNKNOWN_VALUES: Final[tuple[Any, ...]] = ({}, None, 1, {"a": {}}, [{"a": 1}])
_WIDTHS: Final = (2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, -(2**63) - 1, 1e19, -1e300, 2**53 + 1, 2.0**53)
_HAIRS: Final = (3.0, 2.5, -0.0, 0.30000000000000004, 1e-300, "3", "3.0", True)
_OTHERS: Final[tuple[Any, ...]] = (
    True,
    False,
    0,
    1,
    2.5,
    "",
    "a",
    "true",
    "1",
    [],
    {},
    [None],
    [[]],
    {"a": None},
    ["a"],
)
#: Maximum length of a text or list that is too long.
_LONGEST: Final = 2000


@dataclass(frozen=True)
class Place:
    """A value inside another, and its schema."""

    path: Path
    schema: Schema
    value: Any


@st.composite
def near(draw: st.DrawFn, schema: Schema) -> Any:
    """Draw a valid value, or a value with a few mistakes."""
    value = draw(right(schema))
    for _ in range(draw(st.sampled_from(_COUNTS))):
        value = draw(mistaken(schema, value))
    return value


@st.composite
def mistaken(draw: st.DrawFn, schema: Schema, value: Any) -> Any:
    """Draw a value with a mistake in one of its places."""
    place = draw(st.sampled_from(list(places(schema, value))))
    return _changed(value, place.path, draw(_mistake(draw(st.sampled_from(_KINDS)), place)))


def places(schema: Schema, value: Any, path: Path = ()) -> Iterator[Place]:
    """Yield all places in a value, the value itself first."""
    for branch in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        schema = merged(branch, schema)
    yield Place(path, schema, value)
    if isinstance(value, dict):
        for key, child in value.items():
            extra = schema.get("additionalProperties")
            inner = schema.get("properties", {}).get(key, extra if isinstance(extra, dict) else {})
            yield from places(inner, child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(schema.get("items") or {}, child, (*path, index))


def _mistake(kind: Callable[[Place], Sequence[Any]], place: Place) -> st.SearchStrategy[Any]:
    values = kind(place)
    return st.sampled_from(values) if values else JSON


def _gone(_: Place) -> Sequence[Any]:
    return _ABSENT, None


def _of_another_type(place: Place) -> Sequence[Any]:
    return [*_OTHERS, [place.value], {"a": place.value}]


def _at_the_edge(place: Place) -> Sequence[Any]:
    return [*_numbers(place.schema), *_texts(place), *_enum(place.schema)]


def _of_another_shape(place: Place) -> Sequence[Any]:
    if isinstance(place.value, dict):
        return [*_objects(place.schema, place.value)]
    return [*_lists(place.schema, place.value)] if isinstance(place.value, list) else ()


_KINDS: Final = (_gone, _of_another_type, _at_the_edge, _at_the_edge, _of_another_shape, _of_another_shape)


def _numbers(schema: Schema) -> Iterator[Any]:
    if schema.get("type") in {"integer", "number"} or schema.get("x-kubernetes-int-or-string"):
        yield from (*_WIDTHS, *_HAIRS)
    for keyword in ("minimum", "maximum"):
        if keyword in schema:
            bound = schema[keyword]
            yield from (bound - 1, bound - 0.5, bound, float(bound), bound + 0.5, bound + 1)
    if "multipleOf" in schema:
        factor = schema["multipleOf"]
        yield from (factor, factor * 3, factor / 2, factor * 1.5, factor + 1, 0, -factor)


def _texts(place: Place) -> Iterator[Any]:
    schema, value = place.schema, place.value
    if schema.get("type") != "string" and not isinstance(value, str):
        return
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    yield "é" * max(least - 1, 0)
    if most is not None and most <= _LONGEST:
        yield from ("é" * most, "\U0001f600" * most, "é" * (most + 1))
    if isinstance(value, str):
        yield from (f"{value}\n", f" {value}", value.upper(), value.lower(), value[:-1], value * 2, f"{value}\0")
    if schema.keys() & {"format", "pattern"}:
        yield from DOUBTFUL
    if "format" in schema:
        yield from (["a"], [])


def _enum(schema: Schema) -> Iterator[Any]:
    for value in schema.get("enum", ()):
        if isinstance(value, str):
            yield from (value.upper(), value.capitalize(), f"{value} ")
        elif isinstance(value, int | float):
            yield from (float(value), str(value), bool(value), value + 1)


def _objects(schema: Schema, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in value:
        yield {other: child for other, child in value.items() if other != key}
        yield value | {key: None}
    yield from (value | {_UNKNOWN: other} for other in _UNKNOWN_VALUES)
    yield {}
    yield value | dict.fromkeys(schema.get("properties", {}))
    more = schema.get("maxProperties", 2) + 1 - len(value)
    entry = next(iter(value.values()), None)
    yield value | {f"more{number}": entry for number in range(min(more, 20))}
    if schema.get("x-kubernetes-embedded-resource"):
        yield from (value | other for other in _RESOURCES)


_METADATA: Final[tuple[Any, ...]] = (
    *(None, [], "a", {"name": 1}, {"labels": {"a": 1}}, {"labels": None}),
    {"name": None, "unknown": 1, "annotations": {"a": None}},
)
_RESOURCES: Final[tuple[dict[str, Any], ...]] = (
    *({"apiVersion": version} for version in ("", "a/b/c", 1, "/", "a/", "/v1", " v1")),
    *({"kind": kind} for kind in ("", "a b", 1, "pod", "P" * 64, "P.q", "Ä")),
    *({"metadata": metadata} for metadata in _METADATA),
)


def _lists(schema: Schema, values: list[Any]) -> Iterator[list[Any]]:
    yield from ([], [None], [*values, None], [*values, {}], [*values, []], [*values, "a"], [*values, values])
    if not values:
        return
    first, last = values[0], values[-1]
    yield from ([*values, last], [*values, first, first], values[1:], list(reversed(values)))
    most = schema.get("maxItems", 3)
    if most <= _LONGEST // 20:
        yield [*values, *[last] * (most + 1 - len(values))]
    if isinstance(last, dict):
        yield [*values, last | {_UNKNOWN: 1}]
        for key in (*schema.get("x-kubernetes-list-map-keys", ()), *schema.get("items", {}).get("properties", {})):
            rest = {other: child for other, child in last.items() if other != key}
            yield from ([*values, rest], [*values, last | {key: None}], [*values, last | {key: [last.get(key)]}])
    if isinstance(last, int | float):
        yield from ([*values, float(last)], [*values, str(last)], [*values, bool(last)])


def _changed(value: Any, path: Path, other: Any) -> Any:
    """Return a copy of the value with another value at the path; the rest is shared."""
    if not path:
        return None if other is _ABSENT else other
    step, *rest = path
    if other is _ABSENT and not rest:
        if isinstance(value, dict):
            return {key: child for key, child in value.items() if key != step}
        return [child for index, child in enumerate(value) if index != step]
    inner = _changed(value[step], tuple(rest), other)
    if isinstance(value, dict):
        return value | {step: inner}
    return [inner if index == step else child for index, child in enumerate(value)]

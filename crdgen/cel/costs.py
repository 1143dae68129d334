"""What an expression walks that has no bound: a rough stand-in for the API server's estimate of cost.

The API server multiplies sizes along the tree (cel-go, checker/cost.go, with k8s.io/apiserver, pkg/cel/library/cost.go)
and refuses what may cost more than 10,000,000. Here only the sizes that it must guess are named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from crdgen.cel.names import unescape
from crdgen.cel.tree import Call, Comprehension, Constant, Identifier, Node, Select, children
from crdgen.schema.walk import Schema
from crdgen.words import INT_OR_STRING

#: Functions whose cost grows with the size of a text or list that they are called on.
_WALKS: Final = frozenset(
    {
        *("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_+_", "@in", "contains", "startsWith", "endsWith", "matches"),
        *("find", "findAll", "isSorted", "sum", "min", "max", "indexOf", "lastIndexOf", "join", "lowerAscii"),
        *("upperAscii", "replace", "split", "substring", "trim", "charAt", "format", "url", "isURL", "quantity"),
        *(
            "isQuantity",
            "ip",
            "isIP",
            "cidr",
            "isCIDR",
            "semver",
            "isSemver",
            "validate",
            "distinct",
            "sort",
            "flatten",
        ),
        *("reverse", "slice", "sets.contains", "sets.equivalent", "sets.intersects", "timestamp", "duration", "string"),
    }
)


@dataclass(frozen=True)
class Place:
    """Where a value of the expression comes from."""

    path: str
    schema: Schema


def walked(tree: Node, schema: Schema) -> list[str]:
    """Return the paths of what has no bound and is walked, each once."""
    places = {name: Place("self", schema) for name in ("self", "oldSelf")}
    return list(dict.fromkeys(_walked(tree, places)))


def _walked(node: Node, places: Mapping[str, Place]) -> Iterator[str]:
    match node:
        case Comprehension():
            yield from _walked(node.range, places)
            place = _place(node.range, places)
            if place and not _bounded(place.schema):
                yield place.path
            inner = {**places, **_variables(node, place)}
            for part in (node.initial, node.condition, node.step, node.result):
                yield from _walked(part, inner)
        case Call(target, function, arguments):
            if function in _WALKS:
                for argument in (target, *arguments):
                    walked_over = _place(argument, places) if argument is not None else None
                    if walked_over and not _bounded(walked_over.schema):
                        yield walked_over.path
            for child in children(node):
                yield from _walked(child, places)
        case _:
            for child in children(node):
                yield from _walked(child, places)


def _bounded(schema: Schema) -> bool:
    """Tell whether the API server knows how large a value is."""
    if schema.get(INT_OR_STRING):
        return "maxLength" in schema
    match schema.get("type"):
        case "array":
            return "maxItems" in schema
        case "object":
            return "maxProperties" in schema or not isinstance(schema.get("additionalProperties"), dict)
        case "string":
            timed = schema.get("format") in {"date", "date-time", "duration"}
            return "maxLength" in schema or "enum" in schema or timed
        case _:
            return True


def _variables(node: Comprehension, place: Place | None) -> dict[str, Place]:
    if place is None:
        return {}
    # Within a comprehension a list's value comes first alone, and second beside its index.
    name = node.second or node.variable
    child = _inside(place)
    if place.schema.get("type") == "array":
        return {name: child} if child else {}
    return {node.second: child} if child and node.second else {}


def _inside(place: Place) -> Place | None:
    schema = place.schema
    if isinstance(schema.get("items"), dict):
        return Place(f"{place.path}[]", schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        return Place(f"{place.path}.*", schema["additionalProperties"])
    return None


def _place(node: Node, places: Mapping[str, Place]) -> Place | None:
    """Return where the value comes from, if it is a part of self."""
    match node:
        case Identifier(name):
            return places.get(name)
        case Select(operand, field, False):
            return _field(_place(operand, places), field)
        case Call(None, "_?._", (operand, Constant(str(field)))):
            return _field(_place(operand, places), field)
        case Call(None, "_[_]" | "_[?_]", (operand, _)):
            outer = _place(operand, places)
            return _inside(outer) if outer else None
        case Call(optional, "orValue" | "value", _) if optional is not None:
            return _place(optional, places)
        case _:
            return None


def _field(place: Place | None, name: str) -> Place | None:
    if place is None:
        return None
    plain = unescape(name) or name
    child = place.schema.get("properties", {}).get(plain)
    if child is not None:
        return Place(f"{place.path}.{plain}", child)
    extra = place.schema.get("additionalProperties")
    return Place(f"{place.path}.*", extra) if isinstance(extra, dict) else None

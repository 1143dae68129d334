"""Translate types that Pydantic and Kubernetes write differently, and bounds of integers.

The API server reads each bound as a float, by its shortest decimal text. If that is not an integer of the value's size,
the bound rejects every value, as `maximum: 9223372036854775807` does.
"""

from decimal import Decimal
from math import ceil, floor
from typing import Any, Final

from crdgen.formats import FORMATS
from crdgen.generate.errors import SchemaError
from crdgen.generate.inline import OWN
from crdgen.generate.mixed import mixed, typed_enum
from crdgen.generate.scalars import ISO_PATTERN, bound_rule
from crdgen.generate.walk import BOUNDS, CLOSED, PREFIX
from crdgen.schema import INT_OR_STRING, LIST_TYPE, MAP_TYPE, PRESERVE, SCALARS, VALIDATIONS, Schema
from crdgen.schema.limits import INTEGER_FORMATS, NUMBER_FORMATS, RANGES
from crdgen.schema.look import without

_CHECKED: Final = frozenset({*INTEGER_FORMATS, *NUMBER_FORMATS, *FORMATS})
_FAMILIES: Final = {"v4": "^[0-9./]+$", "v6": ":"}
_NETWORK: Final = [{"format": "cidr"}, {"format": "ipv4"}, {"format": "ipv6"}]
# Formats that the API server does not have, or has by another name.
_TRANSLATED: Final[dict[str, Schema]] = {
    "base64": {"format": "byte"},
    "base64url": {"pattern": "^[A-Za-z0-9_-]*=*$"},
    "ipvanyaddress": {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    "uuid1": {"format": "uuid"},
    "uuid6": {"format": "uuid"},
    "uuid7": {"format": "uuid"},
    "uuid8": {"format": "uuid"},
    # Pydantic also accepts a single address as a network.
    **{f"ipv4{kind}": {"anyOf": _NETWORK[:2], "pattern": _FAMILIES["v4"]} for kind in ("network", "interface")},
    **{f"ipv6{kind}": {"anyOf": _NETWORK, "pattern": _FAMILIES["v6"]} for kind in ("network", "interface")},
    **{f"ipvany{kind}": {"anyOf": _NETWORK} for kind in ("network", "interface")},
}
_MISLEADING: Final = {
    "duration": (
        "in JSON Schema `format: duration` is ISO 8601 (`PT30S`), and in Kubernetes what Go writes (`30s`)",
        "use `crdgen.Duration`, or leave the format out",
    ),
    "binary": ("bytes in JSON are base64 in Kubernetes", "use `format: byte`, or `pydantic.Base64Bytes`"),
}
_NAMES: Final = {str: "string", int: "integer", bool: "boolean", float: "number"}


def known(schema: Schema, path: str) -> Schema:
    """Return the node with sizes of integers, and with formats, sets and open objects of Kubernetes."""
    if not {key for key in schema if not key.startswith(PREFIX)} - OWN:
        return schema | {PRESERVE: True, "nullable": True}
    for stage in (_enum, _null_in_enum, _integers, _bounds, _formats, _sets, _objects):
        schema = stage(schema, path)
    return schema


def _enum(schema: Schema, path: str) -> Schema:
    """Add the type of an enum, or mix its types."""
    if "enum" not in schema or schema.get("type") in SCALARS or schema.keys() & {PRESERVE, INT_OR_STRING}:
        return schema
    by_type: dict[type, list[Any]] = {}
    for value in schema["enum"]:
        by_type.setdefault(type(value), []).append(value)
    if not by_type or not by_type.keys() <= _NAMES.keys():
        raise SchemaError(
            path, "an enum can have texts, numbers and booleans only", "name the other values, and use the names"
        )
    if float in by_type and int in by_type:
        by_type[float] += by_type.pop(int)
    if len(by_type) == 1:
        return schema | {"type": _NAMES[next(iter(by_type))]}
    rest = without(schema, "enum")
    return rest | mixed([{"type": _NAMES[kind], "enum": values} for kind, values in by_type.items()], path)


def _null_in_enum(schema: Schema, path: str) -> Schema:
    """Replace a nullable enum by a pattern or bounds, since the API server accepts null for no enum, even if listed."""
    if "enum" not in schema or not schema.get("nullable"):
        return schema
    if "type" not in schema:
        fix = (
            "make None the field's default, so that null means absent, or use an enum without a member of None, and "
            "without `| None`"
        )
        raise SchemaError(path, "the API server takes null for no enum, not even for one that lists it", fix)
    rest = without(schema, "enum")
    check = typed_enum(schema["enum"], schema["type"])
    return rest | (check if not check.keys() & rest.keys() else {"allOf": [*rest.get("allOf", ()), check]})


def _integers(schema: Schema, _path: str) -> Schema:
    return {"format": "int64", **schema} if schema.get("type") == "integer" and "enum" not in schema else schema


def _bounds(schema: Schema, path: str) -> Schema:
    """Convert bounds of ISO 8601 durations; `crdgen.Duration` handles its own."""
    bounds = schema.get(BOUNDS)
    if bounds is None or schema.get("pattern") != ISO_PATTERN:
        return schema
    if any(bounds.values()) or bounds.keys() & {"le", "lt"}:
        fix = "use `crdgen.Duration` with the same bounds, or whole seconds"
        raise SchemaError(path, "durations as ISO 8601 writes them cannot be compared by a rule", fix)
    # At least zero: no minus sign. More than zero: a digit other than zero, too.
    checks = [{"pattern": "^[^-]"}, *([{"pattern": "[1-9]"}] if "gt" in bounds else [])]
    return without(schema, BOUNDS) | {"allOf": checks}


def _formats(schema: Schema, path: str) -> Schema:
    name = schema.get("format")
    if name in _MISLEADING:
        raise SchemaError(path, *_MISLEADING[name])
    if name is None or name in _CHECKED:
        return schema
    rest = without(schema, "format")
    check = _TRANSLATED.get(name, {})
    return rest | (check if not check.keys() & rest.keys() else {"allOf": [*rest.get("allOf", ()), check]})


def _sets(schema: Schema, path: str) -> Schema:
    """Convert `uniqueItems` to a set; items that are objects or lists become atomic."""
    if not schema.get("uniqueItems"):
        return without(schema, "uniqueItems")
    items = schema.get("items") or {PRESERVE: True}
    if items.get("nullable") and "type" in items:
        raise SchemaError(path, "the items of a set may not be null", "drop `| None` from the items")
    items = without(items, "nullable")
    if items.get("type") not in SCALARS and not items.get(INT_OR_STRING):
        # Objects and lists are compared as a whole only if they are atomic; untyped items need no such keyword.
        extension = {"object": MAP_TYPE, "array": LIST_TYPE}.get(items.get("type", ""))
        items = items | ({extension: "atomic"} if extension else {})
    rest = without(schema, "uniqueItems")
    return rest | {"items": items, LIST_TYPE: "set"}


def _objects(schema: Schema, path: str) -> Schema:
    values = schema.get("additionalProperties")
    if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
        return schema | {"items": {PRESERVE: True, "nullable": True}}
    if values is None:
        # The model may declare nothing about an object, not even that it has no fields.
        return schema | ({PRESERVE: True} if schema.get("type") == "object" and "properties" not in schema else {})
    if isinstance(values, dict) and schema.get("properties"):
        raise SchemaError(
            path, "named fields and typed extra fields exclude each other", "put the extra ones into a dict"
        )
    if isinstance(values, dict):
        return without(schema, "properties")
    rest = without(schema, "additionalProperties")
    # `true` would keep values and still prune inside them; `false` is the default of pruning.
    return rest | ({PRESERVE: True} if values else {CLOSED: True})


# By keyword: the keyword that makes it exclusive, the bound's name in rules, and its sign (1 for minimum).
_BOUNDS: Final = {"minimum": ("exclusiveMinimum", "ge", 1), "maximum": ("exclusiveMaximum", "le", -1)}


def ranges(schema: Schema, path: str) -> Schema:
    """Return the node with bounds of integers that mean the same as in the model.

    Bounds beyond the integer's size are dropped; bounds that a float does not represent exactly become rules.
    """
    if schema.get("type") != "integer":
        return schema
    low, high = RANGES.get(schema.get("format", ""), RANGES["int64"])
    for keyword, (exclusive, name, direction) in _BOUNDS.items():
        if keyword not in schema:
            continue
        bound = schema[keyword]
        nearest = _nearest(bound, exclusive=bool(schema.get(exclusive)), direction=direction)
        near, far = (low, high) if direction > 0 else (high, low)
        if direction * nearest > direction * far:
            problem = f"no integer of {high.bit_length() + 1} bits is within its bound {bound}"
            raise SchemaError(path, problem, "correct the bound, or use a text with a pattern")
        rest = without(schema, keyword, exclusive)
        if direction * nearest <= direction * near:
            schema = rest
        elif Decimal(repr(float(bound))) != bound:  # the API server reads another number
            rule = bound_rule(name, str(nearest), str(nearest))
            schema = rest | {VALIDATIONS: [*schema.get(VALIDATIONS, ()), rule]}
        elif bound != int(bound):
            schema = rest | {keyword: nearest}
    return schema


def _nearest(bound: float, *, exclusive: bool, direction: int) -> int:
    """Return the nearest integer that is within the bound."""
    inside = ceil(bound) if direction > 0 else floor(bound)
    return inside + direction if exclusive and inside == bound else inside

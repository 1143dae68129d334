"""Combine several JSON types in one node.

`int | str` is Kubernetes' own int-or-string. A node of other types has no `type` and keeps unknown fields. Then each
keyword only applies to values of its own type, and bounds that no value can meet exclude the other types: so the node
accepts exactly the values of the union. The API server has no other way. CEL rules cannot read such a field, and
server-side apply replaces it as a whole.
"""

import re
from typing import Any, Final

from crdgen.generate.errors import SchemaError
from crdgen.generate.walk import MIXED, PREFIX
from crdgen.schema import EMBEDDED, INT_OR_STRING, LIST_TYPE, MAP_TYPE, PRESERVE, TEXTS, VALIDATIONS, Schema
from crdgen.schema.limits import RANGES

#: Keywords that exclude a type: no value of the type meets them, and they do not apply to other types.
TYPE_EXCLUSIONS: Final[dict[str, Schema]] = {
    "array": {"maxItems": 0, "minItems": 1},
    "boolean": {"not": {"enum": [False, True]}},
    "number": {"maximum": 0, "minimum": 1},
    "object": {"maxProperties": 0, "minProperties": 1},
    "string": {"maxLength": 0, "minLength": 1},
}
_GENERAL: Final = ("allOf", "anyOf", "enum", "not", "oneOf")
_DROPPED: Final = frozenset({"type", "format", "default", LIST_TYPE, MAP_TYPE, *TEXTS, *_GENERAL})


def mixed(nodes: list[Schema], path: str) -> Schema:
    """Combine nodes of different types into one, and note them for a union in a parent."""
    types = {node["type"] for node in nodes}
    result: Schema = {INT_OR_STRING: True} if types == {"integer", "string"} else {PRESERVE: True}
    checks: list[Schema] = []
    if all("enum" in node for node in nodes):
        return result | {"enum": [value for node in nodes for value in node["enum"]], MIXED: nodes}
    for node in nodes:
        _reject(node, path)
        own = {key: value for key, value in node.items() if key not in _DROPPED and not key.startswith(PREFIX)}
        result |= own | _sized(node, whole=INT_OR_STRING not in result)
        checks += _checks(node)
    if PRESERVE in result:
        kinds = {"number" if kind == "integer" else kind for kind in types}
        for kind, exclusion in TYPE_EXCLUSIONS.items():
            if kind not in kinds:
                checks += [exclusion] if "not" in exclusion else []
                result |= {} if "not" in exclusion else exclusion
    if len(checks) == 1 and not checks[0].keys() & result.keys():
        result |= checks[0]
    elif checks:
        result["allOf"] = checks
    return result | {MIXED: nodes}


def typed_enum(values: list[Any], kind: str) -> Schema:
    """Return a schema that accepts the enum's values of one type, and all values of other types."""
    if kind == "string":
        # RE2 only accepts a backslash before ASCII punctuation.
        quoted = (re.sub(r"[\\.+*?()|\[\]{}^$]", r"\\\g<0>", value) for value in values)
        return {"pattern": f"^(?:{'|'.join(quoted)})$"}
    if kind == "boolean":
        absent = [value for value in (False, True) if value not in values]
        return {"not": {"enum": absent}} if absent else {}
    alternatives = [{"minimum": value, "maximum": value} for value in values]
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}


def _checks(node: Schema) -> list[Schema]:
    """Return the checks of keywords that apply to all types, so that they only apply to the node's type."""
    checks = []
    if "enum" in node:
        checks.append(typed_enum(node["enum"], node["type"]))
    if node["type"] == "string" and "format" in node:
        checks.append({"format": node["format"]})
    checks += node.get("allOf", [])
    # Values of other types match every branch, so oneOf becomes anyOf. Variants of a tagged union still exclude each
    # other by their tags.
    checks += [{"anyOf": node[keyword]} for keyword in ("anyOf", "oneOf") if keyword in node]
    checks += [{"not": node["not"]}] if "not" in node else []
    return [check for check in checks if check]


def _sized(node: Schema, *, whole: bool) -> Schema:
    """Return the bounds of an integer's format, and the keyword for a whole number."""
    if node["type"] != "integer":
        return {}
    result: Schema = {"multipleOf": node.get("multipleOf", 1)} if whole else {}
    if node.get("format") == "int32":
        low, high = RANGES["int32"]
        result |= {"minimum": max(node.get("minimum", low), low), "maximum": min(node.get("maximum", high), high)}
    return result


def _reject(node: Schema, path: str) -> None:
    is_object = "not" in node and node["type"] in {"array", "object"}
    if node.get(VALIDATIONS) or node.get(EMBEDDED) or node.get(LIST_TYPE) == "map" or is_object:
        problem = "rules, a MapList, and `not` of a list or object cannot be kept in a union of several types"
        raise SchemaError(path, problem, "use one type for the field")

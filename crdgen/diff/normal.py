"""Rewrite schemas so that the same checks are written in the same way, wherever their author put them.

What all branches check moves to the schema around them, and from there to the field that it is about, if the meaning is
exactly the same: `allOf: [{maxLength: 5}]` beside `type: string` becomes `maxLength: 5`.
"""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.evaluate.scalars import unfit_bounds
from crdgen.schema import BRANCHES, INT_OR_STRING, look
from crdgen.schema.look import canonical, distinct, mapping, members, number, without, words

#: Bounds, with the function that returns the tighter one of two.
_BOUNDS: Final = {
    **dict.fromkeys(("minLength", "minItems", "minProperties", "minimum"), max),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties", "maximum"), min),
}
#: The keyword that makes a bound exclusive.
EXCLUSIVE: Final = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}


class Normalizer:
    """Rewrites schemas. Equal schemas become the same object, so that they can be compared by identity."""

    def __init__(self) -> None:
        self._schemas: dict[str, Mapping[str, Any]] = {}

    def __call__(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the rewritten schema, with all schemas below it."""
        result = _flat(schema)
        key = dict(result)
        if isinstance(result.get("properties"), Mapping):
            fields = {name: _or_same(self, child) for name, child in result["properties"].items()}
            result["properties"], key["properties"] = fields, {name: id(child) for name, child in fields.items()}
        for keyword in ("items", "additionalProperties"):
            if isinstance(result.get(keyword), Mapping):
                result[keyword] = self(result[keyword])
                key[keyword] = id(result[keyword])
        return self._schemas.setdefault(canonical(key), result)


def _or_same(function: Any, schema: Any) -> Any:
    """Return the result for a schema, or any other JSON as it is."""
    return function(schema) if isinstance(schema, Mapping) else schema


def _flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema, with as few checks in its branches as possible. The schemas of fields stay as they are."""
    result = dict(schema)
    listed = [branch for keyword in BRANCHES for branch in members(schema.get(keyword))]
    if not listed or not all(isinstance(branch, Mapping) for branch in listed):
        return result
    checks: list[Mapping[str, Any]] = []  # which all hold
    for keyword in BRANCHES:
        branches = [_branch(branch) for branch in look.branches(schema, keyword)]
        result.pop(keyword, None)
        branches = branches if keyword == "oneOf" else distinct(branches)
        if keyword == "allOf" or len(branches) == 1:
            checks += branches
        elif branches:
            common, rest = _split(branches)
            checks.append(common)
            if keyword == "oneOf" or all(rest):  # a branch of anyOf that checks nothing accepts everything
                result[keyword] = sorted(rest, key=canonical)
    left: list[Mapping[str, Any]] = []
    for check in checks:
        checks += members(check.get("allOf"))
        left.append(_moved(without(check, "allOf"), result))
    if any(left):
        result["allOf"] = sorted(distinct(filter(None, left)), key=canonical)
    return result


def _branch(branch: Mapping[str, Any]) -> dict[str, Any]:
    result = _flat(branch)
    if isinstance(result.get("properties"), Mapping):
        result["properties"] = {name: _or_same(_branch, child) for name, child in result["properties"].items()}
    for keyword in ("items", "not"):
        if isinstance(result.get(keyword), Mapping):
            result[keyword] = _branch(result[keyword])
    if "required" in result:
        result["required"] = sorted(set(words(result["required"])))
    return result


def _split(branches: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what all branches check, and what each of them checks besides."""
    first = branches[0]
    fixed = {bound for bound, exclusive in EXCLUSIVE.items() if any(exclusive in branch for branch in branches)}
    common = {
        keyword: check
        for keyword, check in first.items()
        if keyword not in {"required", *EXCLUSIVE.values(), *fixed}
        and all(keyword in branch and canonical(branch[keyword]) == canonical(check) for branch in branches)
    }
    required = set.intersection(*(set(words(branch.get("required"))) for branch in branches))
    rest = [without(branch, *common) for branch in branches]
    if required:
        common["required"] = sorted(required)
        for branch in rest:
            branch["required"] = [name for name in branch["required"] if name not in required]
            if not branch["required"]:
                del branch["required"]
    return common, rest


def _moved(check: Mapping[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    """Move the keywords of a branch to the schema around it, and return those that have another meaning there."""
    left: dict[str, Any] = {}
    for keyword, value in check.items():
        if keyword in _BOUNDS:
            left |= _bound(keyword, check, target)
        elif keyword == "required":
            target["required"] = sorted({*words(target.get("required")), *words(value)})
        elif keyword == "properties" and isinstance(value, Mapping):
            fields = dict(mapping(target, "properties"))
            kept = {name: part for name, part in value.items() if not _pushed(part, name, fields)}
            left |= {"properties": kept} if kept else {}
            target |= {"properties": fields} if fields else {}
        elif keyword == "items" and _pushed(value, "items", target):
            continue
        elif keyword in EXCLUSIVE.values():
            continue  # moves with its bound
        elif not _is_movable(keyword, target) or (keyword in target and canonical(target[keyword]) != canonical(value)):
            left[keyword] = value
        else:
            target[keyword] = value
    return left


def _bound(keyword: str, check: Mapping[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    """Move a bound, and return it if it stays."""
    exclusive = EXCLUSIVE.get(keyword, "")
    bound = {key: check[key] for key in (keyword, exclusive) if key in check}
    types = {key: target[key] for key in ("type", "format") if isinstance(target.get(key), str)}
    if number(check[keyword]) is None or unfit_bounds(types | bound):
        return bound
    if check.get(exclusive) or target.get(exclusive):
        if {keyword, exclusive} & target.keys():
            return bound
        target.update(bound)
    elif keyword not in target:
        target[keyword] = check[keyword]
    elif number(target[keyword]) is None:
        return bound
    else:
        target[keyword] = _BOUNDS[keyword](target[keyword], check[keyword])
    return {}


def _pushed(check: Any, key: str, schemas: dict[str, Any]) -> bool:
    """Add the check of a field or of items to its schema; False if the schema is not there or accepts null."""
    schema = schemas.get(key)
    if not isinstance(schema, Mapping) or not isinstance(check, Mapping):
        return False
    if "enum" in check and _accepts_null(schema):  # an enum rejects null, except in branches
        return False
    schemas[key] = {**schema, "allOf": [*members(schema.get("allOf")), check]}
    return True


def _is_movable(keyword: str, target: Mapping[str, Any]) -> bool:
    if keyword == "enum":
        return not _accepts_null(target)
    if keyword == "format":
        return target.get("type") == "string"
    return keyword in {"pattern", "not", "anyOf", "oneOf"}


def _accepts_null(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("nullable")) or not (schema.get("type") or schema.get(INT_OR_STRING))

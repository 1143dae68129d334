"""One schema for a schema and what its `allOf` adds: where a bound is written makes no difference."""

from collections.abc import Mapping
from typing import Any, Final

from crdgen.diff.implied import scalar
from crdgen.schema.look import canonical, members, number, words

#: Which of two bounds is the tighter one.
_TIGHTER: Final = {
    "minLength": max,
    "maxLength": min,
    "minItems": max,
    "maxItems": min,
    "minProperties": max,
    "maxProperties": min,
}
_TEXTS: Final = frozenset({"minLength", "maxLength", "pattern"})
_OF: Final = {
    "string": _TEXTS | {"enum"},
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum"}),
    "array": frozenset({"minItems", "maxItems"}),
    "object": frozenset({"minProperties", "maxProperties", "required"}),
}
_BEYOND: Final = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}


def flat(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema that takes the same, with only those branches of `allOf` that cannot stand beside the rest."""
    found, left = dict(schema), []
    for branch in members(schema.get("allOf")):
        merged = _merged(found, branch) if isinstance(branch, Mapping) else None
        if merged is None:
            left.append(branch)
        else:
            found = merged
    if "allOf" in found and len(left) < len(members(schema["allOf"])):
        found["allOf"] = left
        if not left:
            del found["allOf"]
    return found


def _merged(schema: dict[str, Any], branch: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema with all that a branch says, or None where that cannot be said beside what there is."""
    branch = flat({**branch, "type": schema["type"]}) if "allOf" in branch and "type" in schema else branch
    says = {keyword: value for keyword, value in branch.items() if keyword != "type"}
    kind = schema.get("type")
    if not isinstance(kind, str) or not says.keys() <= _OF.get(kind, frozenset()):
        return None
    found = dict(schema)
    for keyword, value in says.items():
        if keyword in _BEYOND.values():
            continue
        merged = _both(found, keyword, value, says)
        if merged is None:
            return None
        found |= merged
    return found


def _both(schema: Mapping[str, Any], keyword: str, value: Any, branch: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return one keyword that takes what both take, or None where there is none."""
    has = schema.get(keyword)
    if keyword in _TIGHTER:
        if number(value) is None or (has is not None and number(has) is None):
            return None
        return {keyword: value if has is None else _TIGHTER[keyword](has, value)}
    if keyword in _BEYOND:
        return _bound(schema, branch, keyword)
    if keyword == "enum":
        return _enum(schema, value)
    if keyword == "required":
        return {keyword: sorted({*words(has), *words(value)})}
    return {keyword: value} if has in (None, value) and isinstance(value, str) else None


def _bound(schema: Mapping[str, Any], branch: Mapping[str, Any], keyword: str) -> dict[str, Any] | None:
    """Return the tighter of two bounds of integers; a fraction stays where it is, since beside a type none is met."""
    beyond = _BEYOND[keyword]
    sign = 1 if keyword == "minimum" else -1
    both = [scalar(one) for one in (schema, branch)]
    bounds = [(sign * one[keyword] + (beyond in one), one) for one in both if keyword in one]
    if keyword not in both[1] or any(one[keyword] != int(one[keyword]) for _, one in bounds):
        return None
    _, tightest = max(bounds, key=lambda bound: bound[0])
    exclusive = {beyond: beyond in tightest} if beyond in schema or beyond in tightest else {}
    return {keyword: tightest[keyword]} | exclusive


def _enum(schema: Mapping[str, Any], value: Any) -> dict[str, Any] | None:
    """Return the values of both enums; beside `nullable`, one refuses null and one in a branch does not."""
    if schema.get("nullable"):
        return None
    known = {canonical(one) for one in members(value)}
    common = [one for one in members(schema.get("enum")) or members(value) if canonical(one) in known]
    return {"enum": common} if common else None

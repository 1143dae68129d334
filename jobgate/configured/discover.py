"""Finds the pod templates in the schema of a CRD, and writes a first entry for its kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from crdgen.schema import PRESERVE
from crdgen.schema.look import members
from webhook.values import mapping

#: Names of fields with the number of pods, the most likely first.
_COUNTS: Final = ("replicas", "instances", "parallelism", "numNodes", "count", "size")
_LIST, _MAP = "[]", "{}"
_DEEPEST: Final = 20


class FoundTemplate(NamedTuple):
    """A pod template in a schema: its steps, and the schemas at each. `whole` is false for a bare pod spec."""

    steps: tuple[str, ...]
    around: tuple[Mapping[str, Any], ...]
    whole: bool


def entry_for(crd: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a first entry for the kind of a CRD, as JSON; None if its schema has no pod template."""
    spec = mapping(crd.get("spec"))
    versions = [version for version in members(spec.get("versions")) if mapping(version).get("served")]
    versions.sort(key=lambda version: not version.get("storage"))
    schemas = [mapping(mapping(version.get("schema")).get("openAPIV3Schema")) for version in versions]
    templates = [*_templates(schemas[0], (), ())] if schemas else []
    if not templates:
        return None
    names = mapping(spec.get("names"))
    paths = [template.steps for template in templates]
    alike = [
        str(version.get("name"))
        for version, schema in zip(versions, schemas, strict=True)
        if [each.steps for each in _templates(schema, (), ())] == paths
    ]
    suspend = "suspend" in _properties(_properties(schemas[0]).get("spec"))
    return {
        "group": spec.get("group"),
        "versions": alike,
        "kind": names.get("kind"),
        "plural": names.get("plural"),
        "operator": {"name": f"the operator of {names.get('kind')}"},
        "tasks": [_source(template) for template in templates],
        **({"fields": {"suspend": ".spec.suspend"}} if suspend else {}),
    }


def _properties(schema: Any) -> Mapping[str, Any]:
    return mapping(mapping(schema).get("properties"))


def _templates(schema: Any, steps: tuple[str, ...], around: tuple[Mapping[str, Any], ...]) -> Iterator[FoundTemplate]:
    """Yield the pod templates and pod specs below a schema."""
    properties = _properties(schema)
    if len(steps) > _DEEPEST or steps[:1] == ("status",):
        return
    if _is_pod_spec(properties.get("spec")) or _is_pod_spec(schema):
        yield FoundTemplate(steps, (*around, mapping(schema)), not _is_pod_spec(schema))
        return
    inner = (*around, mapping(schema))
    for name, child in properties.items():
        yield from _templates(child, (*steps, name), inner)
    for keyword, step in (("items", _LIST), ("additionalProperties", _MAP)):
        if isinstance(child := mapping(schema).get(keyword), Mapping):
            yield from _templates(child, (*steps, step), inner)


def _is_pod_spec(schema: Any) -> bool:
    containers = mapping(_properties(schema).get("containers"))
    item = mapping(containers.get("items"))
    return "image" in _properties(item) or (containers.get("type") == "array" and item.get(PRESERVE) is True)


def _source(template: FoundTemplate) -> dict[str, Any]:
    """Return where the tasks are: the innermost list or map around the template, or the template itself."""
    steps = template.steps
    start = max((index + 1 for index, step in enumerate(steps) if step in {_LIST, _MAP}), default=0)
    parent = start or len(steps) - 1
    fields = _properties(template.around[parent])
    count = _count(fields)
    place = _path(steps[:start] if start else steps)
    whole, rest = _path(steps), ".".join(steps[start:])
    if not start:
        named = [step for step in steps if step != "spec" and not step.lower().endswith("template")]
        source: dict[str, Any] = {"at": place, "name": {"value": (named or ["main"])[-1].lower()}}
        own = _count(_properties(template.around[-1]))
        source |= {"replicas": own or f"{_path(steps[:parent])}.{count}"} if own or count else {}
        return source | ({"template": "."} if template.whole else {"pod": [{"to": "spec", "path": whole}]})
    names = [name for name in fields if name == "name" or name.endswith("Name")]
    source = {"each": place}
    if steps[start - 1] == _MAP:
        source["name"] = {"key": "lower"}
    elif names:
        source["name"] = "name" if "name" in names else names[0]
    source |= {"replicas": count} if count else {}
    return source | ({"template": rest or "."} if template.whole else {"pod": [{"to": "spec", "path": rest}]})


def _count(fields: Mapping[str, Any]) -> str:
    return next((name for name in _COUNTS if mapping(fields.get(name)).get("type") == "integer"), "")


def _path(steps: Iterable[str]) -> str:
    """Return a path from the object on, without the steps into lists and maps."""
    return "".join(f"[{step}]" if "." in step else f".{step}" for step in steps if step not in {_LIST, _MAP})

"""The parts of a pod, each with the step that added it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from jobgate.prerequisites.reference import ANNOTATION
from jobgate.prerequisites.script import Hook
from webhook import Draft
from webhook.values import mapping, metadata_of, objects, spec_of, text

#: Source of parts that no step added.
TEMPLATE: Final = "template"

#: Location in a pod: container (empty for the pod itself) and field.
Location: TypeAlias = tuple[str, str]


#: Fields of a variable's reference that identify its target.
_REFERENCE: Final = ("name", "key", "containerName", "resource", "fieldPath")
#: Fields that are shown only if a step added them.
_ADDED_ONLY: Final = (("", "labels"), ("", "annotations"))


@dataclass(frozen=True, slots=True)
class Row:
    """A part of a pod, or another object of the job, as text, with its source."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Step:
    """A change of pods: its source, and the function that changes a pod."""

    source: str
    put: Callable[[Draft], object]


def rows(pod: Mapping[str, Any], steps: Sequence[Step], final: Callable[[Draft], object]) -> dict[Location, list[Row]]:
    """Return the parts of a pod of an operator. The source of a part is the first step that adds it.

    `final` makes all changes together, in the order of the pod webhook.
    """
    before = _parts(pod)
    sources: dict[tuple[Location, str], str] = {}
    for step in steps:
        for key, shown in _parts(_after(pod, step.put)).items():
            if before.get(key) != shown:
                sources.setdefault(key, step.source)
    result: dict[Location, list[Row]] = {}
    for key, shown in _parts(_after(pod, final)).items():
        if key[0] not in _ADDED_ONLY or key in sources:
            result.setdefault(key[0], []).append(Row(shown, sources.get(key, TEMPLATE)))
    return result


def command_rows(container: Mapping[str, Any], hooks: Sequence[Hook]) -> Iterator[Row]:
    """Yield the commands of a container of the template, in order: hooks, its own command, hooks."""
    for hook in hooks:
        if hook.event == "taskStarts":
            yield from _hook_rows(hook)
    own = [str(word) for field in ("command", "args") for word in container.get(field) or ()]
    shown = shlex.join(own) if own else "(what the image runs)"
    if own and not container.get("command"):
        shown = f"(the image's entrypoint) {shown}"
    yield Row(shown, TEMPLATE)
    for hook in hooks:
        if hook.event != "taskStarts":
            yield from _hook_rows(hook)


def _hook_rows(hook: Hook) -> Iterator[Row]:
    ignored = ", failure ignored" if hook.policy == "Ignore" else ""
    event = "fetch" if hook.folder else hook.event
    return (Row(f"{event}: {command}", f"{hook.source}{ignored}") for command in hook.commands)


def _after(pod: Mapping[str, Any], put: Callable[[Draft], object]) -> Mapping[str, Any]:
    draft = Draft(dict(pod))
    put(draft)
    return draft.value


def _parts(pod: Mapping[str, Any]) -> dict[tuple[Location, str], str]:
    """Return the parts of a pod as text, by places and names."""
    parts: dict[tuple[Location, str], str] = {}
    spec, metadata = spec_of(pod), metadata_of(pod)
    for field in ("labels", "annotations"):
        for key, value in mapping(metadata.get(field)).items():
            if not key.startswith(ANNOTATION):
                parts[("", field), key] = f"{key}: {value}"
    for field in ("hostname", "subdomain", "schedulerName"):
        if spec.get(field):
            parts[("", "pod"), field] = f"{field}: {spec[field]}"
    for _, gate in objects(spec.get("schedulingGates")):
        parts[("", "pod"), f"gate {gate.get('name')}"] = f"waits for scheduling gate {gate.get('name')}"
    volumes = {text(volume.get("name")): _volume(volume) for _, volume in objects(spec.get("volumes"))}
    for title, container in containers_of(pod):
        for _, variable in objects(container.get("env")):
            parts[(title, "env"), text(variable.get("name"))] = _variable(variable)
        for _, mount in objects(container.get("volumeMounts")):
            parts[(title, "mounts"), text(mount.get("mountPath"))] = _mounted(mount, volumes)
    return parts


def containers_of(pod: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the containers of a pod with their titles, in the order in which they start."""
    for kind, field in (("init container", "initContainers"), ("container", "containers")):
        for _, container in objects(spec_of(pod).get(field)):
            yield f"{kind} {container.get('name')}", container


def _mounted(mount: Mapping[str, Any], volumes: Mapping[str, str]) -> str:
    name = text(mount.get("name"))
    sub = f", subPath {mount['subPath']}" if mount.get("subPath") else ""
    return f"{mount.get('mountPath')}: {volumes.get(name, name)}{sub}{', read-only' if mount.get('readOnly') else ''}"


def _variable(variable: Mapping[str, Any]) -> str:
    """Return a variable; for a reference, only its target."""
    for sort, reference in mapping(variable.get("valueFrom")).items():
        names = " ".join(text(mapping(reference).get(key)) for key in _REFERENCE if mapping(reference).get(key))
        return f"{variable.get('name')} from {sort.removesuffix('KeyRef').removesuffix('Ref')} {names}"
    return f"{variable.get('name')}={variable.get('value') or ''}"


def _volume(volume: Mapping[str, Any]) -> str:
    """Return type and source of a volume."""
    for sort, source in volume.items():
        if sort != "name" and isinstance(source, dict):
            named = next((source[key] for key in ("claimName", "secretName", "name", "path") if source.get(key)), "")
            return f"{sort} {named or volume.get('name')}"
    return f"volume {volume.get('name')}"

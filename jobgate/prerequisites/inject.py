"""Puts what resolved items bring into a pod. Again on the same pod it adds nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from jobgate.names import LABEL_LIMIT, dns_label
from jobgate.prerequisites.content import Content, Mount
from jobgate.prerequisites.problem import Problem, Reason
from jobgate.prerequisites.reference import CONTAINER_ANNOTATION
from jobgate.prerequisites.script import CommandRequired, wrapped
from webhook import Draft

#: How kubectl knows the container that people mean.
DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
#: On a pod: how many words at the beginning of its command are ours, and the hash of the whole command with them. A pod
#: that was exported and is created again gets the hooks of today in the place of those.
WRAPPER: Final = "jobgate.dev/prerequisites-wrapper"

_NO_COMMAND = (
    "the image's own entrypoint is not known here, so no command can run before or after it: write the container's "
    "command, or remove the items with commands"
)


def target(pod: Mapping[str, Any], wish: str = "") -> str | Problem:
    """Return the name of the container that gets what items bring: the one that is named, or the only one."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    names = [str(one.get("name")) for one in (pod.get("spec") or {}).get("containers") or () if isinstance(one, dict)]
    named = wish or annotations.get(CONTAINER_ANNOTATION)
    if named is not None and named not in names:
        detail = f"annotation {CONTAINER_ANNOTATION} names {str(named)[:63]!r}; the pod has {', '.join(names)[:253]}"
        return Problem(Reason.UNKNOWN_CONTAINER, (), detail)
    if named is None and annotations.get(DEFAULT_CONTAINER) in names:
        named = annotations[DEFAULT_CONTAINER]
    if named is not None or len(names) == 1:
        return str(named or names[0])
    detail = f"the pod has {len(names)} containers: name the one that is meant in the annotation {CONTAINER_ANNOTATION}"
    return Problem(Reason.UNKNOWN_CONTAINER, (), detail)


def inject(pod: Draft, content: Content, wish: str = "") -> list[Problem]:
    """Put content into a pod, and return what cannot be; what can is put there all the same.

    Args:
        pod: it must have a shape that can be read (`jobgate.pods.shape`).
        content: what items bring.
        wish: the container that the job names for its pods; empty where the pod says so itself.
    """
    if not (content.hooks or content.mounts or content.env):
        return []
    name = target(pod.value, wish)
    if isinstance(name, Problem):
        return [name]
    container = next(one for one in pod.each("spec", "containers") if one.get("name") == name)
    problems = [*_mounts(pod, container, content)]
    there = {one.get("name") for one in container.get("env") or ()}
    container.insert("env", [dict(one) for variable, one in content.env.items() if variable not in there])
    return [*problems, *_wrap(pod, container, content)]


def _mounts(pod: Draft, container: Draft, content: Content) -> Iterator[Problem]:
    spec = pod.at("spec")
    assert spec is not None  # it has a container
    for mount in content.mounts:
        volumes = spec.get("volumes") or []
        claims = {
            (one.get("persistentVolumeClaim") or {}).get("claimName"): one.get("name") for one in reversed(volumes)
        }
        volume = claims.get(mount.claim) or volume_name(mount.claim)
        taken = next((one for one in container.get("volumeMounts") or () if _path(one) == mount.path), None)
        if taken is not None:
            if (taken.get("name"), taken.get("subPath") or "", bool(taken.get("readOnly"))) != (
                volume,
                mount.sub_path,
                mount.read_only,
            ):
                detail = (
                    f"the container mounts {taken.get('name')} at {mount.path} already, where claim {mount.claim} goes"
                )
                yield _of(Reason.MOUNT_CONFLICT, mount, detail)
            continue
        if mount.claim not in claims:
            if any(one.get("name") == volume for one in volumes):
                detail = f"the pod's volume {volume} is not claim {mount.claim}: give the volume another name"
                yield _of(Reason.VOLUME_CONFLICT, mount, detail)
                continue
            spec.append("volumes", {"name": volume, "persistentVolumeClaim": {"claimName": mount.claim}})
        entry: dict[str, Any] = {"name": volume, "mountPath": mount.path}
        entry |= {"subPath": mount.sub_path} if mount.sub_path else {}
        entry |= {"readOnly": True} if mount.read_only else {}
        container.append("volumeMounts", entry)


def volume_name(claim: str) -> str:
    """Return what the volume of a claim is called: a DNS label, the same for the same claim."""
    plain = f"pvc-{claim}"
    if not dns_label(plain):
        return plain
    end = sha256(claim.encode()).hexdigest()[:8]
    return f"{plain.replace('.', '-')[: LABEL_LIMIT - 9].rstrip('-')}-{end}"


def _path(mount: Mapping[str, Any]) -> str:
    path = str(mount.get("mountPath"))
    return path.rstrip("/") or path


def _of(reason: Reason, mount: Mount, detail: str) -> Problem:
    return Problem(reason, mount.by.chain, detail, mount.by.place)


def _wrap(pod: Draft, container: Draft, content: Content) -> Iterator[Problem]:
    if not content.hooks:
        return
    command, args = container.get("command") or [], container.get("args") or []
    annotations = (pod.value.get("metadata") or {}).get("annotations") or {}
    plain = {**container.value, "command": command[_ours(annotations.get(WRAPPER), command) :]}
    try:
        made = wrapped(plain, content.hooks, content.interpreter)
        added = len(made["command"]) - len(plain["command"])
        if command[:added] == made["command"][:added] and len(command) > added:
            plain["command"] = command[added:]  # so it is already, whatever its annotations say
            made = wrapped(plain, content.hooks, content.interpreter)
    except CommandRequired:
        yield Problem(Reason.COMMAND_REQUIRED, (), f"container {container['name']} has no command: {_NO_COMMAND}")
        return
    for key, before in (("command", command), ("args", args)):
        after = list(made.get(key) or [])
        if after != before:
            _replace(container, key, after)
    annotate(pod, WRAPPER, f"{added}:{_hash(made['command'])}")


def _ours(mark: Any, command: list[Any]) -> int:
    """Return how many words at the beginning of a command are ours; a mark counts only for its own command."""
    count, _, digest = mark.partition(":") if isinstance(mark, str) else ("", "", "")
    if not count.isascii() or not count.isdigit() or digest != _hash(command):
        return 0
    return min(int(count[:4]), len(command))


def _hash(command: list[Any]) -> str:
    return sha256(json.dumps(command).encode()).hexdigest()


def annotate(pod: Draft, key: str, value: str) -> None:
    """Set an annotation of ours, whatever it was; nothing where metadata or annotations are no objects."""
    if "metadata" not in pod:
        pod["metadata"] = {"annotations": {key: value}}
    elif (metadata := pod.at("metadata")) is None:
        return
    elif "annotations" not in metadata:
        metadata["annotations"] = {key: value}
    elif (annotations := metadata.at("annotations")) is not None and annotations.get(key) != value:
        _replace(annotations, key, value)


def _replace(part: Draft, key: str, value: Any) -> None:
    """Set a field that is ours by now; a command keeps every word that its author wrote."""
    if key in part:
        part.correct(key, value)
    else:
        part[key] = value

"""Puts the content of resolved items into a pod. Doing so again changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from jobgate.names import LABEL_LIMIT, dns_label
from jobgate.prerequisites.content import Injection, Mount
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import CONTAINER_ANNOTATION
from jobgate.prerequisites.script import ScriptError, wrapped
from webhook import Draft

#: kubectl's annotation for the main container of a pod.
DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"


def target(pod: Mapping[str, Any], container_name: str = "") -> str | PrerequisiteProblem:
    """Return the name of the container that gets the content: the named container, or the only one."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    containers = (pod.get("spec") or {}).get("containers") or ()
    names = [each["name"] for each in containers if isinstance(each, dict) and isinstance(each.get("name"), str)]
    chosen = container_name or annotations.get(CONTAINER_ANNOTATION)
    if chosen is not None and chosen not in names:
        detail = f"annotation {CONTAINER_ANNOTATION} names {str(chosen)[:63]!r}; the pod has {', '.join(names)[:253]}"
        return PrerequisiteProblem(ProblemReason.UNKNOWN_CONTAINER, (), detail)
    if chosen is None and annotations.get(DEFAULT_CONTAINER) in names:
        chosen = annotations[DEFAULT_CONTAINER]
    if chosen is not None or len(names) == 1:
        return str(chosen or names[0])
    detail = f"the pod has {len(names)} containers: name the one that is meant in the annotation {CONTAINER_ANNOTATION}"
    return PrerequisiteProblem(ProblemReason.UNKNOWN_CONTAINER, (), detail)


def inject(pod: Draft, content: Injection, container_name: str = "") -> list[PrerequisiteProblem]:
    """Put content into a pod with valid types (see `jobgate.pods.shape`), and return the faults.

    `container_name` is the container that the job names for its pods, or empty.
    """
    if not (content.hooks or content.mounts or content.env):
        return []
    name = target(pod.value, container_name)
    if isinstance(name, PrerequisiteProblem):
        return [name]
    container = next(each for each in pod.each("spec", "containers") if each.get("name") == name)
    problems = [*_mounts(pod, container, content)]
    present = {variable.get("name") for variable in container.get("env") or ()}
    container.insert("env", [dict(value) for variable, value in content.env.items() if variable not in present])
    return [*problems, *_wrap(container, content)]


def _mounts(pod: Draft, container: Draft, content: Injection) -> Iterator[PrerequisiteProblem]:
    spec = pod.at("spec")
    assert spec is not None  # it has a container
    for mount in content.mounts:
        volumes = spec.get("volumes") or []
        claims = {
            (present.get("persistentVolumeClaim") or {}).get("claimName"): present.get("name")
            for present in reversed(volumes)
        }
        volume = claims.get(mount.claim) or volume_name(mount.claim)
        same_path = next((each for each in container.get("volumeMounts") or () if _path(each) == mount.path), None)
        if same_path is not None:
            name = same_path.get("name")
            if (name, same_path.get("subPath") or "", bool(same_path.get("readOnly"))) != (
                volume,
                mount.sub_path,
                mount.read_only,
            ):
                detail = f"the container mounts {name} at {mount.path} already, where claim {mount.claim} goes"
                yield _problem(ProblemReason.MOUNT_CONFLICT, mount, detail)
            continue
        if mount.claim not in claims:
            if any(present.get("name") == volume for present in volumes):
                detail = f"the pod's volume {volume} is not claim {mount.claim}: give the volume another name"
                yield _problem(ProblemReason.VOLUME_CONFLICT, mount, detail)
                continue
            spec.append("volumes", {"name": volume, "persistentVolumeClaim": {"claimName": mount.claim}})
        entry: dict[str, Any] = {"name": volume, "mountPath": mount.path}
        entry |= {"subPath": mount.sub_path} if mount.sub_path else {}
        entry |= {"readOnly": True} if mount.read_only else {}
        container.append("volumeMounts", entry)


def volume_name(claim: str) -> str:
    """Return the name of a claim's volume: a DNS label that depends only on the claim."""
    name = f"pvc-{claim}"
    if not dns_label(name):
        return name
    suffix = sha256(claim.encode()).hexdigest()[:8]
    return f"{name.replace('.', '-')[: LABEL_LIMIT - 9].rstrip('-')}-{suffix}"


def _path(mount: Mapping[str, Any]) -> str:
    path = str(mount.get("mountPath"))
    return path.rstrip("/") or path


def _problem(reason: ProblemReason, mount: Mount, detail: str) -> PrerequisiteProblem:
    return PrerequisiteProblem(reason, mount.by.chain, detail, mount.by.place)


def _wrap(container: Draft, content: Injection) -> Iterator[PrerequisiteProblem]:
    """Put hooks around the container's command; earlier hooks are replaced."""
    if not content.hooks:
        return
    try:
        command = list(wrapped(container.value, content.hooks)["command"])
    except ScriptError as error:
        yield PrerequisiteProblem(error.reason, (), f"container {container['name']}: {error}")
        return
    if command != container["command"]:
        container.correct("command", command)

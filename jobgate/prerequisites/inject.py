"""Puts the content of resolved items into a pod. A second time it adds nothing."""

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

#: How kubectl knows the container that people mean.
DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"


def target(pod: Mapping[str, Any], container_name: str = "") -> str | PrerequisiteProblem:
    """Return the name of the container that gets what items bring: the one that is named, or the only one."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    containers = (pod.get("spec") or {}).get("containers") or ()
    names = [one["name"] for one in containers if isinstance(one, dict) and isinstance(one.get("name"), str)]
    named = container_name or annotations.get(CONTAINER_ANNOTATION)
    if named is not None and named not in names:
        detail = f"annotation {CONTAINER_ANNOTATION} names {str(named)[:63]!r}; the pod has {', '.join(names)[:253]}"
        return PrerequisiteProblem(ProblemReason.UNKNOWN_CONTAINER, (), detail)
    if named is None and annotations.get(DEFAULT_CONTAINER) in names:
        named = annotations[DEFAULT_CONTAINER]
    if named is not None or len(names) == 1:
        return str(named or names[0])
    detail = f"the pod has {len(names)} containers: name the one that is meant in the annotation {CONTAINER_ANNOTATION}"
    return PrerequisiteProblem(ProblemReason.UNKNOWN_CONTAINER, (), detail)


def inject(pod: Draft, content: Injection, container_name: str = "") -> list[PrerequisiteProblem]:
    """Put content into a pod of sound shape (`jobgate.pods.shape`), and return what cannot be put there.

    `container_name` is the container that the job names for its pods, or empty.
    """
    if not (content.hooks or content.mounts or content.env):
        return []
    name = target(pod.value, container_name)
    if isinstance(name, PrerequisiteProblem):
        return [name]
    container = next(one for one in pod.each("spec", "containers") if one.get("name") == name)
    problems = [*_mounts(pod, container, content)]
    there = {one.get("name") for one in container.get("env") or ()}
    container.insert("env", [dict(one) for variable, one in content.env.items() if variable not in there])
    return [*problems, *_wrap(container, content)]


def _mounts(pod: Draft, container: Draft, content: Injection) -> Iterator[PrerequisiteProblem]:
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
            there = taken.get("name"), taken.get("subPath") or "", bool(taken.get("readOnly"))
            if there != (volume, mount.sub_path, mount.read_only):
                detail = (
                    f"the container mounts {taken.get('name')} at {mount.path} already, where claim {mount.claim} goes"
                )
                yield _of(ProblemReason.MOUNT_CONFLICT, mount, detail)
            continue
        if mount.claim not in claims:
            if any(one.get("name") == volume for one in volumes):
                detail = f"the pod's volume {volume} is not claim {mount.claim}: give the volume another name"
                yield _of(ProblemReason.VOLUME_CONFLICT, mount, detail)
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


def _of(reason: ProblemReason, mount: Mount, detail: str) -> PrerequisiteProblem:
    return PrerequisiteProblem(reason, mount.by.chain, detail, mount.by.place)


def _wrap(container: Draft, content: Injection) -> Iterator[PrerequisiteProblem]:
    """Put hooks around the container's command; those that are around it already are replaced."""
    if not content.hooks:
        return
    try:
        made = wrapped(container.value, content.hooks)
    except ScriptError as error:
        yield PrerequisiteProblem(error.reason, (), f"container {container['name']}: {error}")
        return
    command = list(made["command"])
    if command != container["command"]:
        container.correct("command", command)


def annotate(pod: Draft, key: str, value: str) -> None:
    """Set an annotation of ours, whatever it was; nothing where metadata or annotations are no objects."""
    if "metadata" not in pod:
        pod["metadata"] = {"annotations": {key: value}}
    elif (metadata := pod.at("metadata")) is None:
        return
    elif "annotations" not in metadata:
        metadata["annotations"] = {key: value}
    elif (annotations := metadata.at("annotations")) is None or annotations.get(key) == value:
        return
    elif key in annotations:
        annotations.correct(key, value)
    else:
        annotations[key] = value

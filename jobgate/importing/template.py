"""Imports a task role as a pod template, like the REST server of OpenPAI, without the parts for its runtime."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jobgate.importing.item import commands
from jobgate.importing.notes import Notes, length, listed, mapped, snake, word
from webhook.text import short

#: Default size of /dev/shm in OpenPAI, in MB. That of Kubernetes is 64.
SHARED_MEMORY: Final = 512
#: Resource name of GPUs.
GPU: Final = "nvidia.com/gpu"

_PARAMETER: Final = re.compile(r"<%\s*\$parameters\.(\w+)\s*%>")
_PLACEHOLDER: Final = re.compile(r"<%(?:(?!<%|%>).)*%>", re.DOTALL)


def template(
    role: Mapping[str, Any],
    job: Mapping[str, Any],
    storages: tuple[list[Any], list[Any]],
    image: str | None,
    path: str,
    notes: Notes,
) -> dict[str, Any]:
    """Return the pod template of a task role of a job.

    `storages` are the job's; `image` is the image of the role's `dockerImage`, None if it is unknown.
    """
    if image is None:
        notes.fault(f"{path}.dockerImage", "must be the name of a prerequisite of type dockerimage that has a uri")
    script = _script(role, mapped(job.get("parameters"), "parameters", notes), path, notes)
    container: dict[str, Any] = {
        "name": "main",
        "image": image,
        "command": ["/bin/bash", "-euo", "pipefail", "-c", script],
        "resources": {"limits": _resources(role, path, notes)},
    }
    options = mapped(word(role, "extra_container_options"), f"{path}.extraContainerOptions", notes)
    size = notes.whole(word(options, "shm_mb") or SHARED_MEMORY, f"{path}.extraContainerOptions.shmMB", least=1)
    volumes, mounts = storages
    notes.budget.spend(length(volumes) + length(mounts))
    volume = {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{size}Mi"}}
    mount = {"name": "shm", "mountPath": "/dev/shm"}  # noqa: S108 - the path that shared memory has
    notes.unread(options, {"shm_mb"}, f"{path}.extraContainerOptions")
    notes.change(f"shared memory has {SHARED_MEMORY}Mi, the default of OpenPAI")
    return {
        "spec": {
            "restartPolicy": "Never",
            "containers": [container | {"volumeMounts": [*mounts, mount]}],
            "volumes": [*volumes, volume],
        }
    }


def _script(role: Mapping[str, Any], parameters: Mapping[str, Any], path: str, notes: Notes) -> str:
    """Return the commands as one script. Each `$` is doubled, because the kubelet replaces `$$` by `$`."""
    lines = commands(role.get("commands"), f"{path}.commands", notes)
    notes.change(
        "the commands of a task role are one script for bash with errexit, nounset and pipefail, as in OpenPAI"
    )

    def value(match: re.Match[str]) -> str:
        parameter = parameters.get(match[1])
        if isinstance(parameter, str | int | float) and not isinstance(parameter, bool):
            notes.budget.spend(len(str(parameter)))
            return str(parameter)
        if match[1] in parameters:
            notes.fault(f"parameters.{short(match[1])}", "must be a string or a number; write it in quotes")
        else:
            notes.fault(f"{path}.commands", f"{short(match[0])}: the job has no such parameter")
        return match[0]

    script = "\n".join(lines)
    if (filled := _PARAMETER.sub(value, script)) != script:
        notes.change("parameters stand in the commands as their values")
    for placeholder in dict.fromkeys(_PLACEHOLDER.findall(script)):
        if not _PARAMETER.fullmatch(placeholder):
            advice = (
                "give the container a variable with secretKeyRef" if "secrets" in placeholder else "write its value"
            )
            notes.fault(f"{path}.commands", f"{short(placeholder)} is not replaced here: {advice}")
    if "PAI_" in filled:
        notes.change(
            f"{path}.commands: the variables PAI_… are not set; plugin env of a DIJob sets VC_TASK_INDEX and others"
        )
    if "$" in filled:
        notes.change("$ is written $$ in a command: kubelet makes one of two")
    return filled.replace("$", "$$")


def _resources(role: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    at = f"{path}.resourcePerInstance"
    resources = mapped(word(role, "resource_per_instance"), at, notes)
    limits: dict[str, Any] = {}
    for key, resource, pattern in (("cpu", "cpu", "{}"), ("memoryMB", "memory", "{}Mi"), ("gpu", GPU, "{}")):
        if number := notes.whole(word(resources, snake(key)), f"{at}.{key}"):
            limits[resource] = pattern.format(number)
    if limits.get(GPU):
        notes.change(f"gpu is the resource {GPU}")
    notes.unread(resources, {"cpu", "memory_mb", "gpu"}, at)
    return limits


def storages_of(job: Mapping[str, Any], notes: Notes) -> tuple[list[Any], list[Any]]:
    """Return volumes and mounts of the job's storages, which all task roles get."""
    volumes: dict[str, Any] = {}
    mounts = []
    storages = listed(mapped(job.get("extras"), "extras", notes).get("storages"), "extras.storages", notes)
    for place, entry in enumerate(storages):
        storage = mapped(entry, f"extras.storages[{place}]", notes)
        claim = storage.get("name")
        if not isinstance(claim, str) or not claim:
            notes.change(f"extras.storages[{place}]: left out, as in OpenPAI: it has no name")
            continue
        path = word(storage, "mount_path") or f"/mnt/{claim}"
        if not isinstance(path, str):
            notes.fault(f"extras.storages[{place}].mountPath", "must be a path")
        name = notes.name(f"{claim.replace('.', '-')[:56]}-volume", f"extras.storages[{place}].name")
        volumes[name] = {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        mounts.append({"name": name, "mountPath": path})
    return list(volumes.values()), mounts

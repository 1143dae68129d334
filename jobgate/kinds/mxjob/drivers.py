"""What the installation's accelerators need of the host, in the pods that ask for them: the mutation, and its rule.

The volumes are folders of the host. No default of ours and no plugin ever adds such a volume by itself: here the
installation's administrator names each of them, for the pods that ask for a resource which is of no use without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.kinds.common.pod.reading import mapping, objects, spec_of
from jobgate.kinds.mxjob.accelerators import Accelerator, HostVolume, accelerators_of
from jobgate.kinds.mxjob.models import MxJobSpec
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER
from webhook import Cause, Context, Draft, Invalid, Job, Notice, Path, adds_nothing, rule


@adds_nothing(lambda _, context: not accelerators_of(context))
def main_containers_have_their_accelerators_drivers(job: Draft, context: Context) -> None:
    """Containers that request an accelerator get the volumes and variables that are configured for it.

    A volume of the user that is in the way stays as it is; a rule denies it.
    """
    accelerators = accelerators_of(context)
    for role in job.each("spec", "replicaSpecs") if accelerators else ():
        pod = role.at("template", "spec")
        if pod is None:
            continue
        volumes = _by_name(pod.get("volumes"))
        for container in pod.each("containers"):
            if container.get("name") == MAIN_CONTAINER:
                for _, accelerator in _asked_for(container.value, accelerators):
                    _equip(pod, volumes, container, accelerator)


def _equip(
    pod: Draft, volumes: dict[str, tuple[int, Mapping[str, Any]]], container: Draft, accelerator: Accelerator
) -> None:
    mounts = _by(container.get("volumeMounts"), "mountPath")
    for volume in accelerator.volumes:
        if volume.name not in volumes and _can_append(pod, "volumes"):
            added = {"name": volume.name, "hostPath": {"path": volume.host_path}}
            pod.append("volumes", added)
            volumes[volume.name] = len(volumes), added
        there = volumes.get(volume.name)
        if there is None or not _is_of_the_host(there[1], volume):
            continue
        if volume.mount_path not in mounts and _can_append(container, "volumeMounts"):
            container.append("volumeMounts", {"name": volume.name, "mountPath": volume.mount_path})
    variables = _by_name(container.get("env"))
    for variable in accelerator.env_vars:
        if variable.name not in variables and _can_append(container, "env"):
            container.append("env", variable.to_json())
            variables[variable.name] = len(variables), {}


@rule(reads=("tasks.template",))
def drivers_find_their_places(job: Job[MxJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """A volume of the template with a name or mount path that an accelerator needs must be the same volume.

    Without the driver, the container could not use the device that it requests.
    """
    accelerators = accelerators_of(context)
    for task in job.tasks if accelerators else ():
        spec, path = spec_of(task.template), task.template_path / "spec"
        volumes = _by_name(spec.get("volumes"))
        reported: set[str] = set()
        for index, container in objects(spec.get("containers")):
            if container.get("name") != MAIN_CONTAINER:
                continue
            for resource, accelerator in _asked_for(container, accelerators):
                for volume in accelerator.volumes:
                    place, own = volumes.get(volume.name, (0, None))
                    if own is not None and volume.name not in reported and not _is_of_the_host(own, volume):
                        reported.add(volume.name)
                        yield Invalid(path / "volumes" / place / "name", volume.name, _in_the_way(volume, resource))
                yield from _misplaced(container, path / "containers" / index, resource, accelerator)


def _misplaced(
    container: Mapping[str, Any], path: Path, resource: str, accelerator: Accelerator
) -> Iterator[Cause | Notice]:
    mounts = _by(container.get("volumeMounts"), "mountPath")
    for volume in accelerator.volumes:
        place, mount = mounts.get(volume.mount_path, (0, None))
        if mount is not None and mount.get("name") != volume.name:
            detail = f"reserved for the volume {volume.name} of {resource}, which jobgate mounts here: use another path"
            yield Invalid(path / "volumeMounts" / place / "mountPath", volume.mount_path, detail)
    variables = _by_name(container.get("env"))
    for variable in accelerator.env_vars:
        place, own = variables.get(variable.name, (0, None))
        if own is not None and (own.get("value") or "") != variable.value:
            detail = f"overrides the value that jobgate is configured to set for containers that request {resource}"
            yield Notice(path / "env" / place, detail)


def _in_the_way(volume: HostVolume, resource: str) -> str:
    return f"reserved for the host directory {volume.host_path}, which jobgate adds for {resource}: use another name"


def _asked_for(
    container: Mapping[str, Any], accelerators: Mapping[str, Accelerator]
) -> Iterator[tuple[str, Accelerator]]:
    """Yield the accelerators that a container names in its limits or requests, by the names of the resources."""
    resources = mapping(container.get("resources"))
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    for name in sorted(accelerators):
        if limits.get(name) is not None or requests.get(name) is not None:
            yield name, accelerators[name]


def _is_of_the_host(volume: Mapping[str, Any], wanted: HostVolume) -> bool:
    return mapping(volume.get("hostPath")).get("path") == wanted.host_path


def _by_name(entries: Any) -> dict[str, tuple[int, Mapping[str, Any]]]:
    return _by(entries, "name")


def _by(entries: Any, key: str) -> dict[str, tuple[int, Mapping[str, Any]]]:
    """Return the objects of a list, each with its place, by a text that each has."""
    found: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for index, entry in objects(entries):
        if isinstance(text := entry.get(key), str):
            found.setdefault(text, (index, entry))
    return found


def _can_append(draft: Draft, key: str) -> bool:
    return key not in draft or isinstance(draft.value[key], list)

"""The accelerators of an installation: what a container that requests one needs of the host, its mutation and its rule.

Settings have what the operator's own configuration file has under `accelerators`. The volumes are directories of the
host. No default and no plugin ever adds such a volume by itself: here the administrator names each of them, for the
pods that request a resource which is of no use without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from crdgen import Model
from jobgate.kinds.common.pod.reading import PodContainer, mapping, named_containers, objects, spec_of
from jobgate.kinds.mxjob.models import RESOURCE, MxJobSpec
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER
from jobgate.names import dns_label, environment_name, qualified_name
from webhook import Cause, Context, Draft, Invalid, Job, Notice, adds_nothing, rule

#: What an installation's settings call the kind.
SETTINGS = f"{RESOURCE.names.plural}.{RESOURCE.group}"


class _ExactModel(Model):
    """A model that has no other fields: a misspelt one is an error."""

    model_config = ConfigDict(extra="forbid")


def _checked(fault_of: Callable[[str], str | None]) -> AfterValidator:
    """Return the validator of texts of a format."""

    def check(text: str) -> str:
        if fault := fault_of(text):
            raise ValueError(fault)
        return text

    return AfterValidator(check)


def _path_fault(text: str) -> str | None:
    wrong = not text.startswith("/") or ".." in text.split("/") or ":" in text
    return "must be an absolute path without '..' and ':'" if wrong else None


_AbsolutePath = Annotated[str, _checked(_path_fault)]


class HostVolume(_ExactModel):
    """A folder of the host, and where a container has it."""

    name: Annotated[str, _checked(dns_label)]
    host_path: _AbsolutePath
    mount_path: _AbsolutePath


class EnvVar(_ExactModel):
    """An environment variable."""

    name: Annotated[str, _checked(environment_name)]
    value: str = ""


class Accelerator(_ExactModel):
    """What a container that asks for one resource is given."""

    volumes: list[HostVolume] = Field(default_factory=list)
    env_vars: list[EnvVar] = Field(default_factory=list)

    def parts(self) -> Iterator[tuple[str, HostVolume | EnvVar, str]]:
        """Yield what no other accelerator may define otherwise, each with its value, and with what fixes that."""
        for volume in self.volumes:
            yield f"the volume {volume.name}", volume, "rename one of them"
            yield f"the mountPath {volume.mount_path}", volume, "change one of the paths"
        for variable in self.env_vars:
            yield f"the variable {variable.name}", variable, "use one value"


class MxJobSettings(_ExactModel):
    """What an installation says of MxJobs.

    A container may ask for several accelerators, so what they give must go together: that is checked here, once, and
    not with every job.
    """

    accelerators: dict[Annotated[str, _checked(qualified_name)], Accelerator] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        seen: dict[str, tuple[str, HostVolume | EnvVar]] = {}
        for resource, accelerator in self.accelerators.items():
            for what, value, fix in accelerator.parts():
                first, other = seen.setdefault(what, (resource, value))
                if other != value:
                    where = f"twice by {first}" if first == resource else f"by {first} and by {resource}"
                    raise ValueError(f"{what} is defined {where} with different values: {fix}")
        return self


def accelerators_of(context: Context) -> Mapping[str, Accelerator]:
    """Return the accelerators of this installation, by the name of the resource that a container asks for."""
    settings = context.settings.kinds.get(SETTINGS)
    return settings.accelerators if isinstance(settings, MxJobSettings) else {}


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
        volumes = _by(pod.get("volumes"), "name")
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
    variables = _by(container.get("env"), "name")
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
        volumes = _by(spec_of(task.template).get("volumes"), "name")
        reported: set[str] = set()
        for container in named_containers(MAIN_CONTAINER, task.template, task.template_path):
            for resource, accelerator in _asked_for(container.json, accelerators):
                for volume in accelerator.volumes:
                    place, own = volumes.get(volume.name, (0, None))
                    if own is not None and volume.name not in reported and not _is_of_the_host(own, volume):
                        reported.add(volume.name)
                        detail = f"host directory {volume.host_path}, which jobgate adds for {resource}"
                        path = task.template_path / "spec" / "volumes" / place / "name"
                        yield Invalid(path, volume.name, f"reserved for the {detail}: use another name")
                yield from _misplaced(container, resource, accelerator)


def _misplaced(container: PodContainer, resource: str, accelerator: Accelerator) -> Iterator[Cause | Notice]:
    mounts = _by(container.json.get("volumeMounts"), "mountPath")
    for volume in accelerator.volumes:
        place, mount = mounts.get(volume.mount_path, (0, None))
        if mount is not None and mount.get("name") != volume.name:
            detail = f"reserved for the volume {volume.name} of {resource}, which jobgate mounts here: use another path"
            yield Invalid(container.path / "volumeMounts" / place / "mountPath", volume.mount_path, detail)
    variables = _by(container.json.get("env"), "name")
    for variable in accelerator.env_vars:
        place, own = variables.get(variable.name, (0, None))
        if own is not None and (own.get("value") or "") != variable.value:
            detail = f"overrides the value that jobgate is configured to set for containers that request {resource}"
            yield Notice(container.path / "env" / place, detail)


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


def _by(entries: Any, key: str) -> dict[str, tuple[int, Mapping[str, Any]]]:
    """Return the objects of a list, each with its place, by a text that each has."""
    found: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for index, entry in objects(entries):
        if isinstance(text := entry.get(key), str):
            found.setdefault(text, (index, entry))
    return found


def _can_append(draft: Draft, key: str) -> bool:
    return key not in draft or isinstance(draft.value[key], list)

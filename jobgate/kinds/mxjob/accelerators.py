"""The accelerators of an installation: the host directories and variables that a container needs to use a device.

The settings are the same as under `accelerators` in the operator's own configuration file. Nothing else in jobgate
adds host directories to pods: here the administrator names each directory, for pods that request a certain resource.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from crdgen import Model
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.twins import Need, Place, says
from jobgate.kinds.mxjob.models import RESOURCE, MxJobSpec
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER
from jobgate.names import dns_label, environment_name, qualified_name
from jobgate.podchecks.reading import PodContainer, named_containers
from webhook import Cause, Draft, Invalid, Notice, rule
from webhook.values import mapping, objects, spec_of

#: The kind's key in the settings of an installation.
SETTINGS = f"{RESOURCE.names.plural}.{RESOURCE.group}"


class _ExactModel(Model):
    """A model that rejects unknown fields, so that typos are errors."""

    model_config = ConfigDict(extra="forbid")


def _checked(fault_of: Callable[[str], str | None]) -> AfterValidator:
    """Return the validator for a text with a format."""

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
    """A directory of the host, and its mount path in containers."""

    name: Annotated[str, _checked(dns_label)]
    host_path: _AbsolutePath
    mount_path: _AbsolutePath


class EnvVar(_ExactModel):
    """An environment variable."""

    name: Annotated[str, _checked(environment_name)]
    value: str = ""


class Accelerator(_ExactModel):
    """The volumes and variables for a container that requests a resource."""

    volumes: list[HostVolume] = Field(default_factory=list)
    env_vars: list[EnvVar] = Field(default_factory=list)

    def parts(self) -> Iterator[tuple[str, HostVolume | EnvVar]]:
        """Yield the parts that must be equal in all accelerators that define them, each with its value."""
        for volume in self.volumes:
            yield f"the volume {volume.name}", volume
            yield f"the mountPath {volume.mount_path}", volume
        for variable in self.env_vars:
            yield f"the variable {variable.name}", variable


class MxJobSettings(_ExactModel):
    """The settings of an installation for MxJobs.

    A container may request several accelerators, so they must not conflict. This is checked once, not with every job.
    """

    accelerators: dict[Annotated[str, _checked(qualified_name)], Accelerator] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _have_no_conflicts(self) -> Self:
        seen: dict[str, HostVolume | EnvVar] = {}
        for name, value in (part for accelerator in self.accelerators.values() for part in accelerator.parts()):
            if seen.setdefault(name, value) != value:
                raise ValueError(f"{name} is defined twice with different values")
        return self


def accelerators_of(context: Context) -> Mapping[str, Accelerator]:
    """Return the accelerators of this installation, by the name of the resource that a container requests."""
    settings = context.settings.kinds.get(SETTINGS)
    return settings.accelerators if isinstance(settings, MxJobSettings) else {}


# The settings name resources: a container with others than cpu and memory may need one of them.
@says(Need(Place.CONTAINER, "container.?resources.?limits.orValue({}).exists(name, !(name in ['cpu', 'memory']))"))
def main_containers_have_their_accelerators_drivers(job: Draft, context: Context) -> None:
    """Containers that request an accelerator get the volumes and variables that are configured for it.

    A volume of the user that conflicts is not changed; a rule denies it.
    """
    accelerators = accelerators_of(context)
    for role in job.each("spec", "replicaSpecs") if accelerators else ():
        pod = role.at("template", "spec")
        if pod is None:
            continue
        main = (container for container in pod.each("containers") if container.get("name") == MAIN_CONTAINER)
        for container in islice(main, 1):
            for _, accelerator in _requested(container.value, accelerators):
                _add_accelerator(pod, container, accelerator)


def _add_accelerator(pod: Draft, container: Draft, accelerator: Accelerator) -> None:
    for volume in accelerator.volumes:
        _add(pod, "volumes", "name", {"name": volume.name, "hostPath": {"path": volume.host_path}})
        _, present = _first(pod.get("volumes"), "name", volume.name)
        if present is not None and _is_host_volume(present, volume):
            _add(container, "volumeMounts", "mountPath", {"name": volume.name, "mountPath": volume.mount_path})
    for variable in accelerator.env_vars:
        _add(container, "env", "name", variable.to_json())


def _add(draft: Draft, field: str, key: str, entry: dict[str, Any]) -> None:
    """Add an entry to a list, unless it has an entry with the same key."""
    if _first(draft.get(field), key, entry[key])[1] is None and isinstance(draft.get(field, []), list):
        draft.append(field, entry)


@rule()
def drivers_find_their_places(job: Job[MxJobSpec], context: Context) -> Iterator[Cause | Notice]:
    """A volume of the template with a name or mount path that an accelerator needs must be the same volume.

    Without the driver, the container could not use the device that it requests.
    """
    accelerators = accelerators_of(context)
    for task in job.tasks if accelerators else ():
        volumes = spec_of(task.template).get("volumes")
        for container in islice(named_containers(MAIN_CONTAINER, task.template, task.template_path), 1):
            for resource, accelerator in _requested(container.json, accelerators):
                for volume in accelerator.volumes:
                    place, own = _first(volumes, "name", volume.name)
                    if own is not None and not _is_host_volume(own, volume):
                        detail = f"host directory {volume.host_path}, which jobgate adds for {resource}"
                        path = task.template_path / "spec" / "volumes" / place / "name"
                        yield Invalid(path, volume.name, f"reserved for the {detail}: use another name")
                yield from _conflicts(container, resource, accelerator)


def _conflicts(container: PodContainer, resource: str, accelerator: Accelerator) -> Iterator[Cause | Notice]:
    for volume in accelerator.volumes:
        place, mount = _first(container.json.get("volumeMounts"), "mountPath", volume.mount_path)
        if mount is not None and mount.get("name") != volume.name:
            detail = f"reserved for the volume {volume.name} of {resource}, which jobgate mounts here: use another path"
            yield Invalid(container.path / "volumeMounts" / place / "mountPath", volume.mount_path, detail)
    for variable in accelerator.env_vars:
        place, own = _first(container.json.get("env"), "name", variable.name)
        if own is not None and (own.get("value") or "") != variable.value:
            detail = f"overrides the value that jobgate is configured to set for containers that request {resource}"
            yield Notice(container.path / "env" / place, detail)


def _requested(
    container: Mapping[str, Any], accelerators: Mapping[str, Accelerator]
) -> Iterator[tuple[str, Accelerator]]:
    """Yield the accelerators in the limits or requests of a container, each with the name of its resource."""
    resources = mapping(container.get("resources"))
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    for name in sorted(accelerators):
        if limits.get(name) is not None or requests.get(name) is not None:
            yield name, accelerators[name]


def _is_host_volume(volume: Mapping[str, Any], wanted: HostVolume) -> bool:
    return mapping(volume.get("hostPath")).get("path") == wanted.host_path


def _first(entries: Any, key: str, value: str) -> tuple[int, Mapping[str, Any] | None]:
    """Return the first object of a list with this value, and its index; None if there is none."""
    return next(((index, entry) for index, entry in objects(entries) if entry.get(key) == value), (0, None))

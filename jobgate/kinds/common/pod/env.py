"""Environment variables of containers, and where their values come from.

The rules are those of `core/v1` validation of Kubernetes (`ValidateEnv`, `ValidateEnvFrom`,
`validateFileKeyRefVolumes`), fields `env` and `envFrom`. No message shows a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from jobgate import names
from jobgate.kinds.common.pod.downward import ENVIRONMENT_FIELDS, PlainResource, field_reference, resource_reference
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.parts import Container, Json, containers, unset
from jobgate.kinds.common.pod.reading import objects, spec_of
from jobgate.kinds.common.pod.shapes import ConfigKey, DnsSubdomain, EnvironmentName, Plain
from webhook.cause import Cause, Forbidden, Invalid, NotFound, Notice, Required
from webhook.path import Path

#: Where the value of a variable may come from, and where many variables may.
SOURCES: Final = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
BULK_SOURCES: Final = ("configMapRef", "secretRef")


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the environment of every container."""
    empty_dirs: dict[str, bool] | None = None
    for container in containers(pod, path):
        for index, variable in objects(container.json.get("env")):
            name = variable.get("name")
            if not isinstance(name, str) or not name or names.environment_name(name):
                yield from variables_are_named(variable, container, index)
            source = variable.get("valueFrom")
            if isinstance(source, dict):
                here = container.path / "env" / index / "valueFrom"
                yield from values_have_one_source(variable, source, here)
                yield from references_are_complete(source, here)
                if isinstance(source.get("fileKeyRef"), dict):
                    empty_dirs = empty_dirs if empty_dirs is not None else _empty_dirs(pod)
                    yield from files_lie_in_an_empty_dir(source["fileKeyRef"], empty_dirs, here / "fileKeyRef")
        if container.json.get("envFrom"):
            yield from bulk_sources_are_one_and_named(container)


def variables_are_named(variable: Json, container: Container, index: int) -> Iterator[Cause]:
    """A variable has a name, of printable ASCII characters other than `=`."""
    name = variable.get("name")
    if unset(name):
        yield Required(container.path / "env" / index / "name")
    elif isinstance(name, str) and (fault := names.environment_name(name)):
        yield Invalid(container.path / "env" / index / "name", name, fault)


def values_have_one_source(variable: Json, source: Json, path: Path) -> Iterator[Cause]:
    """A variable has a value, or one source of it, and not both."""
    given = [name for name in SOURCES if source.get(name) is not None]
    if not given:
        yield Required(path, f"must have one of {', '.join(SOURCES)}")
    elif not unset(variable.get("value")):
        yield Forbidden(path, "may not be set together with value")
    elif len(given) > 1:
        yield Forbidden(path, f"must have exactly one source, but has {', '.join(given)}")


def references_are_complete(source: Json, path: Path) -> Iterator[Cause]:
    """A source says all that is needed to find the value."""
    if isinstance(field := source.get("fieldRef"), dict):
        yield from field_reference(field, path / "fieldRef", ENVIRONMENT_FIELDS)
    if isinstance(resource := source.get("resourceFieldRef"), dict):
        yield from resource_reference(resource, path / "resourceFieldRef", of_container=True)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if isinstance(reference := source.get(kind), dict):
            yield from _object_name(reference.get("name"), path / kind / "name")
            key = reference.get("key")
            if unset(key):
                yield Required(path / kind / "key")
            elif isinstance(key, str) and (fault := names.config_key(key)):
                yield Invalid(path / kind / "key", key, fault)
    if isinstance(file := source.get("fileKeyRef"), dict):
        yield from _file_key(file, path / "fileKeyRef")


def files_lie_in_an_empty_dir(file: Json, empty_dirs: dict[str, bool], path: Path) -> Iterator[Cause]:
    """The file of a variable lies in a volume of the pod that is an `emptyDir`."""
    volume = file.get("volumeName")
    if isinstance(volume, str) and volume and not names.dns_label(volume):
        if volume not in empty_dirs:
            yield NotFound(path / "volumeName", volume, "must be the name of one of the pod's volumes")
        elif not empty_dirs[volume]:
            yield Invalid(path / "volumeName", volume, "must be a volume of type emptyDir")


def bulk_sources_are_one_and_named(container: Container) -> Iterator[Cause]:
    """Variables in bulk come from one ConfigMap or one Secret, named, with a prefix that may begin their names."""
    for index, source in objects(container.json.get("envFrom")):
        here = container.path / "envFrom" / index
        prefix = source.get("prefix")
        if isinstance(prefix, str) and prefix and (fault := names.environment_name(prefix)):
            yield Invalid(here / "prefix", prefix, fault)
        given = [kind for kind in BULK_SOURCES if source.get(kind) is not None]
        if not given:
            yield Required(here, "must have a configMapRef or a secretRef")
        elif len(given) > 1:
            yield Forbidden(here, "must have exactly one source, but has configMapRef and secretRef")
        for kind in given:
            reference = source[kind]
            if isinstance(reference, dict):
                yield from _object_name(reference.get("name"), here / kind / "name", dash=True)


def _object_name(name: Any, path: Path, *, dash: bool = False) -> Iterator[Cause]:
    """Check the name of a ConfigMap or a Secret; `dash` is for the places where Kubernetes lets it end with one."""
    if unset(name):
        yield Required(path)
    elif isinstance(name, str):
        judged = name[:-2] + "a" if dash and len(name) > 1 and name.endswith("-") else name
        if fault := names.dns_subdomain(judged):
            yield Invalid(path, name, fault)


def _file_key(file: Json, path: Path) -> Iterator[Cause]:
    key, volume, file_path = file.get("key"), file.get("volumeName"), file.get("path")
    for field, value in (("key", key), ("volumeName", volume), ("path", file_path)):
        if unset(value):
            yield Required(path / field)
    if isinstance(key, str) and key and (fault := names.environment_name(key)):
        yield Invalid(path / "key", key, fault)
    if isinstance(volume, str) and volume and (fault := names.dns_label(volume)):
        yield Invalid(path / "volumeName", volume, fault)
    if isinstance(file_path, str) and ".." in file_path.split("/"):
        yield Invalid(path / "path", file_path, "must not contain '..'")


def _empty_dirs(pod: Json) -> dict[str, bool]:
    """Return the names of the pod's volumes, each with whether it is an `emptyDir`, as one without a source is."""
    return {
        volume["name"]: all(
            source == "emptyDir" for source, value in volume.items() if source != "name" and value is not None
        )
        for _, volume in objects(spec_of(pod).get("volumes"))
        if isinstance(volume.get("name"), str)
    }


class _Field(Plain):
    field_path: Literal[tuple(ENVIRONMENT_FIELDS)]  # type: ignore[valid-type]  # msgspec sees them
    api_version: Literal["v1"] = "v1"


class _Key(Plain):
    name: DnsSubdomain
    key: ConfigKey
    optional: bool = False


class _Source(Plain):
    field_ref: _Field | UnsetType = UNSET
    resource_field_ref: PlainResource | UnsetType = UNSET
    config_map_key_ref: _Key | UnsetType = UNSET
    secret_key_ref: _Key | UnsetType = UNSET


class _Variable(Plain):
    name: EnvironmentName
    value: str | UnsetType = UNSET
    value_from: _Source | UnsetType = UNSET


class _Object(Plain):
    name: DnsSubdomain
    optional: bool = False


class _BulkSource(Plain):
    prefix: EnvironmentName | UnsetType = UNSET
    config_map_ref: _Object | UnsetType = UNSET
    secret_ref: _Object | UnsetType = UNSET


def _values_have_one_source(_: Json, containers: Sequence[Json]) -> bool:
    for container in containers:
        for variable in container.get("env", ()):
            if "valueFrom" in variable and ("value" in variable or len(variable["valueFrom"]) != 1):
                return False
        for source in container.get("envFrom", ()):
            if len(source.keys() & BULK_SOURCES) != 1:
                return False
    return True


FAMILY = Family(
    check=check,
    container={"env": list[_Variable], "envFrom": list[_BulkSource]},
    agree=_values_have_one_source,
)

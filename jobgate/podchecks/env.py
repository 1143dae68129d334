"""Environment variables of containers, their sources, and references to fields and resources of the pod.

The rules are those of `core/v1` validation of Kubernetes (`ValidateEnv`, `ValidateEnvFrom`,
`validateObjectFieldSelector`, `validateContainerResourceFieldSelector`). No message shows a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, Literal

from crdgen.dns import mask_trailing_dash
from jobgate import names
from jobgate.podchecks.reading import Json
from jobgate.podchecks.shapes import ConfigKey, DnsSubdomain, EnvironmentName, Text
from jobgate.podchecks.values import (
    Rules,
    ValueRule,
    agreed,
    anything,
    family,
    fields,
    formatted,
    listed,
    need,
    one_source,
    required,
)
from webhook.cause import Cause, Forbidden, Invalid, Notice, NotSupported, Required
from webhook.path import Path
from webhook.values import unset

#: The fields that a variable may refer to, in addition to single labels and annotations.
ENVIRONMENT_FIELDS: Final = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)

#: The resources of a container that a variable may refer to, in addition to huge pages of any size.
RESOURCES: Final = tuple(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")

#: Deprecated names of fields.
_OLD_FIELDS: Final = {"spec.host": "spec.nodeName"}


def field_reference(known: Collection[str]) -> ValueRule:
    """Return the rule for a `fieldRef`: it names one of these fields, or a label or annotation by its key."""

    def check(reference: Any, path: Path) -> Iterator[Notice]:
        if not isinstance(reference, dict):
            return
        version, field = reference.get("apiVersion"), reference.get("fieldPath")
        if isinstance(version, str) and version not in {"", "v1"}:
            yield NotSupported(path / "apiVersion", version, ("v1",))
        elif unset(field):
            yield Required(path / "fieldPath")
        elif isinstance(field, str):
            yield from _field_path(field, known, path / "fieldPath")

    field_path = required(anything(Literal[tuple(known)]))
    return ValueRule(check, fields(fieldPath=field_path, apiVersion=anything(Literal["v1"])).plain)


def _field_path(field: str, known: Collection[str], path: Path) -> Iterator[Cause]:
    owner, bracket, key = field.partition("['")
    if bracket and owner and key.endswith("']"):
        key = key.removesuffix("']")
        if owner not in {"metadata.labels", "metadata.annotations"}:
            yield Invalid(path, field, "only metadata.labels and metadata.annotations support subscripts")
        elif fault := names.qualified_name(key.lower() if owner == "metadata.annotations" else key):
            yield Invalid(path, field, f"the key {fault}")
    elif _OLD_FIELDS.get(field, field) not in known:
        yield NotSupported(path, field, (*sorted(known), "metadata.labels['KEY']", "metadata.annotations['KEY']"))


def resource_reference(*, of_container: bool) -> ValueRule:
    """Return the rule for a `resourceFieldRef`: it names a resource.

    Args:
        of_container: whether the reference is in the container itself; other references must name the container.
    """

    def check(reference: Any, path: Path) -> Iterator[Notice]:
        if not isinstance(reference, dict):
            return
        resource = reference.get("resource")
        if not of_container and unset(reference.get("containerName")):
            yield Required(path / "containerName", "must be the name of the container that has the resource")
        elif unset(resource):
            yield Required(path / "resource")
        elif isinstance(resource, str) and resource not in RESOURCES and not resource.startswith(_HUGE_PAGES):
            known = (*RESOURCES, "limits.hugepages-SIZE", "requests.hugepages-SIZE")
            yield NotSupported(path / "resource", resource, known)

    plain = fields(
        resource=required(anything(Literal[RESOURCES])),
        containerName=ValueRule(plain=Text, required=not of_container),
    ).plain
    return ValueRule(check, plain)


def _value_or_source(variable: Any, path: Path) -> Iterator[Cause]:
    if variable.get("valueFrom") and not unset(variable.get("value")):
        yield Forbidden(path / "valueFrom", "may not be set together with value: remove one of them")


def _object_name(name: str) -> str | None:
    """Check the name of a ConfigMap or Secret in `envFrom`; Kubernetes allows a dash at its end."""
    return names.dns_subdomain(mask_trailing_dash(name))


def _names_and_sources_agree(_: Json, containers: Sequence[Json]) -> bool:
    for container in containers:
        variables = container.get("env", ())
        # One match for all names joined is faster than one for each: the format only restricts the characters.
        if variables and names.environment_name("".join([variable["name"] for variable in variables])):
            return False
        for variable in variables:
            if "valueFrom" in variable and ("value" in variable or len(variable["valueFrom"]) != 1):
                return False
        for source in container.get("envFrom", ()):
            if len(source.keys() & _FROM_SOURCES) != 1:
                return False
    return True


_NAME: Final = formatted(names.environment_name, EnvironmentName)
#: `_names_and_sources_agree` checks the format of plain names.
_VARIABLE: Final = formatted(names.environment_name, Text)
_KEY: Final = fields(
    name=need(formatted(names.dns_subdomain, DnsSubdomain)),
    key=need(formatted(names.config_key, ConfigKey)),
    optional=anything(bool),
)
_VALUE_SOURCES: Final[Rules] = {
    "fieldRef": field_reference(ENVIRONMENT_FIELDS),
    "resourceFieldRef": resource_reference(of_container=True),
    "configMapKeyRef": _KEY,
    "secretKeyRef": _KEY,
    "fileKeyRef": ValueRule(),
}
_OBJECT: Final = fields(name=need(formatted(_object_name, DnsSubdomain)), optional=anything(bool))
_FROM_SOURCES: Final[Rules] = {"configMapRef": _OBJECT, "secretRef": _OBJECT}


def _plain(sources: Rules) -> Rules:
    return {name: anything(rule.plain) for name, rule in sources.items()}


_SOURCE: Final = fields(
    one_source(_VALUE_SOURCES, missing=f"must have one of {', '.join(_VALUE_SOURCES)}"),
    agreed,
    **_plain(_VALUE_SOURCES),
)
FAMILY = family(
    container={
        "env": listed(fields(_value_or_source, agreed, name=need(_VARIABLE), value=anything(str), valueFrom=_SOURCE)),
        "envFrom": listed(
            fields(
                one_source(_FROM_SOURCES, missing="must have a configMapRef or a secretRef"),
                agreed,
                prefix=_NAME,
                **_plain(_FROM_SOURCES),
            )
        ),
    },
    agree=_names_and_sources_agree,
)

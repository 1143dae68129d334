"""Environment variables of containers, where their values come from, and what a container may learn of its own pod.

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

#: The fields that a variable may hold; labels and annotations one by one, beside these.
ENVIRONMENT_FIELDS: Final = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)

#: The resources of a container that it may learn, beside its huge pages of any size.
RESOURCES: Final = tuple(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")

#: The old name of a field.
_OLD_FIELDS: Final = {"spec.host": "spec.nodeName"}


def field_reference(known: Collection[str]) -> ValueRule:
    """Return the rule of a `fieldRef`: it names one of these fields, or one label or annotation by its key."""

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

    names_one = required(anything(Literal[tuple(known)]))
    return ValueRule(check, fields(fieldPath=names_one, apiVersion=anything(Literal["v1"])).plain)


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
    """Return the rule of a `resourceFieldRef`: it names a resource.

    Args:
        of_container: whether the container is known from where the reference is; elsewhere it must be named.
    """

    def check(reference: Any, path: Path) -> Iterator[Notice]:
        if not isinstance(reference, dict):
            return
        resource = reference.get("resource")
        sized = isinstance(resource, str) and (resource in RESOURCES or resource.startswith(_HUGE_PAGES))
        if not of_container and unset(reference.get("containerName")):
            yield Required(path / "containerName", "must be the name of the container that has the resource")
        elif unset(resource):
            yield Required(path / "resource")
        elif isinstance(resource, str) and not sized:
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
    """Check the name of a ConfigMap or Secret of many variables, which Kubernetes lets end with a dash."""
    return names.dns_subdomain(mask_trailing_dash(name))


def _names_and_sources_agree(_: Json, containers: Sequence[Json]) -> bool:
    for container in containers:
        variables = container.get("env", ())
        # All names together: their format is one of characters, and a match of each name would cost more.
        if variables and names.environment_name("".join([variable["name"] for variable in variables])):
            return False
        for variable in variables:
            if "valueFrom" in variable and ("value" in variable or len(variable["valueFrom"]) != 1):
                return False
        for source in container.get("envFrom", ()):
            if len(source.keys() & _MANY) != 1:
                return False
    return True


_NAME: Final = formatted(names.environment_name, EnvironmentName)
#: Plain if `_names_and_sources_agree` does.
_VARIABLE: Final = formatted(names.environment_name, Text)
_KEY: Final = fields(
    name=need(formatted(names.dns_subdomain, DnsSubdomain)),
    key=need(formatted(names.config_key, ConfigKey)),
    optional=anything(bool),
)
_ONE: Final[Rules] = {
    "fieldRef": field_reference(ENVIRONMENT_FIELDS),
    "resourceFieldRef": resource_reference(of_container=True),
    "configMapKeyRef": _KEY,
    "secretKeyRef": _KEY,
    "fileKeyRef": ValueRule(),
}
_OBJECT: Final = fields(name=need(formatted(_object_name, DnsSubdomain)), optional=anything(bool))
_MANY: Final[Rules] = {"configMapRef": _OBJECT, "secretRef": _OBJECT}


def _plain(sources: Rules) -> Rules:
    return {name: anything(rule.plain) for name, rule in sources.items()}


_SOURCE: Final = fields(one_source(_ONE, missing=f"must have one of {', '.join(_ONE)}"), agreed, **_plain(_ONE))
FAMILY = family(
    container={
        "env": listed(fields(_value_or_source, agreed, name=need(_VARIABLE), value=anything(str), valueFrom=_SOURCE)),
        "envFrom": listed(
            fields(
                one_source(_MANY, missing="must have a configMapRef or a secretRef"),
                agreed,
                prefix=_NAME,
                **_plain(_MANY),
            )
        ),
    },
    agree=_names_and_sources_agree,
)

"""Environment variables of containers, and where their values come from.

The rules are those of `core/v1` validation of Kubernetes (`ValidateEnv`, `ValidateEnvFrom`). No message shows a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.downward import field_reference, resource_reference
from jobgate.kinds.common.pod.reading import Json, unset
from jobgate.kinds.common.pod.shapes import ConfigKey, DnsSubdomain, EnvironmentName, Text
from jobgate.kinds.common.pod.values import (
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
)
from webhook.cause import Cause, Forbidden
from webhook.path import Path

#: The fields that a variable may hold; labels and annotations one by one, beside these.
ENVIRONMENT_FIELDS: Final = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)


def _value_or_source(variable: Any, path: Path) -> Iterator[Cause]:
    if variable.get("valueFrom") and not unset(variable.get("value")):
        yield Forbidden(path / "valueFrom", "may not be set together with value")


def _object_name(name: str) -> str | None:
    """Check the name of a ConfigMap or Secret of many variables, which Kubernetes lets end with a dash."""
    return names.dns_subdomain(name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name)


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

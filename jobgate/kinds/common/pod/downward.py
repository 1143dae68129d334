"""The downward API: what a container may learn of its own pod, as variables or as files.

The rules are those of `core/v1` validation of Kubernetes (`validateObjectFieldSelector`,
`validateContainerResourceFieldSelector`), fields `fieldRef` and `resourceFieldRef`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final, Literal

from jobgate import names
from jobgate.kinds.common.pod.reading import unset
from jobgate.kinds.common.pod.shapes import Text
from jobgate.kinds.common.pod.values import ValueRule, anything, fields, required
from webhook.cause import Cause, Invalid, Notice, NotSupported, Required
from webhook.path import Path

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

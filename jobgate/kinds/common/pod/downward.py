"""The downward API: what a container may learn of its own pod, as variables or as files.

The rules are those of `core/v1` validation of Kubernetes (`validateObjectFieldSelector`,
`validateContainerResourceFieldSelector`), fields `fieldRef` and `resourceFieldRef`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from jobgate import names
from jobgate.kinds.common import quantity
from jobgate.kinds.common.pod.parts import Json, unset
from jobgate.kinds.common.pod.shapes import Plain
from webhook.cause import Cause, Invalid, NotSupported, Required
from webhook.path import Path

#: The fields that an environment variable may hold; labels and annotations one by one, beside these.
ENVIRONMENT_FIELDS: Final = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)

#: The resources of a container that it may learn, beside its huge pages of any size.
RESOURCES: Final = tuple(
    f"{side}.{name}" for side in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")

#: What an amount may be divided by before it is shown.
CPU_DIVISORS: Final[tuple[str, ...]] = ("1", "1m")
SIZE_DIVISORS: Final[tuple[str, ...]] = (
    "1",
    "1k",
    "1M",
    "1G",
    "1T",
    "1P",
    "1E",
    "1Ki",
    "1Mi",
    "1Gi",
    "1Ti",
    "1Pi",
    "1Ei",
)

#: An old word for a field, which clients of long ago send.
_OLD_FIELDS: Final = {"spec.host": "spec.nodeName"}


def field_reference(reference: Json, path: Path, fields: Collection[str]) -> Iterator[Cause]:
    """Check a `fieldRef`: it names one of `fields` of API version v1, or one label or annotation by its key."""
    version, field = reference.get("apiVersion"), reference.get("fieldPath")
    if isinstance(version, str) and version not in {"", "v1"}:
        yield NotSupported(path / "apiVersion", version, ("v1",))
        return
    if unset(field):
        yield Required(path / "fieldPath")
        return
    if not isinstance(field, str):
        return
    before, bracket, after = field.partition("['")
    if bracket and before and after.endswith("']"):
        yield from _entry(before, after.removesuffix("']"), field, path / "fieldPath")
    elif _OLD_FIELDS.get(field, field) not in fields:
        yield NotSupported(
            path / "fieldPath", field, (*sorted(fields), "metadata.labels['KEY']", "metadata.annotations['KEY']")
        )


def _entry(field: str, key: str, written: str, path: Path) -> Iterator[Cause]:
    """Check a field path that names one entry of a map."""
    if field not in {"metadata.labels", "metadata.annotations"}:
        yield Invalid(path, written, "only metadata.labels and metadata.annotations support subscripts")
    elif fault := names.qualified_name(key.lower() if field == "metadata.annotations" else key):
        yield Invalid(path, written, f"the key {fault}")


def resource_reference(reference: Json, path: Path, *, of_container: bool) -> Iterator[Cause]:
    """Check a `resourceFieldRef`: it names a resource, and what to divide the amount by.

    Args:
        reference: the reference.
        path: where it stands.
        of_container: whether the container is known from where it stands; elsewhere it must be named.
    """
    resource = reference.get("resource")
    if not of_container and unset(reference.get("containerName")):
        yield Required(path / "containerName", "must be the name of the container that has the resource")
    elif unset(resource):
        yield Required(path / "resource")
    elif isinstance(resource, str) and resource not in RESOURCES and not resource.startswith(_HUGE_PAGES):
        yield NotSupported(
            path / "resource", resource, (*RESOURCES, "limits.hugepages-SIZE", "requests.hugepages-SIZE")
        )
    divisor = reference.get("divisor")
    if divisor is not None:
        yield from _divisor(divisor, resource, path / "divisor")


def _divisor(divisor: Any, resource: Any, path: Path) -> Iterator[Cause]:
    try:
        amount = quantity.parse(divisor)
    except ValueError as error:
        yield Invalid(path, divisor, str(error))
        return
    if not amount or not isinstance(resource, str):
        return
    if resource in {"limits.cpu", "requests.cpu"}:
        supported = CPU_DIVISORS
    elif resource in RESOURCES or resource.startswith(_HUGE_PAGES):
        supported = SIZE_DIVISORS
    else:
        return
    if not _is_among(divisor, amount, supported):
        yield NotSupported(path, divisor, supported)


def _is_among(divisor: Any, amount: Decimal, supported: tuple[str, ...]) -> bool:
    """Return whether Kubernetes writes a divisor as one of the supported ones: it compares texts, not amounts."""
    if isinstance(divisor, str) and divisor in supported:
        return True
    if divisor != 1 and quantity.is_kept(divisor):
        return False
    match = next((text for text in supported if quantity.parse(text) == amount), None)
    if match is None or match == "1":
        return match is not None
    return not quantity.is_exponential(divisor) and quantity.is_binary(divisor) == quantity.is_binary(match)


class PlainResource(Plain):
    """The plain shape of a `resourceFieldRef`, which divides by nothing."""

    resource: Literal[RESOURCES]  # type: ignore[valid-type]  # msgspec sees them
    container_name: Annotated[str, Meta(min_length=1)] = "its own"

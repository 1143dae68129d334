"""Files of the downward API: a field of the pod, or a resource of one of its containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from jobgate.kinds.common import names, quantity
from jobgate.kinds.common.pod.volumes.fields import Fields, mapping, required, text
from jobgate.kinds.common.pod.volumes.files import mode, named_file
from webhook.cause import Cause, Invalid, NotSupported, Required
from webhook.path import Path

#: `core/v1`: the fields of a pod that a file may show, and those of them of which it may show one entry.
POD_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
POD_MAPS = ("metadata.annotations", "metadata.labels")

#: `core/v1`: the resources of a container that a file may show, beside those of huge pages.
RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")

#: What a resource is counted in: one decimal or binary unit. Kubernetes compares the divisor as it would print it.
_CPU_UNITS = frozenset({Decimal("0.001"), Decimal(1)})
_DECIMAL_UNITS = frozenset(Decimal(1000) ** power for power in range(7))
_BINARY_UNITS = frozenset(Decimal(1024) ** power for power in range(1, 7))
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+ *\Z")


def downward_file(item: Fields, path: Path) -> Iterator[Cause]:
    """A file shows one thing, a field or a resource (`core/v1` validation, DownwardAPIVolumeFile)."""
    yield from named_file(item, path)
    yield from mode(item, "mode", path)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None and resource is not None:
        yield Invalid(path, "fieldRef and resourceFieldRef", "must have only one of the two")
    if field is not None:
        yield from _pod_field(mapping(item, "fieldRef"), path / "fieldRef")
    elif resource is not None:
        yield from _container_resource(mapping(item, "resourceFieldRef"), path / "resourceFieldRef")
    else:
        yield Required(path, "must have one of fieldRef and resourceFieldRef")


def _pod_field(reference: Fields, path: Path) -> Iterator[Cause]:
    """A field is one of the few, or an entry of the labels or annotations (`core/v1`, ObjectFieldSelector)."""
    version, field = text(reference, "apiVersion"), text(reference, "fieldPath")
    if version not in ("", "v1"):
        yield NotSupported(path / "apiVersion", version, ("v1",))
    if not field:
        yield from required(reference, path, {"fieldPath": "the path of a field of the pod"})
        return
    parent, bracket, rest = field.partition("['")
    if not (parent and bracket and rest.endswith("']")):
        if field not in POD_FIELDS:
            yield NotSupported(path / "fieldPath", field, POD_FIELDS)
        return
    key = rest.removesuffix("']")
    if parent not in POD_MAPS:
        yield Invalid(path / "fieldPath", field, "must name an entry only of metadata.labels or metadata.annotations")
    elif fault := names.qualified_name(key.lower() if parent == "metadata.annotations" else key):
        yield Invalid(path / "fieldPath", field, f"the key in brackets: {fault}")


def _container_resource(reference: Fields, path: Path) -> Iterator[Cause]:
    """A resource is one of a named container's, in one of its units (`core/v1`, ResourceFieldSelector)."""
    yield from required(reference, path, {"containerName": "the container's name", "resource": "as in limits.cpu"})
    resource = text(reference, "resource")
    if resource and resource not in RESOURCES and not resource.startswith(_HUGE_PAGES):
        yield NotSupported(path / "resource", resource, RESOURCES)
    divisor = reference.get("divisor")
    if divisor is not None:
        yield from _unit(divisor, resource, path / "divisor")


def _unit(divisor: Any, resource: str, path: Path) -> Iterator[Cause]:
    """A resource is divided by a whole unit, or by none (`core/v1`, `divisor` of ResourceFieldSelector)."""
    try:
        amount = quantity.parse(divisor)
    except ValueError as error:
        yield Invalid(path, divisor, str(error))
        return
    if not amount:
        return
    if resource.endswith(".cpu") and resource in RESOURCES:
        if amount not in _CPU_UNITS or (amount != 1 and _is_exponent(divisor)):
            yield Invalid(path, divisor, "must be 1 or 1m for the cpu")
    elif (resource in RESOURCES or resource.startswith(_HUGE_PAGES)) and not _is_byte_unit(divisor, amount):
        yield Invalid(
            path, divisor, "must be 1, or 1 with one of the suffixes k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei"
        )


def _is_byte_unit(divisor: Any, amount: Decimal) -> bool:
    if _is_exponent(divisor):
        return amount == 1
    is_binary = isinstance(divisor, str) and divisor.rstrip(" ").endswith("i")
    return amount in (_BINARY_UNITS if is_binary and amount >= min(_BINARY_UNITS) else _DECIMAL_UNITS)


def _is_exponent(divisor: Any) -> bool:
    return isinstance(divisor, str) and bool(_EXPONENT.search(divisor))

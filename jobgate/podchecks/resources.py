"""Resources of containers and of whole pods: names, amounts, requests and limits, claims.

The rules are those of `core/v1` validation of Kubernetes (`validateResourceRequirements`, `validateResourceClaimNames`,
`validateResizePolicy`, `validatePodResources`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from decimal import Context, Decimal
from functools import lru_cache
from itertools import islice
from math import ceil
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct, field

from crdgen.amounts import MILLI, rounded
from jobgate import names
from jobgate.podchecks import quantity
from jobgate.podchecks.family import Family
from jobgate.podchecks.fitting import Never
from jobgate.podchecks.reading import Json, containers
from jobgate.podchecks.values import fields, listed, need, one_of
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, NotFound, Notice, NotSupported, Required
from webhook.path import Path
from webhook.text import short, shown
from webhook.values import mapping, objects, spec_of, text, unset

Amounts: TypeAlias = dict[str, Decimal]

#: The resources that every node has, and the prefix of those for huge pages.
PLAIN: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE_PAGES: Final = "hugepages-"

#: Resources of a whole pod.
OF_PODS: Final = ("cpu", "memory", "hugepages-SIZE")

#: Maximum number of claims in a message.
NAMED_CLAIMS: Final = 10

#: Precision of sums: far more digits than any amount needs.
_EXACT: Final = Context(prec=100)

#: Names and amounts that are short enough for the cache.
_Name: TypeAlias = Annotated[str, Meta(max_length=names.LABEL_LIMIT)]
_Amount: TypeAlias = Annotated[str, Meta(max_length=quantity.REMEMBERED)] | Annotated[int, Meta(ge=0, le=2**53)]


def check(pod: Json, path: Path) -> Iterator[Notice]:
    """Check the resources of every container and of the pod."""
    claims = {text(claim.get("name")): None for _, claim in objects(spec_of(pod).get("resourceClaims"))}
    for container in containers(pod, path):
        resources = container.json.get("resources")
        if resources and isinstance(resources, dict):
            here = container.path / "resources"
            yield from _requirements(resources, here)
            yield from _huge_pages_need_cpu_or_memory(resources, here)
            yield from _claims_exist(resources, claims, here / "claims")
        if policies := container.json.get("resizePolicy"):
            yield from _RESIZE_POLICIES.check(policies, container.path / "resizePolicy")
    own = spec_of(pod).get("resources")
    if isinstance(own, dict):
        yield from _requirements(own, path / "spec" / "resources", of_pod=True)
        yield from _containers_fit(pod, own, path)


def read(resources: Json, side: str, path: Path, faults: list[Cause]) -> Amounts:
    """Return the amounts of one side, `limits` or `requests`, and add a cause to `faults` for each invalid one."""
    amounts: Amounts = {}
    for name, value in mapping(resources.get(side)).items():
        try:
            amounts[name] = rounded(quantity.parse(value), MILLI)
        except ValueError as error:
            faults.append(Invalid((path / side).key(name), value, str(error)))
    return amounts


def may_overcommit(name: str) -> bool:
    """Return whether limits of a resource may exceed requests: Kubernetes' own resources, except huge pages."""
    return _is_native(name) and not name.startswith(HUGE_PAGES)


def side_fits(resources: Json, side: str, path: Path, *, of_pod: bool = False) -> Iterator[Cause]:
    """Yield the faults of one side, `limits` or `requests`, by itself.

    Names are known; no amount is negative, devices are whole numbers, and huge pages a multiple of their size.
    """
    faults: list[Cause] = []
    amounts = read(resources, side, path, faults)
    yield from faults
    for name, amount in amounts.items():
        here, value = (path / side).key(name), resources[side][name]
        if of_pod and name not in OF_PODS and not (name.startswith(HUGE_PAGES) and not names.qualified_name(name)):
            yield NotSupported(here, name, OF_PODS)
        elif not of_pod and (fault := name_fault(name)):
            yield Invalid(here, name, fault)
        if amount < 0:
            yield Invalid(here, value, "must not be negative")
        if not _is_native(name) and not quantity.is_whole(amount) and not _extended_fault(name):
            yield Invalid(here, value, "must be a whole number: extended resources cannot be divided")
        if name.startswith(HUGE_PAGES) and not _is_multiple(amount, size := name.removeprefix(HUGE_PAGES)):
            right = f"must be a multiple of the page size {size}, which must be a valid quantity"
            yield Invalid(here, value, right)


def totals(pod: Json, side: str) -> Amounts:
    """Return the maximum `requests` or `limits` of all containers that run at the same time.

    The containers and sidecars run together; an init container runs with the sidecars before it.
    """
    running: Amounts = {}
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in containers(pod, Path()):
        resources = mapping(container.json.get("resources"))
        amounts = read(resources, "limits", container.path, [])
        if side == "requests":
            amounts |= read(resources, "requests", container.path, [])
        if not container.init or container.sidecar:
            _add(running, amounts)
        if container.sidecar:
            _add(sidecars, amounts)
            _raise_to(starting, sidecars)
        elif container.init:
            _add(amounts, sidecars)
            _raise_to(starting, amounts)
    _raise_to(running, starting)
    return running


def _requirements(resources: Json, path: Path, *, of_pod: bool = False) -> Iterator[Cause]:
    """Names and amounts are valid, and requests fit limits."""
    for side in ("limits", "requests"):
        yield from side_fits(resources, side, path, of_pod=of_pod)
    limits = read(resources, "limits", path, [])
    for name, request in read(resources, "requests", path, []).items():
        limit = limits.get(name)
        if limit is None and not may_overcommit(name):
            yield Required((path / "limits").key(name), f"must equal the request: {name} cannot be overcommitted")
        elif limit is not None and limit != request and (request > limit or not may_overcommit(name)):
            relation = "at most" if may_overcommit(name) else "equal to"
            right = f"must be {relation} the limit {shown(mapping(resources['limits'])[name])}"
            yield Invalid((path / "requests").key(name), resources["requests"][name], right)


def name_fault(name: str) -> str | None:
    """Return the fault of the name of a container's resource, or None."""
    if name in PLAIN:
        return None
    if fault := names.qualified_name(name):
        return fault
    if "/" in name:
        return None if _is_native(name) else _extended_fault(name)
    if name.startswith(HUGE_PAGES):
        return None
    return "must be cpu, memory, ephemeral-storage, hugepages-<size> or a name with a domain, such as example.com/gpu"


def _extended_fault(name: str) -> str | None:
    """Return the fault of the name of a device, which must be a qualified name, or None."""
    if name.startswith("requests."):
        return "must not begin with 'requests.', which is reserved for quotas"
    if names.qualified_name(f"requests.{name}"):
        return "must have a domain of at most 244 characters, as quotas add the prefix 'requests.'"
    return None


def _is_native(name: str) -> bool:
    """Return whether a resource is Kubernetes' own, not that of a device plugin."""
    return "/" not in name or "kubernetes.io/" in name


def _huge_pages_need_cpu_or_memory(resources: Json, path: Path) -> Iterator[Cause]:
    """A container that requests huge pages also requests CPU or memory."""
    used = {*mapping(resources.get("limits")), *mapping(resources.get("requests"))}
    if "cpu" not in used and "memory" not in used and any(name.startswith(HUGE_PAGES) for name in used):
        yield Forbidden(path, "must also request cpu or memory when it requests huge pages")


def _containers_fit(pod: Json, own: Json, path: Path) -> Iterator[Cause]:
    """The limit of a container is at most the limit of its pod, in `own`."""
    pod_limits = read(own, "limits", path, [])
    for container in containers(pod, path):
        resources = mapping(container.json.get("resources"))
        for name, limit in {} if container.init else read(resources, "limits", path, []).items():
            if name in pod_limits and limit > pod_limits[name]:
                right = f"must be at most {shown(own['limits'][name])}, the limit of the pod"
                yield Invalid((container.path / "resources" / "limits").key(name), resources["limits"][name], right)


def _claims_exist(resources: Json, known: Collection[str], path: Path) -> Iterator[Cause]:
    """A container refers to claims of its pod: once to a whole claim, or once to each of its requests."""
    seen: dict[str, set[str]] = {}
    for index, claim in objects(resources.get("claims")):
        name, request = claim.get("name"), text(claim.get("request"))
        if unset(name):
            yield Required(path / index / "name")
        if not isinstance(name, str) or not name:
            continue
        requests = seen.setdefault(name, set())
        if requests and (not request or not requests.isdisjoint(("", request))):
            yield Duplicate(path / index, f"{name}/{request}" if request else name)
        requests.add(request)
        if name not in known:
            choices = ", ".join(map(short, islice(filter(None, known), NAMED_CLAIMS)))
            detail = f"must be one of {choices}" if choices else "the pod has no resourceClaims"
            yield NotFound(path / index / "name", name, detail)


_RESIZE_POLICIES: Final = listed(
    fields(
        resourceName=need(one_of(("cpu", "memory"))),
        restartPolicy=need(one_of(("NotRequired", "RestartContainer"))),
    )
)


def _is_multiple(amount: Decimal, size: str) -> bool:
    try:
        page = quantity.parse(size)
    except ValueError:
        return False
    # The exponents of quantities are bounded, so these integers have at most about a thousand digits.
    return page > 0 and quantity.is_whole(page) and ceil(amount) % int(page) == 0


def _add(total: Amounts, amounts: Mapping[str, Decimal]) -> None:
    for name, amount in amounts.items():
        total[name] = _EXACT.add(total[name], amount) if name in total else amount


def _raise_to(total: Amounts, amounts: Mapping[str, Decimal]) -> None:
    for name, amount in amounts.items():
        total[name] = max(amount, total.get(name, amount))


class _Requirements(Struct, forbid_unknown_fields=True, gc=False):
    """The plain type of resources, without nulls."""

    limits: dict[_Name, _Amount] = field(default_factory=dict)
    requests: dict[_Name, _Amount] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, limit in self.limits.items():
            if not _fits(name, limit, limit):
                raise ValueError("a limit that may be wrong")
        for name, request in self.requests.items():
            if not _fits(name, request, self.limits.get(name)):
                raise ValueError("a request that may be wrong, or not fit its limit")


@lru_cache(maxsize=4096)
def _fits(name: str, request: str | int, limit: str | int | None) -> bool:
    """Return whether a request is valid with its limit."""
    try:
        requested, maximum = quantity.parse(request), quantity.parse(limit)
    except ValueError:
        return False
    if requested < 0 or name_fault(name) or name.startswith(HUGE_PAGES):
        return False
    if name in PLAIN:
        return limit is None or requested <= maximum
    return requested == maximum and quantity.is_whole(requested) and limit is not None


FAMILY = Family(check=check, container={"resources": _Requirements, "resizePolicy": Never}, spec={"resources": Never})

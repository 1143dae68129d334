"""Resources of containers: names, amounts, requests and limits, claims, and what a resize does.

The rules are those of `core/v1` validation of Kubernetes (`ValidateContainerResourceRequirements`,
`validateResourceClaimNames`, `validateResizePolicy`), fields `resources` and `resizePolicy`. Those of the
whole pod are in `pod_resources`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import islice
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, field

from jobgate import names
from jobgate.kinds.common import quantity
from jobgate.kinds.common.pod import amounts
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import Json, PodContainer, containers, objects, spec_of, unset
from jobgate.kinds.common.pod.shapes import Plain
from webhook.cause import Cause, Duplicate, Invalid, NotFound, Notice, NotSupported, Required
from webhook.path import Path
from webhook.text import short

RESIZED: Final = ("cpu", "memory")
RESIZE_POLICIES: Final = ("NotRequired", "RestartContainer")

#: As many claims as a message names.
NAMED_CLAIMS: Final = 10

#: Names and amounts so short that they can be remembered.
_Name: TypeAlias = Annotated[str, Meta(max_length=names.LABEL_LIMIT)]
_Amount: TypeAlias = Annotated[str, Meta(max_length=quantity.REMEMBERED)] | Annotated[int, Meta(ge=0, le=2**53)]


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the resources of every container."""
    claimed: Collection[str] | None = None
    for container in containers(pod, path):
        resources = container.json.get("resources")
        if resources and isinstance(resources, dict):
            yield from requirements_fit(resources, container.path / "resources")
            if resources.get("claims"):
                claimed = _claims_of(pod) if claimed is None else claimed
                yield from _claims_are_the_pods(resources, claimed, container.path / "resources" / "claims")
        if container.json.get("resizePolicy"):
            yield from resize_policies_fit_the_pod(container, pod)


def requirements_fit(resources: Json, path: Path) -> Iterator[Cause]:
    """Names and amounts are legal, requests do not exceed limits, and what is not shared is limited to its request."""
    faults: list[Cause] = []
    limits = amounts.rounded(amounts.read(resources, "limits", path, faults))
    requests = amounts.rounded(amounts.read(resources, "requests", path, faults))
    yield from faults
    for side, given in (("limits", limits), ("requests", requests)):
        yield from _side_fits(resources, side, given, path)
    yield from amounts.requests_fit_limits(resources, requests, limits, path)
    yield from amounts.huge_pages_have_company({*limits, *requests}, path)


def side_fits(resources: Json, side: str, path: Path) -> Iterator[Cause]:
    """Names and amounts of one side, `limits` or `requests`, are legal by themselves."""
    faults: list[Cause] = []
    given = amounts.rounded(amounts.read(resources, side, path, faults))
    yield from faults
    yield from _side_fits(resources, side, given, path)


def _side_fits(resources: Json, side: str, given: amounts.Amounts, path: Path) -> Iterator[Cause]:
    for name in given:
        if name not in amounts.PLAIN and (fault := name_fault(name)):
            yield Invalid((path / side).key(name), name, fault)
    yield from amounts.amounts_are_legal(resources, side, given, path)


def name_fault(name: str) -> str | None:
    """Return what is wrong with the name of a resource of a container, or None."""
    if fault := names.qualified_name(name):
        return fault
    if "/" in name:
        return None if amounts.is_native(name) else amounts.extended_fault(name)
    if name in amounts.PLAIN or name.startswith(amounts.HUGE_PAGES):
        return None
    return "must be cpu, memory, ephemeral-storage, hugepages-<size> or a name with a domain, such as example.com/gpu"


def _claims_of(pod: Json) -> Collection[str]:
    """Return the names of the claims of a pod, in order."""
    claims = objects(spec_of(pod).get("resourceClaims"))
    return {claim["name"]: None for _, claim in claims if isinstance(claim.get("name"), str)}


def _claims_are_the_pods(resources: Json, known: Collection[str], path: Path) -> Iterator[Cause]:
    """A container refers to claims of its pod, to each one once: to the whole of it, or to its requests one by one."""
    whole: set[str] = set()
    parts: set[tuple[str, str]] = set()
    parted: set[str] = set()
    for index, claim in objects(resources.get("claims")):
        name, request = claim.get("name"), claim.get("request")
        if unset(name):
            yield Required(path / index / "name")
            continue
        if not isinstance(name, str):
            continue
        if isinstance(request, str) and request:
            if name not in whole and (fault := names.dns_label(request)):
                yield Invalid(path / index / "request", request, fault)
            if name in whole or (name, request) in parts:
                yield Duplicate(path / index, f"{name}/{request}")
            parts.add((name, request))
            parted.add(name)
        else:
            if name in whole or name in parted:
                yield Duplicate(path / index, name)
            whole.add(name)
        if name not in known:
            one = ", ".join(map(short, islice(known, NAMED_CLAIMS)))
            yield NotFound(
                path / index / "name", name, f"must be one of {one}" if one else "the pod has no resourceClaims"
            )


def resize_policies_fit_the_pod(container: PodContainer, pod: Json) -> Iterator[Cause]:
    """A resize policy is given once for cpu, once for memory; a pod that never restarts resizes without a restart."""
    seen: set[str] = set()
    never = spec_of(pod).get("restartPolicy") == "Never"
    for index, policy in objects(container.json.get("resizePolicy")):
        here = container.path / "resizePolicy" / index
        resource, restart = policy.get("resourceName"), policy.get("restartPolicy")
        if unset(resource):
            yield Required(here / "resourceName")
        elif isinstance(resource, str):
            if resource in seen:
                yield Duplicate(here / "resourceName", resource)
            elif resource not in RESIZED:
                yield NotSupported(here / "resourceName", resource, RESIZED)
            seen.add(resource)
        if unset(restart):
            yield Required(here / "restartPolicy")
        elif isinstance(restart, str) and restart not in RESIZE_POLICIES:
            yield NotSupported(here / "restartPolicy", restart, RESIZE_POLICIES)
        elif restart == "RestartContainer" and (never or (container.init and not container.sidecar)):
            why = "when the pod's restartPolicy is Never" if never else "on an init container that is not a sidecar"
            yield Invalid(here / "restartPolicy", restart, f"must be NotRequired {why}")


class _Requirements(Plain):
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
    """Return whether no rule has anything to say of a request and the limit beside it."""
    try:
        asked, most = quantity.parse(request), quantity.parse(limit)
    except ValueError:
        return False
    if asked < 0 or name_fault(name) or name.startswith(amounts.HUGE_PAGES):
        return False
    if name in amounts.PLAIN:
        return limit is None or asked <= most
    return asked == most and quantity.is_whole(asked) and limit is not None


FAMILY = Family(check=check, container={"resources": _Requirements, "resizePolicy": LOOK})

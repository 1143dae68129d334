"""Resources of the pod as a whole, within which its containers share.

The rules are those of `core/v1` validation of Kubernetes (`validatePodResources`), field `spec.resources`, after the
defaulting of `SetDefaults_Pod`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from typing import Final

from jobgate import names
from jobgate.kinds.common.pod import amounts
from jobgate.kinds.common.pod.amounts import Amounts
from jobgate.kinds.common.pod.family import LOOK, Family
from jobgate.kinds.common.pod.reading import Json, containers, mapping, spec_of
from webhook.cause import Cause, Forbidden, Invalid, Notice, NotSupported
from webhook.path import Path
from webhook.text import shown

SUPPORTED: Final = ("cpu", "memory", "hugepages-SIZE")

#: Digits that sums are exact to: far more than any machine has bytes.
_EXACT: Final = Context(prec=100)


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check the resources of the pod, where it has any of its own."""
    resources = spec_of(pod).get("resources")
    if not isinstance(resources, dict):
        return
    here = path / "spec" / "resources"
    if mapping(spec_of(pod).get("os")).get("name") == "windows":
        yield Forbidden(here, "not supported for Windows pods: set the resources of the containers")
        return
    if resources.get("claims") is not None:
        yield Forbidden(here / "claims", "not supported for pods: set the claims of the containers")
    faults: list[Cause] = []
    limits = amounts.read(resources, "limits", here, faults)
    requests = amounts.read(resources, "requests", here, faults)
    yield from faults
    _default(requests, limits, totals(pod, "requests"), totals(pod, "limits"))
    limits, requests = amounts.rounded(limits), amounts.rounded(requests)
    for side, given in (("limits", limits), ("requests", requests)):
        yield from supported_resources_only(given, here / side)
        yield from amounts.amounts_are_legal(resources, side, given, here)
    yield from amounts.requests_fit_limits(resources, requests, limits, here)
    yield from amounts.huge_pages_have_company({*limits, *requests}, here)
    yield from containers_fit_into_the_pod(pod, requests, limits, here)
    yield from no_container_may_exceed_the_pod(pod, limits, path)


def supported_resources_only(given: Amounts, path: Path) -> Iterator[Cause]:
    """A pod as a whole has CPU, memory and huge pages."""
    for name in given:
        if name not in SUPPORTED[:2] and (not name.startswith(amounts.HUGE_PAGES) or names.qualified_name(name)):
            yield NotSupported(path.key(name), name, SUPPORTED)


def containers_fit_into_the_pod(pod: Json, requests: Amounts, limits: Amounts, path: Path) -> Iterator[Cause]:
    """The requests of the containers fit together into the pod's, and so do the limits of huge pages."""
    for side, given in (("requests", requests), ("limits", limits)):
        for name, total in totals(pod, side, rounded=True).items():
            if side == "limits" and not name.startswith(amounts.HUGE_PAGES):
                continue
            if name in given and total > given[name]:
                value = amounts.written(mapping(spec_of(pod).get("resources")), side, name, given[name])
                yield Invalid(
                    (path / side).key(name), value, f"must be at least {total}, the total {side} of the containers"
                )


def no_container_may_exceed_the_pod(pod: Json, limits: Amounts, path: Path) -> Iterator[Cause]:
    """The limit of a container is at most the limit of its pod."""
    for container in containers(pod, path):
        resources = mapping(container.json.get("resources"))
        if container.init or not resources:
            continue
        here = container.path / "resources"
        for name, limit in amounts.rounded(amounts.read(resources, "limits", here, [])).items():
            if name in limits and limit > limits[name]:
                most = shown(amounts.written(mapping(spec_of(pod).get("resources")), "limits", name, limits[name]))
                value = amounts.written(resources, "limits", name, limit)
                yield Invalid((here / "limits").key(name), value, f"must be at most {most}, the limit of the pod")


def totals(pod: Json, side: str, *, rounded: bool = False) -> Amounts:
    """Return what the containers of a pod have together, at most, at one time: `requests` or `limits`.

    The containers and sidecars run together; an init container runs with the sidecars that stand before it.
    """
    running: Amounts = {}
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in containers(pod, Path()):
        resources = mapping(container.json.get("resources"))
        given = amounts.read(resources, "limits", container.path, [])
        if side == "requests":
            given |= amounts.read(resources, "requests", container.path, [])
        if rounded:
            given = amounts.rounded(given)
        if not container.init or container.sidecar:
            _add(running, given)
        if container.sidecar:
            _add(sidecars, given)
            _raise_to(starting, sidecars)
        elif container.init:
            _add(given, sidecars)
            _raise_to(starting, given)
    _raise_to(running, starting)
    return running


def _default(requests: Amounts, limits: Amounts, requested: Amounts, limited: Amounts) -> None:
    """Fill in what the API server does: the pod's limits of huge pages, then its requests, where limits are given."""
    if limits or requests:
        for name, total in limited.items():
            if name.startswith(amounts.HUGE_PAGES) and name not in requests:
                limits.setdefault(name, total)
    if limits:
        for name, total in requested.items():
            if name in SUPPORTED[:2]:
                requests.setdefault(name, total)
        for name, limit in limits.items():
            if name in SUPPORTED[:2] or name.startswith(amounts.HUGE_PAGES):
                requests.setdefault(name, limit)


def _add(total: Amounts, given: Mapping[str, Decimal]) -> None:
    for name, amount in given.items():
        total[name] = _EXACT.add(total[name], amount) if name in total else amount


def _raise_to(total: Amounts, given: Mapping[str, Decimal]) -> None:
    for name, amount in given.items():
        if name not in total or amount > total[name]:
            total[name] = amount


FAMILY = Family(check=check, spec={"resources": LOOK})

"""Init containers: those that end before the others start, and native sidecars (`restartPolicy: Always`).

The rules are those of `core/v1` validation of Kubernetes (`validateInitContainers`), field `spec.initContainers`. What
holds for every container (its restart policy too) stands with the containers, and the rules of sidecars' probes and
hooks with those of probes and hooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.parts import Container, Json, containers
from jobgate.kinds.common.pod.reading import objects, spec_of
from webhook.cause import Cause, Forbidden, Invalid, Notice
from webhook.path import Path

#: What only a container that keeps running may have.
_OF_RUNNING_CONTAINERS: Final = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def check(pod: Json, path: Path) -> Iterator[Cause | Notice]:
    """Check what is particular to init containers."""
    if spec_of(pod).get("initContainers"):
        for container in containers(pod, path):
            if container.init and not container.sidecar:
                yield from plain_init_containers_have_no_hooks_and_probes(container)
                yield from plain_init_containers_are_not_restarted_to_resize(container)


def plain_init_containers_have_no_hooks_and_probes(container: Container) -> Iterator[Cause]:
    """Hooks and probes belong to containers that keep running, as native sidecars do."""
    for field in _OF_RUNNING_CONTAINERS:
        value = container.json.get(field)
        if value is not None and not (field == "lifecycle" and _is_stop_signal_only(value)):
            yield Forbidden(container.path / field, "may only be set on an init container with restartPolicy Always")


def plain_init_containers_are_not_restarted_to_resize(container: Container) -> Iterator[Cause]:
    """An init container that ends is not restarted when its resources change."""
    for index, policy in objects(container.json.get("resizePolicy")):
        if policy.get("restartPolicy") == "RestartContainer":
            where = container.path / "resizePolicy" / index / "restartPolicy"
            yield Invalid(where, "RestartContainer", "must be NotRequired on an init container that is not a sidecar")


def _is_stop_signal_only(lifecycle: object) -> bool:
    """Return whether no lifecycle is left: API servers drop `stopSignal`, a feature that is off by default."""
    if not isinstance(lifecycle, dict) or lifecycle.get("stopSignal") is None:
        return False
    return lifecycle.get("postStart") is None and lifecycle.get("preStop") is None


def _none_has_what_only_running_containers_may_have(spec: Json, _: Sequence[Json]) -> bool:
    return "initContainers" not in spec or all(
        container.keys().isdisjoint((*_OF_RUNNING_CONTAINERS, "resizePolicy")) for container in spec["initContainers"]
    )


FAMILY = Family(check=check, spec={"initContainers": list}, agree=_none_has_what_only_running_containers_may_have)

"""Pods on nodes that do not answer: they are deleted, but nobody reports their end, so nothing replaces them.

`LostPods` finds those that a deadline of the installation lets the runner delete by force. A pod with a volume that its
replacement can write to, too, is left to people: they delete it by force, or taint its node as out of service.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.runner.subject import LONG_AGO, Observed, condition_of, moment
from webhook.values import mapping, metadata_of, objects, spec_of, text

NODES: Final = Resource("nodes", "v1", "")
#: The key of a pod, as it is kept, that says whether it shares a volume.
SHARES: Final = "sharesVolume"
#: Seconds until a node is read again.
PERIOD: Final = 10.0
#: Sources of volumes that no other pod can write to.
_OWN: Final = frozenset(
    {"emptyDir", "configMap", "secret", "downwardAPI", "projected", "ephemeral", "image", "gitRepo"}
)

_logger = logging.getLogger("jobgate")


class LostPods:
    """Finds pods that have not ended in time because their node does not answer."""

    def __init__(self, objects: ObjectClient, deadline: float) -> None:
        """`deadline` is the number of seconds after the end of a pod's grace period."""
        self._objects = objects
        self._deadline = deadline
        #: By node: when it was read, and whether it answers.
        self._known: dict[str, tuple[datetime, bool]] = {}
        #: When it was last reported that a node cannot be read.
        self._reported = LONG_AGO

    async def find(self, observed: Observed) -> tuple[frozenset[str], float | None]:
        """Return the uids of these pods, and the seconds until to ask again; None for never."""
        lost, waits = set[str](), list[float]()
        for pod in observed.pods:
            end, node = moment(metadata_of(pod).get("deletionTimestamp")), text(spec_of(pod).get("nodeName"))
            live = mapping(pod.get("status")).get("phase") in {"Pending", "Running", "Unknown", None}
            if end is None or not node or not live or pod.get(SHARES):
                continue
            wait = self._deadline - (observed.now - end).total_seconds()
            if wait <= 0 and not await self._answers(node, observed.now):
                lost.add(text(metadata_of(pod).get("uid")))
            else:
                waits.append(max(wait, PERIOD))
        return frozenset(lost), min(waits, default=None)

    async def _answers(self, name: str, now: datetime) -> bool:
        """Return whether the kubelet of a node reports its state; a node that was deleted does not answer."""
        read = self._known.get(name)
        if read is None or (now - read[0]).total_seconds() >= PERIOD:
            answers = await self._read(name, now)
            self._known = {
                key: value for key, value in self._known.items() if (now - value[0]).total_seconds() < PERIOD
            }
            self._known[name] = now, answers
        return self._known[name][1]

    async def _read(self, name: str, now: datetime) -> bool:
        """Read whether a node answers; one that cannot be read counts as if it did."""
        try:
            node = await self._objects.get(NODES, name) or {}
        except (ApiError, OSError) as error:
            if (now - self._reported).total_seconds() >= PERIOD:
                self._reported = now  # for all nodes: the runner may lack the right
                fields = {"node": name, "reason": f"{type(error).__qualname__}: {error}"}
                _logger.warning("cannot read a node, its pods are kept, will be retried", extra={"fields": fields})
            return True
        # The node controller writes Unknown when no kubelet has written for a while.
        ready = condition_of(mapping(node.get("status")), "Ready").get("status", "Unknown")
        return bool(ready != "Unknown")


def shares_volume(spec: Mapping[str, Any]) -> bool:
    """Return whether the spec of a pod has a volume that other pods can write to as well, and mounts it writable."""
    containers = [container for field in ("initContainers", "containers") for _, container in objects(spec.get(field))]
    writable = {
        text(mount.get("name"))
        for container in containers
        for field in ("volumeMounts", "volumeDevices")
        for _, mount in objects(container.get(field))
        if mount.get("readOnly") is not True
    }
    return any(
        mapping(source).get("readOnly") is not True
        for _, volume in objects(spec.get("volumes"))
        if text(volume.get("name")) in writable
        for kind, source in volume.items()
        if kind != "name" and kind not in _OWN
    )

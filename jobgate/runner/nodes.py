"""Caches of all nodes and pods, with few fields of each: where elastic jobs have room to grow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from jobgate.cluster import Informer
from jobgate.plugins.crew import TASK_LABEL
from jobgate.room import Room
from jobgate.runner.lost import NODES
from jobgate.runner.placement import Places, needs_of, room_of
from jobgate.runner.queues.demand import Demand
from jobgate.runner.seen import PODS, controllers_of
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

#: Memory for nodes and pods, in bytes: enough for 2,000 nodes and 40,000 pods.
ROOM: Final = 96 * 1024 * 1024


class Nodes:
    """Nodes, and their pods, which are counted as they change: a decision need not read all of them."""

    def __init__(self) -> None:
        """Create empty caches."""
        room = Room(ROOM)
        self.nodes = Informer(NODES, keep=_node, room=room, weigh=lambda node: 512 + len(node[0]))
        self.pods = Informer(PODS, keep=_pod, changed=self._count, room=room, weigh=lambda pod: 512 + 64 * len(pod[2]))
        self._counted: dict[tuple[str, str], tuple[str, str, Counter[str]]] = {}
        self._used: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._bound = Counter[str]()

    def places(self, jobs: Iterable[tuple[Demand, Iterable[Mapping[str, Any]]]]) -> Places:
        """Return what is free after the pods of jobs that may run, each with its batch Jobs; nothing if not known."""
        places = Places({}, {})
        try:
            nodes = {name: self.nodes.get(name) for _, name in sorted(self.nodes.keys())}
            self.pods.check("")
        except LookupError:
            return places
        if self.pods.unkept:
            return places
        for name, node in nodes.items():
            places.nodes[name], size = node or (b"", Counter[str]())
            places.free[name] = Counter(size)
            places.free[name].subtract(self._used.get(name, {}))
        for demand, batches in jobs:
            uids = {text(labels_of(batch).get(TASK_LABEL)): text(metadata_of(batch).get("uid")) for batch in batches}
            for name, shape in demand.shapes.items():
                # Pods that are created or bound in a moment.
                for _ in range(demand.sizes[name] - (self._bound[uids[name]] if name in uids else 0)):
                    if not places.claim(shape):
                        break
        return places

    def _count(self, key: tuple[str, str]) -> None:
        """Count a pod that has changed."""
        before, now = self._counted.pop(key, None), self.pods.peek(key[1], key[0])
        for (node, owner, needs), times in [(pod, times) for pod, times in ((before, -1), (now, 1)) if pod]:
            self._used[node].update({name: times * amount for name, amount in needs.items()})
            self._used[node] += Counter()  # without those of nothing
            self._bound[owner] += times
            if not self._used[node]:
                del self._used[node]
            if not self._bound[owner]:
                del self._bound[owner]
        if now:
            self._counted[key] = now


def _node(stored: dict[str, Any]) -> tuple[bytes, Counter[str]]:
    """Return JSON of the fields by which pods are placed, without heartbeats, and what a node has for pods."""
    status, spec = mapping(stored.get("status")), spec_of(stored)
    ready = [{field: each.get(field) for field in ("type", "status")} for _, each in objects(status.get("conditions"))]
    kept = {"labels": labels_of(stored)}, {field: spec.get(field) for field in ("taints", "unschedulable")}
    placing = {"metadata": kept[0], "spec": kept[1], "status": {"conditions": ready}}
    return msgspec.json.encode(placing), room_of(stored)


def _pod(stored: dict[str, Any]) -> tuple[str, str, Counter[str]]:
    """Return node, controller and needs of a pod; no needs if it has ended, no controller if it has no node."""
    ended = mapping(stored.get("status")).get("phase") in {"Succeeded", "Failed"}
    node = text(spec_of(stored).get("nodeName"))
    owner = "".join(controllers_of(stored)) if node else ""
    return node, owner, needs_of(spec_of(stored)) if node and not ended else Counter()

"""Caches of all nodes and pods, with few fields of each: where elastic jobs have room, and other jobs lack it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from jobgate.cluster import Informer
from jobgate.jobs.members import index_of
from jobgate.plugins.crew import COMPLETION_INDEX, TASK_LABEL
from jobgate.room import Room
from jobgate.runner.elastic.decision import ElasticJob
from jobgate.runner.lost import NODES
from jobgate.runner.placement import Places, needs_of, room_of
from jobgate.runner.queues.demand import Demand
from jobgate.runner.seen import PODS, controllers_of
from jobgate.runner.waiting import scheduled
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

#: Memory for nodes and pods, in bytes: enough for 2,000 nodes and 40,000 pods.
ROOM: Final = 96 * 1024 * 1024
#: What kube-scheduler says if resources are lacking. Other schedulers, as Volcano's, which may give room to other pods,
#: and the message about a claim, have other words.
_SHORT: Final = re.compile(r"\d+/\d+ nodes are available: .*(Insufficient |Too many pods)")
_LEAVING: Final = "leaving"


@dataclass(frozen=True, slots=True)
class _Pod:
    """A pod.

    Attributes:
        node: that it was bound to; empty for none.
        crew: uid of its controller; empty if it has failed, so that it is replaced, `_LEAVING` if it is being deleted.
        index: its completion index; -1 for none.
        needs: what it takes of a node; nothing if it has ended.
        waits: whether the scheduler has found no node with room for it.
    """

    node: str
    crew: str
    index: int
    needs: Counter[str]
    waits: bool


class Nodes:
    """Nodes, and their pods, which are counted as they change: a decision need not read all of them."""

    def __init__(self) -> None:
        """Create empty caches."""
        room = Room(ROOM)
        self.nodes = Informer(NODES, keep=_node, room=room, weigh=lambda node: 512 + len(node[0]))
        self.pods = Informer(
            PODS, keep=_pod, changed=self._count, room=room, weigh=lambda pod: 512 + 64 * len(pod.needs)
        )
        self._counted: dict[tuple[str, str], _Pod] = {}
        self._used: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._crews: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)

    def places(
        self, jobs: Sequence[tuple[str, Demand, Iterable[Mapping[str, Any]]]], elastic: Iterable[ElasticJob] = ()
    ) -> Places:
        """Return what is free after the pods of jobs that may run; nothing if not known.

        `jobs` are by key, each with its batch Jobs, the most urgent first; of these the `elastic` may be resized.
        """
        places, crews, growing = self._room(), dict[tuple[str, str], dict[int, _Pod]](), list[bytes]()
        for key, demand, batches in jobs:
            for batch in batches:
                name = text(labels_of(batch).get(TASK_LABEL))
                pods = map(self._counted.__getitem__, self._crews.get(text(metadata_of(batch).get("uid")), ()))
                crew = crews[key, name] = {pod.index: pod for pod in pods}
                for pod in (pod for index, pod in crew.items() if index >= demand.sizes.get(name, index + 1)):
                    places.leave(pod.node, pod.needs)  # it is deleted in a moment
        lows = {(job.key, task.name): task.low for job in elastic for task in job.tasks}
        for key, demand, _ in jobs:
            short, waits = Counter[bytes](), False
            for name, shape in demand.shapes.items():
                crew, low = crews.get((key, name), {}), lows.get((key, name), demand.sizes[name])
                needed = [crew.get(index) for index in range(demand.sizes[name])]
                # Also pods that are created or bound in a moment.
                unbound = [pod is None or (not pod.node and bool(pod.needs)) for pod in needed]
                without = sum(not places.claim(shape) for _ in range(sum(unbound[:low])))
                short.update({shape: without} if crew and without else {})
                waits |= any(pod is not None and pod.waits for pod in needed[:low])
                growing += [shape] * sum(unbound[low:])
                if (key, name) in lows:
                    places.shapes[key, name] = shape
                    places.extra[key, name] = [(pod.node, pod.needs) if pod else ("", {}) for pod in needed[low:]]
            places.waiting += [short] if waits else []
        for shape in growing:
            places.claim(shape)
        return places

    def _room(self) -> Places:
        places = Places()
        try:
            nodes = {name: self.nodes.get(name) for _, name in sorted(self.nodes.keys())}
            self.pods.check("")
        except LookupError:
            return places
        for name, node in nodes.items() if not self.pods.unkept else ():
            places.nodes[name], size = node or (b"", Counter[str]())
            places.free[name] = Counter(size)
            places.free[name].subtract(self._used.get(name, {}))
        for key in self._crews.get(_LEAVING, ()):
            places.leave(self._counted[key].node, self._counted[key].needs)
        return places

    def _count(self, key: tuple[str, str]) -> None:
        """Count a pod that has changed."""
        before, now = self._counted.pop(key, None), self.pods.peek(key[1], key[0])
        for pod, times in [(pod, times) for pod, times in ((before, -1), (now, 1)) if pod]:
            self._used[pod.node].update({name: times * amount for name, amount in pod.needs.items()})
            self._used[pod.node] += Counter()  # without those of nothing
            self._crews[pod.crew] ^= {key}
            for counts, group in ((self._used, pod.node), (self._crews, pod.crew)):
                if not counts[group]:
                    del counts[group]
        if now:
            self._counted[key] = now


def _node(stored: dict[str, Any]) -> tuple[bytes, Counter[str]]:
    """Return JSON of the fields by which pods are placed, without heartbeats, and what a node has for pods."""
    status, spec = mapping(stored.get("status")), spec_of(stored)
    ready = [{field: each.get(field) for field in ("type", "status")} for _, each in objects(status.get("conditions"))]
    kept = {"labels": labels_of(stored)}, {field: spec.get(field) for field in ("taints", "unschedulable")}
    placing = {"metadata": kept[0], "spec": kept[1], "status": {"conditions": ready}}
    return msgspec.json.encode(placing), room_of(stored)


def _pod(stored: dict[str, Any]) -> _Pod:
    status, spec = mapping(stored.get("status")), spec_of(stored)
    phase, node = text(status.get("phase")), text(spec.get("nodeName"))
    index = index_of(labels_of(stored).get(COMPLETION_INDEX))
    # With a nominated node, pods that the scheduler evicts make room.
    short = phase in {"", "Pending"} and not (node or status.get("nominatedNodeName"))
    crew = "" if phase == "Failed" else "".join(controllers_of(stored))[:36]  # a uid has no more
    return _Pod(
        node,
        _LEAVING if metadata_of(stored).get("deletionTimestamp") else crew,
        -1 if index is None else index,
        Counter() if phase in {"Succeeded", "Failed"} else needs_of(spec),
        waits=short and bool(_SHORT.match(text(scheduled(stored).get("message")))),
    )

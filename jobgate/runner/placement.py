"""What a pod asks for, and which nodes take it, by those filters of the scheduler that depend on single nodes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from jobgate.podchecks.quantity import parse
from jobgate.podchecks.resources import read, totals
from jobgate.runner.queues.admission import Amounts
from jobgate.runner.subject import condition
from webhook import Path
from webhook.values import items, labels_of, mapping, objects, spec_of, text

PODS: Final = "pods"
#: The taint of a cordoned node, which it gets a moment later.
_CORDON: Final = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


#: A task: the key of its job, and its name.
_Task: TypeAlias = tuple[str, str]
#: Longest shape of pods that are placed, in bytes: a toleration more is a comparison more for each node.
_LONGEST: Final = 4096


@dataclass(slots=True)
class Places:
    """Nodes, while pods are placed one by one: what fits into the sum of all may fit on none.

    Attributes:
        nodes: JSON of each.
        free: by node, what is free once the pods that leave are gone, in thousandths.
        leaving: by node, what those still use.
        shapes: by elastic task, the shape of its pods.
        extra: by elastic task, node and needs of each pod beyond its minimum, by index.
        waiting: by job that waits for nodes, the most urgent first, the shapes of its pods without room.
        promised: whether pods wait only for others to leave.
    """

    nodes: dict[str, bytes] = field(default_factory=dict)
    free: dict[str, Counter[str]] = field(default_factory=dict)
    leaving: dict[str, Counter[str]] = field(default_factory=dict)
    shapes: dict[_Task, bytes] = field(default_factory=dict)
    extra: dict[_Task, list[tuple[str, Mapping[str, int]]]] = field(default_factory=dict)
    waiting: list[Counter[bytes]] = field(default_factory=list)
    promised: bool = False
    _untried: dict[bytes, list[str]] = field(default_factory=dict)
    _uncovered: set[frozenset[tuple[bytes, int]]] = field(default_factory=set)
    _most: dict[str, Counter[str]] = field(default_factory=dict)

    def claim(self, shape: bytes) -> bool:
        """Claim room for a pod on the first node that has it; return whether there is any."""
        nodes = self._untried.setdefault(shape, [*reversed(self.free)])  # room only gets less
        while nodes and not self._claim_on(nodes[-1], shape):
            nodes.pop()
        return bool(nodes)

    def _claim_on(self, node: str, shape: bytes) -> bool:
        fits = len(shape) <= _LONGEST and node in self.free and not _needs(shape) - self.free[node]
        fits = fits and not _refuses(self.nodes[node], shape)
        if fits:
            self._use(node, shape)
        return fits

    def _use(self, node: str, shape: bytes, times: int = 1) -> None:
        for counts in (self.free, self._most):
            counts.get(node, Counter()).subtract({name: times * amount for name, amount in _needs(shape).items()})

    def _may_fit(self, shape: bytes, count: int) -> bool:
        """Return whether so many pods of a shape would have room if all pods beyond the minimum left.

        It looks at each node once, where `make_room` looks at each pod: many jobs may wait for what cannot be had.
        """
        if not self._most:
            self._most = {node: Counter(self.free[node]) for node, gone in self.leaving.items() if any(gone.values())}
            for node, needs in (pod for pods in self.extra.values() for pod in pods if pod[0] in self.free):
                self._most.setdefault(node, Counter(self.free[node])).update(needs)
        for node, most in self._most.items():
            if count > 0 and not (_needs(shape) - most or _refuses(self.nodes[node], shape)):
                count -= min((most[name] // amount for name, amount in _needs(shape).items()), default=count)
        return count <= 0

    def leave(self, node: str, needs: Mapping[str, int], times: int = 1) -> None:
        """Count a pod as one that leaves, or with -1 no longer."""
        for counts in (self.free[node], self.leaving.setdefault(node, Counter())) if node in self.free else ():
            counts.update({name: times * amount for name, amount in needs.items()})

    def make_room(self, shapes: Mapping[bytes, int], order: Iterable[_Task]) -> Counter[_Task]:
        """Claim room for so many pods of each shape; return how many pods of each task must leave for them.

        The pods with the highest indexes leave first, of the first task that has any. None leaves if that would not be
        enough, and none whose room is not needed, unless one with a lower index must leave.
        """
        taken, claims = list[tuple[_Task, str, Mapping[str, int]]](), list[tuple[str, bytes]]()
        asked = frozenset(shapes.items())
        fits = asked not in self._uncovered and all(self._may_fit(shape, count) for shape, count in asked)
        rest = ((task, *self.extra[task].pop()) for task in order for _ in [*self.extra.get(task, ())])
        for shape, count in shapes.items() if fits else ():
            nodes, placed = [node for node, gone in self.leaving.items() if any(gone.values())], 0
            while fits and placed < count:
                if nodes and self._claim_on(nodes[-1], shape):
                    claims.append((nodes[-1], shape))
                    placed += 1
                elif nodes:
                    nodes.pop()
                elif pod := next(rest, None):
                    taken.append(pod)
                    self.leave(*pod[1:])
                    nodes.append(pod[1])
                else:
                    fits = False
        for node, shape in () if fits else claims:
            self._use(node, shape, -1)
        leave = Counter[_Task]()
        for task, node, needs in reversed(taken):
            if fits and (task in leave or Counter(needs) - self.free.get(node, Counter(needs))):
                leave[task] += 1
            else:
                self.leave(node, needs, -1)
                self.extra[task].append((node, needs))
        self._uncovered |= set() if fits else {asked}
        self.promised |= fits
        return leave

    def settle(self) -> None:
        """Leave to growth only what is free already, and nothing while its pods could get a place that is promised."""
        left = {node: needs for node, needs in self.leaving.items() if any(needs.values())}
        for node, needs in left.items():
            self.free[node].subtract(needs)
        for shape in set(self.shapes.values()) if self.promised else ():
            if not all(_refuses(self.nodes[node], shape) for node in left):
                self._untried[shape] = []

    def grow(self, job: str, task: str) -> bool:
        """Claim room for one more pod of an elastic task; return whether there is any."""
        return (job, task) in self.shapes and self.claim(self.shapes[job, task])


@lru_cache(2**12)
def _needs(shape: bytes) -> Counter[str]:
    return Counter(msgspec.json.decode(shape)["needs"])


@lru_cache(2**17)
def _refuses(node: bytes, shape: bytes) -> bool:
    return bool(barrier(msgspec.json.decode(shape), msgspec.json.decode(node)))


def shape_of(pod: Mapping[str, Any]) -> bytes:
    """Return JSON of what decides about the place of a pod: the same for pods that the same nodes take."""
    affinity = {"nodeAffinity": mapping(pod.get("affinity")).get("nodeAffinity")}
    placing = {"nodeSelector": pod.get("nodeSelector"), "tolerations": pod.get("tolerations"), "affinity": affinity}
    return msgspec.json.encode({**placing, "needs": needs_of(pod)}, order="sorted")


def barrier(pod: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    """Return why a node does not take a pod, however much is free; empty if it does."""
    labels = labels_of(node)
    if not is_ready(node):
        return "not ready"
    cordon = [_CORDON] if spec_of(node).get("unschedulable") else []
    for _, taint in objects([*items(spec_of(node).get("taints")), *cordon]):
        key, value, effect = (text(taint.get(field)) for field in ("key", "value", "effect"))
        tolerated = any(_tolerates(toleration, taint) for _, toleration in objects(pod.get("tolerations")))
        if effect != "PreferNoSchedule" and not tolerated:
            cordoned = key == _CORDON["key"]
            return "cordoned" if cordoned else f"taint {key}{'=' if value else ''}{value}:{effect}"
    selector = mapping(pod.get("nodeSelector")).items()
    if lacking := [f"{key}={value}" for key, value in selector if labels.get(key) != value]:
        return f"labels other than {', '.join(lacking)}"
    affinity = mapping(mapping(pod.get("affinity")).get("nodeAffinity"))
    required = mapping(affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))
    terms = [items(term.get("matchExpressions")) for _, term in objects(required.get("nodeSelectorTerms"))]
    fits = any(all(_holds(test, labels.get(text(mapping(test).get("key")))) for test in tests) for tests in terms)
    return "" if fits or not required else "labels other than its node affinity requires"


def is_ready(node: Mapping[str, Any]) -> bool:
    """Return whether the kubelet of a node reports that it is ready."""
    return bool(condition(mapping(node.get("status")), "Ready"))


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Return whether a toleration may match a taint; of operators that are newer than this, it does."""
    operator, key = text(toleration.get("operator")) or "Equal", text(toleration.get("key"))
    if text(toleration.get("effect")) not in {"", text(taint.get("effect"))} or key not in {"", text(taint.get("key"))}:
        return False
    return operator != "Equal" or (key != "" and text(toleration.get("value")) == text(taint.get("value")))


def _holds(test: Mapping[str, Any], value: Any) -> bool:
    """Return whether an expression may hold for the value of a label; Gt and Lt may."""
    held = {"In": value in items(test.get("values")), "Exists": value is not None}
    return {**held, "NotIn": not held["In"], "DoesNotExist": not held["Exists"]}.get(text(test.get("operator")), True)


def room_of(node: Mapping[str, Any]) -> Counter[str]:
    """Return what a node has for pods, in thousandths."""
    size = mapping(mapping(node.get("status")).get("allocatable"))
    return _thousandths({key: parse(value) for key, value in size.items()})


def amounts_of(template: Mapping[str, Any]) -> Amounts:
    """Return what a pod of a template asks for, with the requests that Kubernetes takes from limits.

    Resources of the pod as a whole count instead of its containers'. The overhead of a limit counts if there is one.
    """
    spec = spec_of(template)
    own = mapping(spec.get("resources"))
    overhead = read({"requests": spec.get("overhead")}, "requests", Path(), [])
    limits = read(own, "limits", Path(), [])
    amounts: dict[str, Decimal] = {PODS: Decimal(1)}
    for side in ("requests", "limits"):
        given = limits | totals(template, side) | read(own, side, Path(), [])
        for key, amount in overhead.items():
            if side == "requests" or given.get(key):
                given[key] = given.get(key, Decimal(0)) + amount
        amounts |= {f"{side}.{key}": amount for key, amount in given.items()}
    return amounts


def needs_of(pod: Mapping[str, Any]) -> Counter[str]:
    """Return what a pod takes of a node, in thousandths."""
    asked = _thousandths(amounts_of({"spec": pod}))
    return +Counter({name.removeprefix("requests."): asked[name] for name in asked if not name.startswith("limits.")})


def _thousandths(amounts: Mapping[str, Decimal]) -> Counter[str]:
    return Counter({name: int(amount * 1000) for name, amount in amounts.items()})

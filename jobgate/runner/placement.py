"""What a pod asks for, and which nodes take it, by those filters of the scheduler that depend on single nodes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

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


#: Longest shape of pods that are placed, in bytes: a toleration more is a comparison more for each node.
_LONGEST: Final = 4096


@dataclass(slots=True)
class Places:
    """Nodes, while pods are placed one by one: what fits into the sum of all may fit on none.

    Attributes:
        nodes: JSON of each.
        free: by node, what is free, in thousandths.
    """

    nodes: dict[str, bytes]
    free: dict[str, Counter[str]]
    _untried: dict[bytes, list[str]] = field(default_factory=dict)

    def claim(self, shape: bytes) -> bool:
        """Claim room for a pod on the first node that has it; return whether there is any."""
        if len(shape) > _LONGEST:
            return False
        needs = Counter[str](msgspec.json.decode(shape)["needs"])
        nodes = self._untried.setdefault(shape, [*reversed(self.free)])  # room only gets less
        while nodes and (needs - self.free[nodes[-1]] or _refuses(self.nodes[nodes[-1]], shape)):
            nodes.pop()
        if nodes:
            self.free[nodes[-1]].subtract(needs)
        return bool(nodes)

    def chooser(self, shapes: Mapping[tuple[str, str], bytes]) -> Callable[[str, str], bool]:
        """Return a function that claims room for a pod of a job's task. `shapes` are by job and task."""
        return lambda job, task: (job, task) in shapes and self.claim(shapes[job, task])


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

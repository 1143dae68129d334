"""What nodes lack for pods, by those filters of the scheduler that depend on single nodes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec

from jobgate.podchecks.quantity import parse
from jobgate.runner.queues.demand import PODS, amounts_of
from jobgate.runner.subject import condition
from jobgate.runner.waiting import Cause, Topic
from webhook.text import first_of
from webhook.values import items, labels_of, mapping, metadata_of, objects, spec_of, text

#: Most reasons for which nodes are counted in a message.
_REASONS: Final = 6
#: How to get a pod onto a node, by the first word of what keeps it away.
_FIXES: Final = {
    "taint": "add a toleration to the pod template, or remove the taint",
    "labels": "correct nodeSelector and node affinity of the pod template, or label a node",
    "not": "repair the node: kubectl describe node",
    "cordoned": "kubectl uncordon the node",
    "too": "wait until other pods end, ask for less, or add nodes",
    "small": "ask for less, or add larger nodes: waiting does not help",
}
#: The same, by words that the scheduler reports.
REPORTED: Final = {
    "anti-affinity": "its podAntiAffinity keeps such pods apart: add nodes, lower the number of pods, or relax it",
    "free ports": "a hostPort lets one such pod run on each node: add nodes, or use no hostPort",
    "volumes to bind": "create a PersistentVolume that fits the claim, or name a StorageClass that provisions it",
    "affinity/selector": _FIXES["labels"],
    "Insufficient": _FIXES["too"],
    "untolerated taint": _FIXES["taint"],
}


def causes_of_nodes(
    pods: Iterable[tuple[str, Mapping[str, Any]]],
    nodes: Sequence[Mapping[str, Any]],
    running: Iterable[Mapping[str, Any]] | None,
) -> Iterator[Cause]:
    """Place pods, each a name and a spec, one after the other, and yield what nodes lack for those without a place.

    `running` are the pods that nodes have; with None, nodes count as empty. Amounts are in thousandths.
    """
    allocatable = {
        text(metadata_of(node).get("name")): mapping(node.get("status")).get("allocatable") for node in nodes
    }
    sizes = {
        name: _thousandths({key: parse(value) for key, value in mapping(size).items()})
        for name, size in allocatable.items()
    }
    free = {name: Counter(size) for name, size in sizes.items()}
    for pod in running or ():
        free.get(text(spec_of(pod).get("nodeName")), Counter[str]()).subtract(_needs(spec_of(pod)))
    shapes: dict[bytes, list[tuple[str, Mapping[str, Any]]]] = {}
    for name, spec in pods:
        placing = [spec.get(field) for field in ("nodeSelector", "affinity", "tolerations")]
        shapes.setdefault(msgspec.json.encode([placing, _needs(spec)]), []).append((name, spec))
    for same in shapes.values():
        needs, placed = _needs(same[0][1]), 0
        barriers = {text(metadata_of(node).get("name")): _barrier(same[0][1], node) for node in nodes}
        for name in (name for name, barrier in barriers.items() if not barrier):
            while placed < len(same) and not needs - free[name]:
                free[name].subtract(needs)
                placed += 1
        if placed < len(same):
            what, fix = _summary(needs, barriers, sizes, free)
            empty = "" if running is not None else "even if all nodes were empty, "
            some = f"{placed} of {len(same)} such pods find room, and for the others " if placed else empty
            yield Cause(Topic.NODES, f"{some}{what}", fix, pods=tuple(name for name, _ in same))


def _summary(
    needs: Counter[str],
    barriers: Mapping[str, str],
    sizes: Mapping[str, Counter[str]],
    free: Mapping[str, Counter[str]],
) -> tuple[str, str]:
    """Return how many nodes lack what, with the one that lacks least; and what to do."""
    short = {name: needs - free[name] for name, barrier in barriers.items() if not barrier}
    lacks = [f"too little {'room for pods' if key == PODS else key}" for gaps in short.values() for key in gaps]
    counts = Counter([*lacks, *filter(None, barriers.values())]).most_common()
    asks = ", ".join(f"{name} {_shown(name, amount)}" for name, amount in needs.items() if name != PODS)
    reasons = first_of([f"{reason} ({count})" for reason, count in counts], _REASONS)
    what = f"no node takes a pod that asks for {asks or 'nothing'}; {len(barriers)} nodes: {reasons or 'none'}"
    if short:
        nearest = min(short, key=lambda name: sum(gap / needs[key] for key, gap in short[name].items()))
        room, size = free[nearest], sizes[nearest]
        gaps = (
            f"{_shown(key, gap)} of {key} ({_shown(key, room[key])} of {_shown(key, size[key])} free)"
            for key, gap in short[nearest].items()
        )
        what = f"{what}; nearest is {nearest}, which lacks {', '.join(gaps)}"
    too = "too" if any(not needs - sizes[name] for name in short) else "small"
    fixes = (_FIXES[too if reason.startswith("too ") else reason.split()[0]] for reason, _ in counts)
    return what, "; ".join(dict.fromkeys(fixes)) or "add nodes"


def _barrier(pod: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    """Return why a node does not take a pod, however much is free; empty if it does."""
    labels = labels_of(node)
    if not is_ready(node):
        return "not ready"
    for _, taint in objects(spec_of(node).get("taints")):
        key, value, effect = (text(taint.get(field)) for field in ("key", "value", "effect"))
        tolerated = any(_tolerates(toleration, taint) for _, toleration in objects(pod.get("tolerations")))
        if effect != "PreferNoSchedule" and not tolerated:
            cordoned = key == "node.kubernetes.io/unschedulable"
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


def _needs(pod: Mapping[str, Any]) -> Counter[str]:
    """Return what a pod takes of a node."""
    asked = _thousandths(amounts_of({"spec": pod}))
    return +Counter({name.removeprefix("requests."): asked[name] for name in asked if not name.startswith("limits.")})


def _thousandths(amounts: Mapping[str, Decimal]) -> Counter[str]:
    return Counter({name: int(amount * 1000) for name, amount in amounts.items()})


def _shown(name: str, thousandths: int) -> str:
    """Return an amount for people: bytes with a binary unit, rounded."""
    value, units = Decimal(thousandths) / 1000, ["", "Ki", "Mi", "Gi", "Ti"]
    while len(units) > 1 and abs(value) >= 1024 and any(word in name for word in ("memory", "storage", "hugepages")):
        value = value / 1024
        del units[0]
    return f"{round(value, 3).normalize():f}{units[0]}" if value else "0"

"""What nodes lack for pods, by those filters of the scheduler that depend on single nodes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from jobgate.runner.placement import PODS, barrier, needs_of, room_of, shape_of
from jobgate.runner.waiting import Cause, Topic
from webhook.text import first_of
from webhook.values import metadata_of, spec_of, text

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
    sizes = {text(metadata_of(node).get("name")): room_of(node) for node in nodes}
    free = {name: Counter(size) for name, size in sizes.items()}
    for pod in running or ():
        free.get(text(spec_of(pod).get("nodeName")), Counter[str]()).subtract(needs_of(spec_of(pod)))
    shapes: dict[bytes, list[tuple[str, Mapping[str, Any]]]] = {}
    for name, spec in pods:
        shapes.setdefault(shape_of(spec), []).append((name, spec))
    for same in shapes.values():
        needs, placed = needs_of(same[0][1]), 0
        barriers = {text(metadata_of(node).get("name")): barrier(same[0][1], node) for node in nodes}
        for name in (name for name, why in barriers.items() if not why):
            while placed < len(same) and not needs - free[name]:
                free[name].subtract(needs)
                placed += 1
        if placed < len(same):
            what, fix = _summary(needs, barriers, sizes, free, "" if running is not None else " even if empty")
            who = f"{placed} of {len(same)} such pods find room; each other pod" if placed else "a pod"
            yield Cause(Topic.NODES, f"{who} {what}", fix, pods=tuple(name for name, _ in same))


def _summary(
    needs: Counter[str],
    barriers: Mapping[str, str],
    sizes: Mapping[str, Counter[str]],
    free: Mapping[str, Counter[str]],
    empty: str,
) -> tuple[str, str]:
    """Return what a pod asks for and what nodes lack, with the one that comes nearest; and what to do."""
    short = {name: needs - free[name] for name, why in barriers.items() if not why}
    lacks = [f"too little {'room for pods' if key == PODS else key}" for gaps in short.values() for key in gaps]
    counts = Counter([*lacks, *filter(None, barriers.values())]).most_common()
    asks = ", ".join(f"{_shown(name, amount)} {name}" for name, amount in needs.items() if name != PODS)
    reasons = first_of([f"{reason} ({count})" for reason, count in counts], _REASONS)
    if short:
        nearest = min(short, key=lambda name: sum(gap / needs[key] for key, gap in short[name].items()))
        room, size = free[nearest], sizes[nearest]
        has = (f"{_shown(key, room[key])} of {_shown(key, size[key])} {key}" for key in short[nearest])
        near = f"{nearest} comes nearest with {', '.join(has)} free"
        # What all nodes lack, and nothing else, needs no count.
        reasons = near if len(counts) == 1 else f"{reasons}; {near}"
    many = f"no node of {len(barriers)} takes it{empty}: {reasons}" if barriers else "there is no node"
    too = "too" if any(not needs - sizes[name] for name in short) else "small"
    fixes = (_FIXES[too if reason.startswith("too ") else reason.split()[0]] for reason, _ in counts)
    return f"asks for {asks or 'nothing'}, and {many}", "; ".join(dict.fromkeys(fixes)) or "add nodes"


def _shown(name: str, thousandths: int) -> str:
    """Return an amount for people: bytes with a binary unit, rounded."""
    value, units = Decimal(thousandths) / 1000, ["", "Ki", "Mi", "Gi", "Ti"]
    while len(units) > 1 and abs(value) >= 1024 and any(word in name for word in ("memory", "storage", "hugepages")):
        value = value / 1024
        del units[0]
    return f"{round(value, 3).normalize():f}{units[0]}" if value else "0"

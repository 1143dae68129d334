"""Whose turn it is: selectors of queues, as pure functions of their weights and of the turns so far.

The names and test vectors are those of torch-on-k8s, which has the first two and names the third. A queue that has
nothing to release is skipped, and loses nothing by it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import gcd
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class SelectorState:
    """What a selector remembers.

    Attributes:
        last: the queue whose turn was the last; empty before the first.
        level: of `wrr`: the weight that a queue must have for a turn.
        credit: of `smooth-wrr`: the turns that a queue is owed, in units of the sum of the weights.
    """

    last: str = ""
    level: int = 0
    credit: Mapping[str, int] = field(default_factory=dict)


#: Takes the weights of all queues, in order, the queues that want a turn, and the turns so far. Returns the queue whose
#: turn it is (None if no queue with a weight wants a turn), and the turns with this one.
Selector: TypeAlias = Callable[[Mapping[str, int], Collection[str], SelectorState], tuple[str | None, SelectorState]]


def round_robin(
    weights: Mapping[str, int], ready: Collection[str], turns: SelectorState
) -> tuple[str | None, SelectorState]:
    """Give each queue a turn in order, whatever its weight."""
    return weighted_round_robin({name: min(weight, 1) for name, weight in weights.items()}, ready, turns)


def weighted_round_robin(
    weights: Mapping[str, int], ready: Collection[str], turns: SelectorState
) -> tuple[str | None, SelectorState]:
    """Give each queue as many turns as its weight says, the heavy ones first: 5, 1, 1 is a a a a a b c."""
    wanting = {name: weight for name, weight in weights.items() if name in ready and weight > 0}
    if not wanting:
        return None, turns
    names, most, step = list(weights), max(wanting.values()), gcd(*wanting.values())
    position, level = _position(names, turns.last), min(turns.level, most)
    while True:  # the queue of the greatest weight is found after one round at the latest
        position = (position + 1) % len(names)
        if position == 0:
            level = level - step if level > step else most
        name = names[position]
        if level > 0 and wanting.get(name, 0) >= level:
            return name, SelectorState(last=name, level=level)


def smooth_weighted_round_robin(
    weights: Mapping[str, int], ready: Collection[str], turns: SelectorState
) -> tuple[str | None, SelectorState]:
    """Give each queue as many turns as its weight says, evenly spread: 5, 1, 1 is a a b a c a a."""
    wanting = {name: weight for name, weight in weights.items() if name in ready and weight > 0}
    if not wanting:
        return None, turns
    credit = {name: turns.credit.get(name, 0) + wanting.get(name, 0) for name in weights}
    chosen = max(wanting, key=credit.__getitem__)  # the first of those that are owed the same
    credit[chosen] -= sum(wanting.values())
    return chosen, SelectorState(last=chosen, credit=credit)


class SelectorName(StrEnum):
    """What selectors are called in the file of queues."""

    RR = "rr"
    WRR = "wrr"
    SMOOTH_WRR = "smooth-wrr"


SELECTORS: Final[Mapping[SelectorName, Selector]] = {
    SelectorName.RR: round_robin,
    SelectorName.WRR: weighted_round_robin,
    SelectorName.SMOOTH_WRR: smooth_weighted_round_robin,
}


def _position(names: list[str], name: str) -> int:
    return names.index(name) if name in names else -1

"""Growth: what a released job asks for beyond what its queue has counted. Pure.

The size of a job, and the templates of pods that are made later, may change at any time. What was released is part of
the job's state; beyond it the runner makes nothing until the queue has room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from jobgate.runner.elastic.decision import Step
from jobgate.runner.queues.admission import Amounts, sum_of
from jobgate.runner.queues.demand import ASKS, Demand, read_amounts, written_amounts
from jobgate.runner.subject import LONG_AGO, Sight, Subject
from webhook.values import mapping, whole

#: Why a job waits if the queues have not decided about it yet.
UNDECIDED: Final = "the queues have not decided yet"

_NOTHING: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided of a job as it was then.

    Attributes:
        why: why the job waits, or what it asks for more than was released; empty if it waits for nothing.
        generation: of the job.
        queue: that it is counted in.
        granted: what it is counted with. It may use this, and no more.
        since: since when it waits for more.
        step: the sizes of its elastic tasks, none if it is not elastic; None if that is not decided.
    """

    why: str
    generation: Any = None
    queue: str = ""
    granted: Amounts = field(default_factory=dict)
    since: datetime = field(default=LONG_AGO, compare=False)
    step: Step | None = None


def requests_of(batches: Iterable[Mapping[str, Any]]) -> Amounts:
    """Return the resources that the pods of batch Jobs request."""
    return sum_of((_asks(batch), _size(batch)) for batch in batches)


def wanted(demand: Demand, sight: Sight) -> Amounts:
    """Return the most that the pods of a job ask for now, and once its batch Jobs are as its spec says.

    A task keeps the template of its batch Job until that is made again.
    """
    parts: list[tuple[Amounts, int]] = []
    for name, pod in demand.pods.items():
        size, batch = demand.sizes[name], sight.tasks[name].batch
        current = [(_asks(batch), max(size, _size(batch)))] if batch is not None else []
        parts.append((most(*(sum_of([part]) for part in ((pod, size), *current))), 1))
    now = requests_of([*sight.old, *(task.batch for task in sight.tasks.values() if task.batch is not None)])
    return most(now, sum_of(parts), {} if parts else demand.total)


def most(*several: Amounts) -> Amounts:
    """Return the greatest amount of each resource."""
    greatest: dict[str, Decimal] = {}
    for name, amount in (item for amounts in several for item in amounts.items()):
        greatest[name] = max(amount, greatest.get(name, amount))
    return greatest


def covers(has: Amounts, asks: Amounts) -> bool:
    """Return whether nothing more is asked for than there is."""
    return all(amount <= has.get(name, _NOTHING) for name, amount in asks.items())


def placed(subject: Subject, demand: Demand, sight: Sight, verdict: Verdict | None) -> Subject:
    """Return a job that may run, with what its queue says of what it asks for now."""
    if verdict is not None and verdict.generation != subject.generation:
        verdict = None  # it is of another spec
    step = verdict.step if verdict is not None else None
    state, asks = subject.state, wanted(demand.at(step.sizes if step else {}), sight)
    granted = verdict is not None and covers(verdict.granted, asks)
    if not state.admitted:
        why = UNDECIDED if verdict is None or not (verdict.why or granted) else verdict.why
        queue = verdict.queue if verdict else ""
        return replace(subject, verdict=why, released=written_amounts(asks), queue=queue, step=step)
    kept = replace(subject, verdict="", released=state.released, queue=state.queue, step=step)
    released = read_amounts(state.released)
    if state.queue and covers(released, asks):
        # What was asked for a moment ago may not be seen yet.
        settled = not sight.old and all(
            task.batch is not None for name, task in sight.tasks.items() if name and demand.sizes[name] > 0
        )
        return replace(kept, released=written_amounts(asks)) if settled else kept
    if verdict is not None and granted:
        return replace(kept, released=written_amounts(most(released, asks)), queue=verdict.queue)
    if not state.queue:
        return kept  # it was released when there were no queues
    sizes = {name: _size(task.batch) for name, task in sight.tasks.items() if task.batch is not None}
    return replace(kept, growth=verdict.why if verdict is not None else "", sizes=sizes, step=None)


def _asks(batch: Mapping[str, Any]) -> Amounts:
    return read_amounts(mapping(batch.get(ASKS)))


def _size(batch: Mapping[str, Any]) -> int:
    return whole(mapping(batch.get("spec")).get("completions")) or 0

"""The size of one elastic job, as it is stored and observed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from jobgate.jobs.elastic import Bounds, opts_in
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.elastic.decision import ElasticJob, Span, Step, decide
from jobgate.runner.queues.admission import HOLD, Amounts
from jobgate.runner.state import RunState
from jobgate.runner.subject import LONG_AGO, Observed, Subject, moment
from webhook.values import labels_of, mapping, text, whole


def sizes_now(bounds: Mapping[str, Bounds], state: RunState, batches: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sizes of elastic tasks. A job that waits has its minimum, one that was not elastic its size."""
    created = {text(labels_of(batch).get(TASK_LABEL)) for batch in batches}
    sizes = {name: own.replicas if name in created else own.low for name, own in bounds.items()}
    if not state.admitted:
        return {name: own.low for name, own in bounds.items()}
    return {name: own.clamp(state.sizes.get(name, sizes[name])) for name, own in bounds.items()}


def elastic_job(
    key: str,
    bounds: Mapping[str, Bounds],
    state: RunState,
    sizes: Mapping[str, int],
    batches: Iterable[Mapping[str, Any]],
    pods: Mapping[str, Amounts] | None = None,
) -> ElasticJob:
    """Return a job that runs, for a decision. `pods` is what a pod of each task asks for."""
    ended = {
        text(labels_of(batch).get(TASK_LABEL))
        for batch in batches
        if whole(mapping(batch.get("status")).get("succeeded"))
    }
    spans = [
        Span(name, (pods or {}).get(name, {}), sizes[name], own.low, own.clamp(state.wishes.get(name, own.high)))
        for name, own in bounds.items()
    ]
    if not ended.isdisjoint(sizes):  # nothing changes in it any more, and it has nothing to give
        spans = [replace(span, low=span.size, wanted=span.size) for span in spans]
    return ElasticJob(
        key,
        spans,
        since=moment(state.resized) or LONG_AGO,
        ready=all(state.started.get(name) == size for name, size in sizes.items()),
    )


def alone(subject: Subject, observed: Observed) -> Subject:
    """Return a job that no queue counts, with its next step: it grows when all of its pods have started.

    Room is the scheduler's to give: at most one step of pods waits for it.
    """
    state, now = subject.state, observed.now
    if not (subject.bounds and opts_in(subject.job.document)):
        return replace(subject, step=Step({}) if state.sizes else None)
    sizes = sizes_now(subject.bounds, state, observed.jobs)
    step = Step(sizes)
    if state.admitted and state.sizes:
        step = decide([elastic_job("", subject.bounds, state, sizes, observed.jobs)], {}, now).get("", step)
    return replace(subject, step=step)


def rests_for(subject: Subject, observed: Observed) -> float | None:
    """Return the seconds until a job that no queue counts may be resized again; None if it may now, or never."""
    since = moment(subject.state.resized)
    left = HOLD - (observed.now - since).total_seconds() if since and subject.bounds else 0
    return left if left > 0 else None

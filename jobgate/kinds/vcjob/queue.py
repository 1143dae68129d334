"""The rules of the queue that a job waits in."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.reading import mapping
from jobgate.kinds.vcjob.models import JobSpec
from jobgate.kinds.vcjob.operator import DEFAULT_QUEUE, QUEUES, ROOT_QUEUE, SCHEDULER
from jobgate.names import LABEL_LIMIT
from webhook import Cause, Context, Forbidden, Job, NotFound, Operation, Required, Rule, TooLong, rule

_PLACE = "spec.queue"

#: The state of a queue that takes jobs.
_OPEN = "Open"


@rule("queue", "scheduler_name")
def queue_and_scheduler_are_named(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """An empty queue name is not replaced by the default, so the job would never be scheduled."""
    if context.operation is not Operation.CREATE:
        return
    for word, default in (("queue", DEFAULT_QUEUE), ("scheduler_name", SCHEDULER)):
        if job.word(word) == "":
            yield Required(job.at(word), f"set a name, or remove the field to use {default}")


@rule("queue")
def queue_is_not_the_root(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """The root queue shares out the cluster among the others, and takes no jobs itself."""
    if job.spec.queue == ROOT_QUEUE:
        yield Forbidden(_PLACE, f"{ROOT_QUEUE} accepts no jobs: use a child queue, such as default")


@rule("queue")
def queue_takes_jobs(job: Job[JobSpec], context: Context) -> Iterator[Cause]:
    """A job in a queue that is not there, or not open, is never scheduled.

    A stored job stays in its queue, whatever becomes of that.
    """
    if context.operation is not Operation.CREATE or job.spec.queue in {"", ROOT_QUEUE}:
        return
    try:
        queue = context.objects.get(QUEUES, job.spec.queue)
    except LookupError:
        return  # nothing is known of queues
    if queue is None:
        yield NotFound(_PLACE, job.spec.queue, "no Queue with this name exists in the cluster")
        return
    state = mapping(queue.get("status")).get("state")
    if state != _OPEN:
        word = state if isinstance(state, str) and state else "not known yet"
        yield Forbidden(_PLACE, f"the queue {job.spec.queue} accepts no jobs: its state is {word}, must be {_OPEN}")


@rule("queue")
def queue_name_fits_a_label(job: Job[JobSpec], _: Context) -> Iterator[Cause]:
    """Volcano labels every pod with its queue: under a longer name, no pod can be made."""
    if len(job.spec.queue) > LABEL_LIMIT:
        yield TooLong(_PLACE, job.spec.queue, LABEL_LIMIT, "used as a label on every pod")


queue_rules: tuple[Rule, ...] = (
    queue_and_scheduler_are_named,
    queue_is_not_the_root,
    queue_takes_jobs,
    queue_name_fits_a_label,
)

"""The queue of a Volcano Job, as the cluster has it."""

from typing import Any

import pytest

from jobgate.kinds.vcjob import VCJOB
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.plugins.queueing import Queueing, QueueingArguments, System
from tests.kinds.vcjob.jobs import KINDS, Queues, faults, job, task, validate
from tests.messages import compare
from webhook import Settings


@pytest.mark.parametrize(
    "queues, words, expected",
    [
        (None, {}, []),
        (Queues(default={"state": "Open"}), {}, []),
        (Queues(), {"queue": "gone"}, ["spec.queue: Not found"]),
        (Queues(default={"state": "Closed"}), {}, ["spec.queue: Forbidden"]),
        (Queues(default=None), {}, ["spec.queue: Forbidden"]),
        (Queues(root={"state": "Open"}), {"queue": "root"}, ["spec.queue: Forbidden"]),
    ],
)  # fmt: skip
def test_a_job_waits_in_an_open_queue(queues: Queues | None, words: dict[str, Any], expected: list[str]) -> None:
    compare("kinds/vcjob", faults(validate(job(task(), **words), objects=queues)), expected)


@pytest.mark.parametrize(
    ("system", "denied"), [(None, False), (System.KUBERNETES, False), (System.KUEUE, False), (System.VOLCANO, True)]
)
def test_a_queue_of_volcano_is_needed_only_where_volcano_queues_the_job(system: System | None, *, denied: bool) -> None:
    plugins = {Queueing.name: QueueingArguments(system=system)} if system else {}
    settings = Settings(runs=frozenset({VCJOB.qualified_plural}), plugins=plugins)
    options = ReviewOptions(kinds=KINDS, settings=settings, objects=Queues(default={"state": "Open"}))
    assert (judge(job(task("work"), queue="research"), options).status is not None) == denied

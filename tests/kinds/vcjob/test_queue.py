"""The queue of a Volcano Job, as the cluster has it."""

from typing import Any

import pytest

from tests.kinds.vcjob.jobs import Queues, faults, job, task, validate


@pytest.mark.parametrize(
    "queues, words, expected",
    [
        (None, {}, []),
        (Queues(default={"state": "Open"}), {}, []),
        (Queues(), {"queue": "gone"}, ['spec.queue: Not found: "gone": no Queue with this name exists in the cluster']),
        (Queues(default={"state": "Closed"}), {},
         ["spec.queue: Forbidden: the queue default accepts no jobs: its state is Closed, must be Open"]),
        (Queues(default=None), {},
         ["spec.queue: Forbidden: the queue default accepts no jobs: its state is not known yet, must be Open"]),
        (Queues(root={"state": "Open"}), {"queue": "root"},
         ["spec.queue: Forbidden: root accepts no jobs: use a child queue, such as default"]),
    ],
)  # fmt: skip
def test_a_job_waits_in_an_open_queue(queues: Queues | None, words: dict[str, Any], expected: list[str]) -> None:
    assert faults(validate(job(task(), **words), objects=queues)) == expected

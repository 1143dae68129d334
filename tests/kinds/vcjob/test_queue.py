"""The queue of a Volcano Job, as the cluster has it."""

from typing import Any

import pytest

from tests.kinds.messages import compare
from tests.kinds.vcjob.jobs import Queues, faults, job, task, validate


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
    compare("vcjob", faults(validate(job(task(), **words), objects=queues)), expected)

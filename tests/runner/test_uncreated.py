"""Why pods are not created, of Events against an API server that counts how often it is asked."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from jobgate.cluster import ApiError, Page, Resource
from jobgate.plugins.crew import TASK_LABEL
from jobgate.runner.subject import Observed
from jobgate.runner.uncreated import GRACE, PERIOD, UncreatedPods, indices
from tests.runner.world import START, stamp

SAID = 'Error creating: pods "train-work-1-" is forbidden: exceeded quota'
LATE = START + timedelta(seconds=GRACE)


class Events:
    """The Events of a namespace."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = list(events)
        self.calls = 0
        self.fails = False

    def __call__(self, namespace: str) -> "Events":
        assert namespace == "lab"
        return self

    async def pages(self, resource: Resource) -> AsyncIterator[Page]:
        assert resource.plural == "events"
        self.calls += 1
        await asyncio.sleep(0)
        if self.fails:
            raise ApiError(403)
        yield Page(self.events, "1")

    def watch(self, resource: Resource, version: str) -> AsyncIterator[dict[str, Any]]:
        raise NotImplementedError


def failed(uid: str = "uid-work", said: str = SAID, after: float = 1) -> dict[str, Any]:
    """An Event of the Job controller about a batch Job."""
    last = stamp(START + timedelta(seconds=after))
    return {"involvedObject": {"kind": "Job", "uid": uid}, "message": said, "lastTimestamp": last}


def batch(name: str = "work", *, suspend: bool = False, **status: Any) -> dict[str, Any]:
    """A batch Job of two pods that was started."""
    metadata = {"name": f"train-{name}", "uid": f"uid-{name}", "labels": {TASK_LABEL: name}}
    spec = {"suspend": suspend, "completions": 2}
    return {"metadata": metadata, "spec": spec, "status": {"startTime": stamp(START), **status}}


def pod(after: float, name: str = "work") -> dict[str, Any]:
    """A pod of it, created so many seconds later."""
    owners = [{"uid": f"uid-{name}", "controller": True}]
    return {"metadata": {"ownerReferences": owners, "creationTimestamp": stamp(START + timedelta(seconds=after))}}


CONDITION = {"type": "Failed", "status": "True"}


@pytest.mark.parametrize(
    "found",
    [
        batch(active=2),
        batch(active=1, succeeded=1),
        batch(active=1, terminating=1),
        batch(failedIndexes="0-1"),
        batch(failedIndexes="0,1"),
        batch(active=2, failedIndexes="none"),
        batch(suspend=True),
        batch(startTime=None),
        batch(conditions=[CONDITION]),
    ],
)
async def test_no_events_are_read_of_a_batch_job_that_lacks_no_pods(found: dict[str, Any]) -> None:
    events = Events(failed())
    assert await UncreatedPods(events).why("lab", Observed(LATE, [found])) == ("", None)
    assert events.calls == 0


@pytest.mark.parametrize(
    ("intervals", "least", "expected"),
    [("", 0, 0), ("1,3-5", 0, 4), ("1,3-5", 1, 4), ("1,3-5", 4, 2), ("1,3-5", 6, 0), ("none", 0, 0)],
)
def test_indices_are_counted(intervals: str, least: int, expected: int) -> None:
    assert indices(intervals, least) == expected


async def test_nothing_is_asked_of_pods_that_were_asked_for_a_moment_ago() -> None:
    events = Events(failed())
    assert await UncreatedPods(events).why("lab", Observed(START, [batch()])) == ("", GRACE)
    assert events.calls == 0


@pytest.mark.parametrize(
    ("events", "pods", "said"),
    [
        ([failed()], [], "pods of work cannot be created: forbidden: exceeded quota"),
        (
            [failed(), failed(said="Error creating: no webhook", after=2)],
            [],
            "pods of work cannot be created: no webhook",
        ),
        ([failed("uid-other"), failed()], [], "pods of other, work cannot be created: forbidden: exceeded quota"),
        ([failed("uid-another")], [], ""),
        ([failed(after=-1)], [], ""),
        (
            [failed()],
            [pod(0), pod(1, "other"), pod(9, "other")],
            "pods of work cannot be created: forbidden: exceeded quota",
        ),
        ([failed()], [pod(2)], ""),
    ],
    ids=["why", "newest", "of two tasks", "of another job", "before it was started", "newer than its pods", "old"],
)
async def test_the_newest_reason_counts_unless_a_pod_was_created_since(
    events: list[dict[str, Any]], pods: list[dict[str, Any]], said: str
) -> None:
    observed = Observed(LATE, [batch(active=1), batch("other")], pods)
    assert await UncreatedPods(Events(*events)).why("lab", observed) == (said, PERIOD)


async def test_the_events_of_a_namespace_are_read_once_for_all_its_jobs() -> None:
    events = Events(failed())
    uncreated = UncreatedPods(events)
    for _ in range(3):
        assert (await uncreated.why("lab", Observed(LATE, [batch()])))[0]
    assert events.calls == 1
    events.fails = True
    # Known facts hold until newer facts are known.
    assert (await uncreated.why("lab", Observed(LATE + timedelta(seconds=PERIOD), [batch()])))[0]
    assert events.calls == 2


async def test_who_asks_while_the_events_are_read_does_not_wait_and_asks_again() -> None:
    events = Events(failed())
    uncreated = UncreatedPods(events)
    observed = Observed(LATE, [batch()])
    first, second = await asyncio.gather(uncreated.why("lab", observed), uncreated.why("lab", observed))
    assert (bool(first[0]), second, events.calls) == (True, ("", 1.0), 1)

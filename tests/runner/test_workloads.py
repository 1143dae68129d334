"""Why Kueue has not admitted groups of pods, from Workloads of an API server that counts how often it is asked."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from jobgate.cluster import ApiError, Resource
from jobgate.plugins.queueing import KUEUE_GROUP, Grouping, System
from jobgate.runner.subject import Observed
from jobgate.runner.uncreated import GRACE, PERIOD
from jobgate.runner.workloads import LONGEST, Workloads, reason_of
from tests.runner.world import START, Object, World, dijob, stamp, task

GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 3 more needed"
REQUEST = {"name": "room", "state": "Pending", "message": "waits for nodes"}


def workload(message: str = SHORT, status: str = "False", *, active: bool = True, **fields: Any) -> Object:
    """A Workload with the condition of its quota."""
    conditions = [
        {"type": "Admitted", "status": "False", "message": "The workload has no reservation"},
        {"type": "QuotaReserved", "status": status, "message": message},
    ]
    return {"spec": {"active": active}, "status": {"conditions": conditions, **fields}}


class Server:
    """An API server that serves Workloads in one version only."""

    def __init__(self, version: str = "v1beta2", **found: Object) -> None:
        self.version = version
        self.found = found
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def get(self, resource: Resource, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        assert (resource.plural, resource.group, namespace) == ("workloads", "kueue.x-k8s.io", "lab")
        self.asked.append(f"{name} {resource.version}")
        if self.error is not None:
            raise self.error
        return self.found.get(name) if resource.version == self.version else None


def pod(group: str = "a", created: float = 0, condition: Object = GATED, **metadata: Any) -> Object:
    """A pod of a group that was created so many seconds after the start."""
    at = stamp(START + timedelta(seconds=created))
    about = {"labels": {KUEUE_GROUP: group} if group else {}, "creationTimestamp": at, **metadata}
    return {"metadata": about, "status": {"conditions": [condition]}}


async def why(found: Workloads, after: float, *pods: Object) -> tuple[Mapping[str, str], float | None]:
    """Why the pods wait, so many seconds after the start."""
    return await found.why("lab", Observed(START + timedelta(seconds=after), pods=pods or (pod(),)))


@pytest.mark.parametrize(
    ("case", "pods", "again"),
    [
        ("wait for a moment only", [pod(created=5), pod(created=6)], GRACE - 3),
        ("are in no group", [pod("")], None),
        ("are deleted", [pod(deletionTimestamp=stamp(START))], None),
        ("are admitted", [pod(condition={**GATED, "reason": "Unschedulable"})], None),
    ],
)
async def test_no_workload_is_read_of_pods_that(case: str, pods: list[Object], again: float | None) -> None:
    server = Server(a=workload())
    assert await why(Workloads(server), 8, *pods) == ({}, again)  # type: ignore[arg-type]
    assert server.asked == [], case


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
async def test_the_workload_of_each_group_is_read_in_the_version_that_is_served(version: str) -> None:
    server = Server(version, a=workload(), b=workload("LocalQueue nowhere doesn't exist"))
    reasons, again = await why(Workloads(server), GRACE, pod("a"), pod("a"), pod("b"), pod("c", created=GRACE))  # type: ignore[arg-type]
    assert reasons == {"a": f"Workload a: {SHORT}", "b": "Workload b: LocalQueue nowhere doesn't exist"}
    assert again == GRACE
    assert server.asked == [f"{name} {each}" for name in "ab" for each in ("v1beta2", "v1beta1") if each >= version]


async def test_a_workload_is_read_again_the_later_the_longer_its_pods_have_waited() -> None:
    server = Server(a=workload())
    workloads = Workloads(server)  # type: ignore[arg-type]
    for after, again, reads in ((4, PERIOD, 1), (10, 4, 1), (14, PERIOD, 2), (600, 60, 3), (86400, LONGEST, 4)):
        assert (await why(workloads, after))[1] == again
        assert len(server.asked) == reads
    assert GRACE + PERIOD < 15


@pytest.mark.parametrize(
    ("error", "again"), [(ApiError(403, "Forbidden", "no"), LONGEST), (ApiError(500), PERIOD), (TimeoutError(), PERIOD)]
)
async def test_what_was_known_holds_while_workloads_cannot_be_read_and_few_are_asked_for(
    error: Exception, again: float, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(a=workload())
    workloads = Workloads(server)  # type: ignore[arg-type]
    known = (await why(workloads, 4))[0]
    server.error = error
    assert await why(workloads, 14, pod("a"), pod("b")) == ({**known, "b": ""}, again)
    assert server.asked == ["a v1beta2"] * 2
    assert [record.message for record in caplog.records] == [
        "cannot read why Kueue has not admitted pods, will be retried"
    ]


async def test_that_the_right_to_workloads_is_absent_is_reported_once_until_they_were_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server(a=workload())
    workloads = Workloads(server)  # type: ignore[arg-type]
    denied = ApiError(403, "Forbidden", "no")
    for after, error, reports in ((4, denied, 1), (304, denied, 1), (604, None, 1), (904, denied, 2)):
        server.error = error
        await why(workloads, after)
        assert len(caplog.records) == reports
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (workload(), f"Workload a: {SHORT}"),
        (workload("ClusterQueue lab is inactive"), "Workload a: ClusterQueue lab is inactive"),
        (workload(active=False), "Workload a: it is deactivated: its spec.active is false"),
        (
            workload("Quota reserved", "True", admissionChecks=[REQUEST, {"name": "b", "state": "Ready"}]),
            "Workload a: AdmissionCheck room Pending waits for nodes",
        ),
        (workload("Quota reserved", "True"), ""),
        ({"spec": {}}, ""),
        ({"spec": 1, "status": {"conditions": [1, {"type": ["QuotaReserved"]}]}}, ""),
        (None, "Workload a does not exist: Kueue must be running, with its integration pod"),
    ],
)
def test_a_workload_says_why_it_is_not_admitted(found: Object | None, expected: str) -> None:
    assert reason_of("a", found) == expected


@pytest.mark.parametrize(
    ("unadmitted", "expected"),
    [
        ({"train-0123abcd-0": "Workload a: LocalQueue x is inactive"}, ": Workload a: LocalQueue x is inactive"),
        ({"other": "x"}, ", which must exist, be active and have room: see Workload train-0123abcd-0"),
        ({"train-0123abcd-0": ""}, ", which must exist, be active and have room: see Workload train-0123abcd-0"),
    ],
)
def test_status_and_event_name_the_reason_as_far_as_it_is_known(unadmitted: dict[str, str], expected: str) -> None:
    world = World(dijob(task(2), queue="nowhere"), Grouping(System.KUEUE))
    world.settle()
    for each in world.pods:
        each["status"] |= {"phase": "Pending", "conditions": [GATED]}
    world.unadmitted = unadmitted
    world.step()
    message = f"pods work-0, work-1: Kueue has not admitted it to queue nowhere{expected}"
    assert re.search(re.escape(message) + "$", world.status["conditions"][-1]["message"])
    assert [event.message for event in world.events if event.reason == "PodsWait"] == [message]

"""Leader election: against an API server in memory, with faults, and against a real one."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from jobgate.cluster import Resource
from jobgate.cluster.informer import ApiError
from jobgate.cluster.lease import LEASES, Lease, Times
from tests.controller.cluster import MemoryCluster, unreachable

#: The duration of a Lease is in whole seconds; a released Lease has the least.
QUICK = Times(duration=1.0, deadline=0.6, retry=0.05, call=0.3)
PLACE = (LEASES, "system", "control")


class Work:
    """Tells who is at work."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.most = 0

    def of(self, name: str) -> Callable[[], Any]:
        async def work() -> None:
            self.now.append(name)
            self.most = max(self.most, len(self.now))
            try:
                await asyncio.Event().wait()
            finally:
                self.now.remove(name)

        return work


@asynccontextmanager
async def candidate(cluster: Any, work: Work, name: str) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(Lease(cluster, "system", "control", name, QUICK).lead(work.of(name)))
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def holder(cluster: MemoryCluster) -> str:
    return str((cluster.find(*PLACE) or {"spec": {}})["spec"].get("holderIdentity"))


async def test_one_works_and_when_it_ends_the_other_takes_over_at_once() -> None:
    cluster, work = MemoryCluster(), Work()
    async with candidate(cluster, work, "b") as second:
        await until(lambda: work.now == ["b"])
        async with candidate(cluster, work, "a"):
            await asyncio.sleep(0.3)
            assert work.now == ["b"]
            second.cancel()
            await until(lambda: work.now == ["a"])
            assert holder(cluster) == "a"
    assert work.most == 1
    assert holder(cluster) == ""


async def test_one_that_is_gone_without_a_word_is_followed_when_its_time_is_over() -> None:
    cluster, work = MemoryCluster(), Work()
    spec = {"holderIdentity": "dead", "leaseDurationSeconds": 1, "leaseTransitions": 4, "renewTime": "2020-01-01"}
    cluster.put(LEASES, {"metadata": {"name": "control", "namespace": "system"}, "spec": spec})
    async with candidate(cluster, work, "a"):
        await asyncio.sleep(0.5)
        assert work.now == []  # by our own clock: what its renewTime says may be of another's
        await until(lambda: work.now == ["a"])
        result = cluster.find(*PLACE)
        assert result
        assert result["spec"]["leaseTransitions"] == 5


async def test_one_that_cannot_renew_stops_before_another_may_begin() -> None:
    cluster, work = MemoryCluster(), Work()
    away: list[Any] = []

    def fault(verb: str, _: Resource, __: str) -> None:
        if away:
            raise OSError

    cluster.faults.append(fault)
    async with candidate(cluster, work, "a"):
        await until(lambda: work.now == ["a"])
        away.append(1)
        await until(lambda: work.now == [])
        assert holder(cluster) == "a"
        away.clear()
        await until(lambda: work.now == ["a"])


async def test_a_lost_answer_costs_nobody_the_lease() -> None:
    cluster, work = MemoryCluster(), Work()
    turns = itertools.count()

    def fault(verb: str, _: Resource, __: str) -> Callable[[], None] | None:
        return unreachable if verb in {"create", "patch"} and next(turns) % 2 == 0 else None

    cluster.faults.append(fault)
    async with candidate(cluster, work, "a"), candidate(cluster, work, "b"):
        await until(lambda: work.now)
        first = list(work.now)
        await asyncio.sleep(1.0)
        assert work.now == first
    assert work.most == 1


async def test_a_lease_that_was_taken_is_not_worked_under() -> None:
    cluster, work = MemoryCluster(), Work()
    async with candidate(cluster, work, "a"):
        await until(lambda: work.now == ["a"])
        cluster.edit(*PLACE, {"spec": {"holderIdentity": "b", "leaseDurationSeconds": 1}})
        await until(lambda: work.now == [])
        assert holder(cluster) == "b"
        await until(lambda: work.now == ["a"])


async def test_a_lease_that_was_deleted_is_created_again() -> None:
    cluster, work = MemoryCluster(), Work()
    async with candidate(cluster, work, "a"):
        await until(lambda: work.now == ["a"])
        cluster.drop(*PLACE)
        await until(lambda: holder(cluster) == "a")
        assert work.now == ["a"]


async def test_work_that_fails_ends_it_and_frees_the_lease() -> None:
    cluster = MemoryCluster()

    async def work() -> None:
        await asyncio.sleep(0.1)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await Lease(cluster, "system", "control", "a", QUICK).lead(work)
    assert holder(cluster) == ""


async def test_without_the_right_it_goes_on_asking() -> None:
    cluster, work = MemoryCluster(), Work()

    def fault(verb: str, _: Resource, __: str) -> None:
        raise ApiError(403, "Forbidden")

    cluster.faults.append(fault)
    async with candidate(cluster, work, "a"):
        await asyncio.sleep(0.3)
        assert 2 <= len(cluster.calls) <= 10
        cluster.faults.clear()
        await until(lambda: work.now == ["a"])


async def test_on_a_real_api_server_one_works_and_the_other_follows(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str
) -> None:
    from jobgate.cluster.client import Client  # noqa: PLC0415 - seconds, which only this test needs

    work = Work()
    # An API server on a busy machine takes seconds; the one that ends gives the Lease back at once.
    times = Times(duration=15.0, deadline=10.0, retry=0.1, call=5.0)
    async with await Client.connect(controlplane.kubeconfig) as writer:
        leases = [Lease(writer, namespace, "control", name, times) for name in "ab"]
        tasks = [asyncio.create_task(one.lead(work.of(name))) for one, name in zip(leases, "ab", strict=True)]
        await until(lambda: work.now)
        first = work.now[0]
        await asyncio.sleep(3.0)
        assert work.now == [first]
        tasks["ab".index(first)].cancel()
        await until(lambda: work.now and work.now != [first])
        _, result = await asyncio.to_thread(
            cluster_api.get, f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/control"
        )
        assert result["spec"]["holderIdentity"] == work.now[0]
        assert result["spec"]["leaseTransitions"] == 1
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert work.most == 1

"""The API server answers 429, 500, 410 and conflicts for a while, to server, controller and runner at the same time.

Three seconds of each are several retries: requests are retried after 0.2 s to some seconds. Then all for a minute, in
which the waits between two retries get long.
"""

import itertools
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from controlplane.faulty import Call, Fault, FaultyProxy
from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.e2e.changes import recorded
from tests.e2e.test_runner import Run, dijob, task
from tests.faults.cluster import START, WAIT, Installation, Program, running, shown

#: How long each lasts at least, in seconds, and how often it is met at least.
SECONDS, LEAST = 3.0, 3
#: How long all of them last together, and how often a job is applied meanwhile and open watches are cut, in seconds.
ALL, ALL_SECONDS, EVERY = {409, 410, 429, 500}, 60.0, 12.0
#: Seconds in which all is right again after that, as a watch is retried within a minute; and in which three programs
#: start on a busy machine.
RIGHT, STARTED = 120.0, 2 * START
LEASES = "/apis/coordination.k8s.io/"


def met(proxies: Collection[FaultyProxy], least: int) -> bool:
    """Whether each program has met the fault, and so many times in all."""
    times = [sum(proxy.faults.values()) for proxy in proxies]
    return all(times) and sum(times) >= least


def writes(call: Call) -> bool:
    return call.writes and not call.path.startswith(LEASES)


def every(times: int, fault: Fault, when: Callable[[Call], bool] = lambda _: True) -> Callable[[Call], Fault | None]:
    """A fault for all calls that match, but for each so many-th, so that some succeed meanwhile."""
    count = 0

    def found(call: Call) -> Fault | None:
        nonlocal count
        if not when(call):
            return None
        count += 1
        return None if count % times == 0 else fault

    return found


def in_turn() -> Callable[[Call], Fault | None]:
    """All faults in turn, of reads and of writes; few calls succeed."""
    errors = Fault(429, "TooManyRequests", {"Retry-After": "1"}), Fault(500, "InternalError")
    of_reads = itertools.cycle((*errors, Fault(410, "Expired"), None))
    of_writes = itertools.cycle((*errors, Fault(409, "Conflict"), Fault(500, "InternalError", applied=True), None))

    def found(call: Call) -> Fault | None:
        fault = next(of_writes if call.writes else of_reads)
        return EXPIRED if fault and fault.code == EXPIRED.code and call.watches else fault

    return found


def expired() -> Callable[[Call], Fault | None]:
    """All watches end as expired, and some lists."""
    of_lists = every(3, Fault(410, "Expired"), lambda call: "limit" in call.query)
    return lambda call: EXPIRED if call.watches else of_lists(call)


EXPIRED = Fault(410, "Expired", event=True)
#: Each proxy counts its own calls: a program with a single write meets the fault of every second.
FAULTS: dict[str, Callable[[], Callable[[Call], Fault | None]]] = {
    "429": lambda: every(4, Fault(429, "TooManyRequests", {"Retry-After": "1"})),
    "500": lambda: every(4, Fault(500, "InternalError")),
    "500 to writes that are done": lambda: every(2, Fault(500, "InternalError", applied=True), writes),
    "409": lambda: every(3, Fault(409, "Conflict"), writes),
    "410": expired,
}


def test_jobs_go_on_while_the_api_server_fails(installation: Installation, space: Space) -> None:
    with through_proxies(installation) as (proxies, programs):
        for fault in FAULTS:
            with recorded(installation.plane, space.path("pods")) as changes:
                name = _one(fault, space, proxies, programs)
                made = sorted(pod["metadata"]["name"] for change, pod in changes() if change == "ADDED")
            assert [entry.rpartition("-")[0] for entry in made] == [f"{name}-work-0", f"{name}-work-1"], fault


def test_jobs_go_on_after_a_minute_of_all_errors(installation: Installation, space: Space) -> None:
    with (
        through_proxies(installation) as (proxies, programs),
        recorded(installation.plane, space.path("pods")) as changes,
    ):
        jobs = [Run(space, dijob("before", task("work", 2, ends(0, "30s")), plugins={"svc": []}))]
        jobs[0].until_pods("before-work-0", "before-work-1")
        begun = time.monotonic()
        for one in proxies:
            one.fault = in_turn()
        while time.monotonic() < begun + ALL_SECONDS:
            for one in proxies:
                one.cut()
            job = dijob(f"at-{len(jobs)}", task("work", 2, ends(0, "20s")), plugins={"svc": []})
            jobs.append(Run(space, job))
            time.sleep(EVERY)
        wait_for(lambda: all({*proxy.faults} >= ALL for proxy in proxies), WAIT, what="each has met each error")
        for one in proxies:
            one.fault = lambda _: None
        ended = time.monotonic()
        meanwhile = len(started(jobs))
        wait_for(lambda: len(started(jobs)) == len(jobs), RIGHT, what="all jobs run")
        right = time.monotonic() - ended
        for run in jobs:
            run.until("Succeeded")
        made = sorted(pod["metadata"]["name"] for change, pod in changes() if change == "ADDED")
        expected = sorted(f"{run.name}-work-{index}" for run in jobs for index in range(2))
        assert [each.rpartition("-")[0] for each in made] == expected, "each pod is made once"
        assert sorted(space.names("jobs", "batch/v1")) == sorted(f"{run.name}-work" for run in jobs)
        assert all(program.process.poll() is None for program in programs)
        met = [dict(entry.faults) for entry in proxies]
        shown(f"a minute of all: {met}, {meanwhile} of {len(jobs)} jobs ran meanwhile, right after {right:.1f} s")


def started(jobs: Collection[Run]) -> list[str]:
    """The jobs with pods that have run and objects that the controller has created."""
    return [job.name for job in jobs if "Running" in types(job) and job.space.exists("configmaps", f"{job.name}-svc")]


def types(job: Run) -> set[str]:
    """The types of the conditions that a job has or had."""
    return {condition["type"] for condition in job.status.get("conditions", ())}


@contextmanager
def through_proxies(
    installation: Installation,
) -> Iterator[tuple[tuple[FaultyProxy, FaultyProxy], tuple[Program, Program, Program]]]:
    """Run a replica of the server and the controller behind one proxy, and the runner behind another."""
    plane = installation.plane
    with FaultyProxy(plane, installation.runner_credentials()) as of_runner, FaultyProxy(plane) as proxy:
        replica = installation.replica(kubeconfig=proxy.kubeconfig)
        controller = installation.controller(proxy.kubeconfig)
        runner = installation.runner(of_runner.kubeconfig)
        try:
            with running(controller, runner):
                wait_for(lambda: controller.leads() and runner.leads(), STARTED, what="they lead")
                wait_for(lambda: installation.service.ready() == 3, STARTED, what="the replica is ready")
                yield (proxy, of_runner), (replica, controller, runner)
        finally:
            installation.remove(replica)


def _one(fault: str, space: Space, proxies: tuple[FaultyProxy, ...], programs: tuple[Program, ...]) -> str:
    """Run a job while a fault lasts, until it has succeeded; return its name."""
    name = "at-" + "".join(each if each.isalnum() else "-" for each in fault)
    of_writes = "write" in fault or fault == "409"
    # A job has few writes, and none is repeated.
    least = len(proxies) if of_writes else LEAST
    for one in proxies:
        one.faults.clear()
        one.fault = FAULTS[fault]()
        if not of_writes:
            one.cut()
    begun = time.monotonic()
    job = Run(space, dijob(name, task("work", 2, ends(0, "1s")), plugins={"svc": []}))
    wait_for(lambda: time.monotonic() > begun + SECONDS and met(proxies, least), WAIT, what=f"{fault} is met")
    for one in proxies:
        one.fault = lambda _: None
    ended = time.monotonic()
    job.until("Succeeded")
    wait_for(lambda: space.exists("configmaps", f"{name}-svc"), WAIT, what="the controller has made its object")
    right = max(0.0, time.monotonic() - ended)
    batches = [item for item in space.names("jobs", "batch/v1") if item.startswith(name)]
    assert len(batches) <= 1, batches
    assert all(program.process.poll() is None for program in programs)
    shown(f"{fault}: {[dict(proxy.faults) for proxy in proxies]}, right after {right:.1f} s of {ended - begun:.1f} s")
    return name

"""The API server answers 429, 500, 410 and conflicts for a while, to server, controller and runner at the same time.

Three seconds of each are several retries: requests are retried after 0.2 s to some seconds.
"""

import time
from collections.abc import Callable, Collection

from controlplane.faulty import Call, Fault, FaultyProxy
from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.e2e.test_runner import Run, changes, dijob, task
from tests.faults.cluster import START, WAIT, Installation, Program, running, shown

#: How long each lasts at least, in seconds, and how often it is met at least.
SECONDS, LEAST = 3.0, 3
LEASES = "/apis/coordination.k8s.io/"


def met(proxies: Collection[FaultyProxy], least: int) -> bool:
    """Whether each program has met the fault, and so many times in all."""
    times = [sum(one.faults.values()) for one in proxies]
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


a_list = every(3, Fault(410, "Expired"), lambda call: "limit" in call.query)
EXPIRED = Fault(410, "Expired", event=True)
FAULTS = {
    "429": every(4, Fault(429, "TooManyRequests", {"Retry-After": "1"})),
    "500": every(4, Fault(500, "InternalError")),
    "500 to writes that are done": every(2, Fault(500, "InternalError", applied=True), writes),
    "409": every(3, Fault(409, "Conflict"), writes),
    "410": lambda call: EXPIRED if call.watches else a_list(call),
}


def test_jobs_go_on_while_the_api_server_fails(installation: Installation, space: Space) -> None:
    plane = installation.plane
    with FaultyProxy(plane, installation.runner_credentials()) as of_runner, FaultyProxy(plane) as proxy:
        replica = installation.replica(kubeconfig=proxy.kubeconfig)
        controller = installation.controller(proxy.kubeconfig)
        runner = installation.runner(of_runner.kubeconfig)
        try:
            with running(controller, runner):
                wait_for(lambda: controller.leads() and runner.leads(), START, what="they lead")
                wait_for(lambda: installation.service.ready() == 3, START, what="the replica is ready")
                for fault in FAULTS:
                    _one(fault, space, (proxy, of_runner), (replica, controller, runner))
        finally:
            installation.remove(replica)


def _one(fault: str, space: Space, proxies: tuple[FaultyProxy, ...], programs: tuple[Program, ...]) -> None:
    name = "at-" + "".join(one if one.isalnum() else "-" for one in fault)
    revision = space.api.get(space.path("pods"))[1]["metadata"]["resourceVersion"]
    of_writes = "write" in fault or fault == "409"
    # A job has few writes, and those that are done are not repeated.
    least = len(proxies) if of_writes else LEAST
    for one in proxies:
        one.faults.clear()
        one.fault = FAULTS[fault]
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
    made = sorted(pod["metadata"]["name"] for change, pod in changes(space, "pods", revision) if change == "ADDED")
    assert [one.rpartition("-")[0] for one in made] == [f"{name}-work-0", f"{name}-work-1"], fault
    batches = [one for one in space.names("jobs", "batch/v1") if one.startswith(name)]
    assert len(batches) <= 1, batches
    assert all(one.process.poll() is None for one in programs)
    shown(f"{fault}: {[dict(one.faults) for one in proxies]}, right after {right:.1f} s of {ended - begun:.1f} s")

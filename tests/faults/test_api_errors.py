"""For a while the API server returns 429, 500, 410 and 409 to webhook server, controller and runner.

Each error lasts three seconds, for several retries: requests are retried after 0.2 s to some seconds.
"""

import time
from collections.abc import Callable, Collection

from controlplane.faulty import Call, Fault, FaultyProxy
from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.e2e.test_runner import Run, changes, dijob, task
from tests.faults.cluster import START, WAIT, Installation, Program, running, shown

#: Minimum seconds of each error, and minimum number of errors.
SECONDS, LEAST = 3.0, 3
LEASES = "/apis/coordination.k8s.io/"


def met(proxies: Collection[FaultyProxy], least: int) -> bool:
    """Whether each program has got the error, and at least `least` errors in all."""
    times = [sum(proxy.faults.values()) for proxy in proxies]
    return all(times) and sum(times) >= least


def writes(call: Call) -> bool:
    return call.writes and not call.path.startswith(LEASES)


def every(times: int, fault: Fault, when: Callable[[Call], bool] = lambda _: True) -> Callable[[Call], Fault | None]:
    """Return a fault for all matching calls, except each `times`-th, so that some succeed."""
    count = 0

    def fault_of(call: Call) -> Fault | None:
        nonlocal count
        if not when(call):
            return None
        count += 1
        return None if count % times == 0 else fault

    return fault_of


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
                    _check_fault(fault, space, (proxy, of_runner), (replica, controller, runner))
        finally:
            installation.remove(replica)


def _check_fault(fault: str, space: Space, proxies: tuple[FaultyProxy, ...], programs: tuple[Program, ...]) -> None:
    name = "at-" + "".join(character if character.isalnum() else "-" for character in fault)
    revision = space.api.get(space.path("pods"))[1]["metadata"]["resourceVersion"]
    of_writes = "write" in fault or fault == "409"
    # A job has few writes, and successful ones are not repeated.
    least = len(proxies) if of_writes else LEAST
    for proxy in proxies:
        proxy.faults.clear()
        proxy.fault = FAULTS[fault]
        if not of_writes:
            proxy.cut()
    begun = time.monotonic()
    job = Run(space, dijob(name, task("work", 2, ends(0, "1s")), plugins={"svc": []}))
    wait_for(lambda: time.monotonic() > begun + SECONDS and met(proxies, least), WAIT, what=f"{fault} is met")
    for proxy in proxies:
        proxy.fault = lambda _: None
    ended = time.monotonic()
    job.until("Succeeded")
    wait_for(lambda: space.exists("configmaps", f"{name}-svc"), WAIT, what="the controller has made its object")
    right = max(0.0, time.monotonic() - ended)
    created = sorted(pod["metadata"]["name"] for change, pod in changes(space, "pods", revision) if change == "ADDED")
    assert [pod.rpartition("-")[0] for pod in created] == [f"{name}-work-0", f"{name}-work-1"], fault
    batches = [batch for batch in space.names("jobs", "batch/v1") if batch.startswith(name)]
    assert len(batches) <= 1, batches
    assert all(program.process.poll() is None for program in programs)
    shown(f"{fault}: {[dict(proxy.faults) for proxy in proxies]}, right after {right:.1f} s of {ended - begun:.1f} s")

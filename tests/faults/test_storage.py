"""etcd does not answer for 20 s."""

import time

from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.e2e.changes import recorded
from tests.e2e.test_runner import Run, dijob, task
from tests.faults.cluster import START, WAIT, Installation, pid_of, running, shown, stopped

STOPPED = 20.0


def test_jobs_go_on_after_etcd_was_stopped_for_20_s(installation: Installation, space: Space) -> None:
    credentials = installation.runner_credentials()
    runners = [installation.runner(credentials) for _ in range(2)]
    controller, rotation = installation.controller(), installation.watch()
    with running(*runners, controller, rotation), recorded(installation.plane, space.path("pods")) as changes:
        wait_for(lambda: any(runner.leads() for runner in runners) and controller.leads(), START, what="they lead")
        before = Run(space, dijob("before", task("work", 2, ends(0, "15s")), plugins={"svc": []}))
        before.until_pods("before-work-0", "before-work-1")
        wait_for(lambda: space.exists("configmaps", "before-svc"), what="the controller has seen the job")
        most = 0
        with stopped(pid_of(installation.plane, "etcd")):
            end = time.monotonic() + STOPPED
            while time.monotonic() < end:
                most = max(most, sum(runner.leads() for runner in runners))
                assert installation.service.ready() == 2, "replicas stay ready"
                time.sleep(0.2)
        begun = time.monotonic()
        again = wait_for(lambda: applied(space), WAIT, what="a job is accepted")
        assert again is not None
        accepted = time.monotonic() - begun
        again.until_pods("after-work-0")
        runs = time.monotonic() - begun
        wait_for(lambda: space.exists("configmaps", "after-svc"), what="the controller goes on")
        before.until("Succeeded")
        again.until("Succeeded")
        assert most <= 1, "one runner leads"
        wait_for(lambda: sum(runner.leads() for runner in runners) == 1, WAIT, what="one runner leads again")
        created = [pod["metadata"]["name"] for change, pod in changes() if change == "ADDED"]
        assert len(created) == 3, f"each pod is made once: {created}"
        assert [name for name in space.names("configmaps") if name.endswith("-svc")] == ["after-svc", "before-svc"]
        wait_for(lambda: bool(rotation.ask("readyz")), WAIT, what="the rotation goes on")
        shown(f"etcd: accepted after {accepted:.1f} s, runs after {runs:.1f} s")


def applied(space: Space) -> Run | None:
    """Create a job; return None if that fails."""
    try:
        return Run(space, dijob("after", task("work", 1, ends(0, "15s")), plugins={"svc": []}))
    except (AssertionError, OSError):
        return None

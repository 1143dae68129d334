"""The clock of a runner or a replica is shifted by 10 minutes, ahead and back."""

import time
from typing import Any

from controlplane.simulation import ends
from controlplane.space import Space
from controlplane.waiting import wait_for
from tests.e2e.test_runner import Run
from tests.faults.cluster import START, WAIT, Installation, Program, running, shown

MINUTES = 600.0
#: Seconds until an ended job is deleted; longer than the test, so none is deleted.
TTL = 300


def test_only_one_runner_leads_and_no_ttl_ends_early_with_shifted_clocks(
    installation: Installation, space: Space
) -> None:
    credentials = installation.runner_credentials()
    first = installation.runner(credentials, clock=True)
    with running(first):
        wait_for(first.leads, START, what="the first leads")
        second = installation.runner(credentials, clock=True)
        second.ahead(MINUTES)
        with running(second):
            wait_for(second.port, START, what="the second waits")
            most = 0
            for number, ahead in enumerate((MINUTES, -MINUTES)):
                first.ahead(ahead)
                Run(space, torchjob(f"job-{number}")).until("Succeeded")
                end = time.monotonic() + 1.0
                while time.monotonic() < end:
                    most = max(most, leading(first, second))
                assert first.leads(), "the clock of another does not take its Lease away"
            assert most == 1
            first.stop()
            begun = time.monotonic()
            wait_for(second.leads, WAIT, what="the second takes over")
            shown(f"clocks: the second took over after {time.monotonic() - begun:.1f} s")
            Run(space, torchjob("job-2")).until("Succeeded")
            kept = space.names("torchjobs", "train.distributed.io/v1alpha1")
            assert kept == ["job-0", "job-1", "job-2"], "none is deleted before its time"


def leading(*runners: Program) -> int:
    """Return how many runners lead."""
    return sum(runner.leads() for runner in runners)


def torchjob(name: str) -> dict[str, Any]:
    """A job that succeeds after a second, with a TTL of 5 minutes."""
    template = {
        "metadata": {"annotations": ends(0, "1s")},
        "spec": {"containers": [{"name": "torch", "image": "torch"}]},
    }
    return {
        "apiVersion": "train.distributed.io/v1alpha1",
        "kind": "TorchJob",
        "metadata": {"name": name},
        "spec": {"torchTaskSpecs": {"Master": {"template": template}}, "ttlSecondsAfterFinished": TTL},
    }


def test_a_replica_serves_new_certificates_with_a_shifted_clock(installation: Installation) -> None:
    replica = installation.replica(clock=True)
    try:
        wait_for(lambda: installation.service.ready() == 3, START, what="it is ready, and the Service knows")
        for number, ahead in enumerate((MINUTES, -MINUTES), start=2):
            replica.ahead(ahead)
            begun = time.monotonic()
            installation.rotate("--force")
            wait_for(lambda number=number: len(served(replica)) == number, WAIT, what="it serves the new certificate")  # type: ignore[misc]
            shown(f"clock {ahead:+.0f}: all serve a new certificate after {time.monotonic() - begun:.1f} s")
            assert replica.ask("readyz")
            assert installation.service.ready() == 3
    finally:
        installation.remove(replica)


def served(replica: Program) -> set[int]:
    """Return the generations of the certificate that a replica has served."""
    return {line["generation"] for line in replica.lines() if line["message"] == "certificate served"}

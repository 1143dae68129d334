"""What is left when the runner is not there any more: jobs can be deleted, and nothing waits for it."""

from pathlib import Path

from controlplane.client import ClusterApi
from controlplane.runner import forget_lease, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task


def test_a_job_is_deleted_with_all_that_it_is_made_of(
    whole_controlplane: WholeControlPlane,
    running_webhook: InstalledWebhook,
    whole_api: ClusterApi,
    whole_namespace: str,
    tmp_path: Path,
) -> None:
    space = Space(whole_api, whole_namespace)
    try:
        with runner(whole_controlplane, tmp_path / "log") as process:
            left = {how: Run(space, dijob(how.lower(), task("work", 2))) for how in ("Foreground", "Background")}
            for one in left.values():
                one.until("Running")
            process.kill()
    finally:
        forget_lease(whole_controlplane)
    for propagation, one in left.items():
        assert not one.job["metadata"].get("finalizers")
        path = space.path(one.plural, one.name, one.version)
        assert whole_api.delete(path, {"propagationPolicy": propagation})[0] in {200, 202}
    resources = ((one.plural, one.version), ("pods", ""), ("services", ""), ("jobs", "batch/v1"))
    wait_for(lambda: not any(space.items(*each) for each in resources), WAIT, what="nothing is left")

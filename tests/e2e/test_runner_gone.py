"""Without the runner, its jobs can still be deleted, and nothing is left."""

from pathlib import Path

from controlplane.client import ClusterApi
from controlplane.runner import forget_lease, runner
from controlplane.space import Space
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane
from tests.e2e.test_runner import WAIT, Run, dijob, task


def test_a_job_is_deleted_with_all_its_objects(
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
            for run in left.values():
                run.until("Running")
            process.kill()
    finally:
        forget_lease(whole_controlplane)
    for propagation, run in left.items():
        assert not run.job["metadata"].get("finalizers")
        path = space.path(run.plural, run.name, run.version)
        assert whole_api.delete(path, {"propagationPolicy": propagation})[0] in {200, 202}
    resources = ((run.plural, run.version), ("pods", ""), ("services", ""), ("jobs", "batch/v1"))
    wait_for(lambda: not any(space.items(*each) for each in resources), WAIT, what="nothing is left")

"""The runner, killed again and again: `bench.runner_soak`, short. The long one is run by hand."""

from pathlib import Path

from bench.runner_soak import soak
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane


def test_jobs_end_as_they_should_however_often_the_runner_is_killed(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path: Path
) -> None:
    found = soak(whole_controlplane, tmp_path, jobs=12, kills=3, seed=1)
    assert found.wrong == []
    assert (found.jobs, found.kills) == (12, 3)
    assert found.at_work > 0

"""A short run of `bench.runner_soak`, which kills the runner again and again."""

from pathlib import Path

from bench.runner_soak import soak
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane


def test_jobs_end_as_expected_although_the_runner_is_killed(
    whole_controlplane: WholeControlPlane, running_webhook: InstalledWebhook, tmp_path: Path
) -> None:
    result = soak(whole_controlplane, tmp_path, jobs=12, kills=3, seed=1)
    assert result.wrong == []
    assert (result.jobs, result.kills) == (12, 3)
    assert result.at_work > 0

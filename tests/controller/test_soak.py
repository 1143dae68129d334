"""The soak in small (`bench/controller_soak.py`), and what only garbage collection shows."""

from pathlib import Path

import pytest

from bench.controller_soak import soak
from controlplane import controller as installed
from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from controlplane.whole import WholeControlPlane
from tests.controller.test_real import Cluster, train


def test_killed_again_and_again_it_ends_in_the_right_state(
    whole_controlplane: WholeControlPlane, tmp_path: Path
) -> None:
    result = soak(whole_controlplane, tmp_path, jobs=15, kills=3, longest=6.0)
    assert result.wrong == []
    assert result.objects > 0


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_what_was_made_for_a_job_goes_with_it(
    whole_controlplane: WholeControlPlane, whole_api: ClusterApi, whole_namespace: str, tmp_path: Path, propagation: str
) -> None:
    installed.install(whole_api, whole_namespace)
    cluster = Cluster(whole_api, whole_namespace)
    with installed.controlling(whole_controlplane, tmp_path / "log"):
        cluster.apply(train(whole_namespace, plugins={"svc": [], "ssh": []}))
        wait_for(lambda: len(cluster.ours()) == 3, what="the objects are made")
        whole_api.delete(cluster.path("DIJob", "train"), {"propagationPolicy": propagation})
        wait_for(lambda: not cluster.ours() and not cluster.get("DIJob", "train"), what="all is gone")

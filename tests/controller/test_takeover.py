"""Two controllers, processes under their own rights, on a real API server: one works."""

import os
import signal
from pathlib import Path

from controlplane import controller as installed
from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from tests.controller.test_real import WAIT, Cluster, train

LEASE = "/apis/coordination.k8s.io/v1/namespaces/jobgate-system/leases/jobgate-controller"


def test_when_the_one_that_works_is_killed_the_other_takes_over(
    controlplane: ControlPlane, cluster_api: ClusterApi, namespace: str, tmp_path: Path
) -> None:
    def holder() -> str:
        status, answer = cluster_api.get(LEASE)
        return str(answer["spec"].get("holderIdentity") or "") if status == 200 else ""

    def reported(log: Path) -> str:
        return log.read_text() if log.exists() else ""

    installed.install(cluster_api)
    cluster = Cluster(cluster_api, namespace)
    with installed.controlling(controlplane, tmp_path / "a") as one:
        cluster.apply(train(namespace))
        wait_for(lambda: len(cluster.ours()) == 2, WAIT, what="the first works")
        first = holder()
        with installed.controlling(controlplane, tmp_path / "b"):
            wait_for(lambda: "controller started" in reported(tmp_path / "b"), WAIT, what="the second is there")
            assert one.pid
            os.kill(one.pid, signal.SIGKILL)
            cluster.apply(train(namespace, replicas=4))
            lists = wait_for(lambda: "train-work-3" in cluster.get("ConfigMap", "train-svc")["data"]["work.host"], WAIT)
            assert lists
            assert holder() not in {"", first}
    assert holder() == "", "a controller that is reported to end gives its Lease back"

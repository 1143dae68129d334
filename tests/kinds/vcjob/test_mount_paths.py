"""Mount paths of Volcano's claims: a real API server accepts the same paths in a Pod."""

from typing import Any

import pytest

from controlplane import ClusterApi
from tests.kinds.vcjob.jobs import faults, job, task, validate


def pod(mount_path: str) -> dict[str, Any]:
    """Return a Pod with a claim that is mounted there."""
    mount = {"name": "claim", "mountPath": mount_path}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "mounts"},
        "spec": {
            "containers": [{"name": "main", "image": "busybox", "volumeMounts": [mount]}],
            "volumes": [{"name": "claim", "persistentVolumeClaim": {"claimName": "there"}}],
        },
    }


@pytest.mark.parametrize("mount_path", ["/data", "/data:ro", ":", "data"])
def test_the_api_server_takes_any_place_and_so_do_we(cluster_api: ClusterApi, mount_path: str) -> None:
    status, answer = cluster_api.post("/api/v1/namespaces/default/pods", pod(mount_path), {"dryRun": "All"})
    assert status == 201, answer
    response = validate(job(task("a"), volumes=[{"mountPath": mount_path, "volumeClaimName": "there"}]))
    warning = (
        "spec.volumes[0].mountPath: must not contain ':', which some container runtimes treat as the end of the path"
    )
    assert (faults(response), response.warnings) == ([], [warning] if ":" in mount_path else [])

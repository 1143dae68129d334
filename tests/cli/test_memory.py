"""The memory of the server at its start in a cluster that stores large jobs."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from jobgate.installation import Installation, objects
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from jobgate.plugins.weight import LIMIT
from tests.cluster.listing import Listing, serving

MIB = 1024 * 1024


def job(number: int, tasks: int) -> bytes:
    """A stored DIJob of a MiB in so many tasks."""
    container = {"name": "main", "image": "ding", "args": ["x" * (MIB // tasks - 110)]}
    result: dict[str, Any] = {
        "apiVersion": DIJOB.gvk.api_version,
        "kind": "DIJob",
        "metadata": {"name": f"job-{number}", "namespace": "team", "uid": f"uid-{number}", "resourceVersion": "1"},
        "spec": {
            "plugins": {"env": [], "svc": []},
            "tasks": [
                {"name": f"t{place}", "template": {"spec": {"containers": [container]}}} for place in range(tasks)
            ],
        },
    }
    return json.dumps(result).encode()


def limit() -> int:
    """The memory limit of the server's Deployment, in MiB."""
    result = objects(installed(), Installation(crds=False))
    (server,) = [
        each for each in result if (each["kind"], each["metadata"]["name"]) == ("Deployment", "jobgate-webhook")
    ]
    text: str = server["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"]
    return int(text.removesuffix("Mi"))


@pytest.mark.parametrize("count, tasks", [(200, 10), (40, 1000), (10, 3000)])
async def test_many_stored_jobs_of_a_mebibyte_fit_into_the_memory_limit(count: int, tasks: int, tmp_path: Path) -> None:
    results = [job(number, tasks) for number in range(count)]
    assert all(0.95 * MIB < len(each) < 1.2 * MIB for each in results)
    kubeconfig = tmp_path / "kubeconfig"
    async with serving(Listing(dijobs=results)) as listing:
        kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "a", "cluster": {"server": listing.url}}],
                    "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
                    "users": [{"name": "a", "user": {}}],
                    "current-context": "a",
                }
            )
        )
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.cli.reader", str(kubeconfig), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await asyncio.wait_for(child.communicate(), 300)
    taken = int(output)
    # Leaves the room that 200 jobs with the largest digest take beyond these.
    assert taken + 200 * LIMIT // MIB < limit()

"""Measures the cost of wiring a pod, and of digesting a job: `python -m bench.pods`.

The results are microseconds for each call, on one core. The command fails if a pod of a job with a thousand tasks takes
more than a tenth of the API server's deadline.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
import tracemalloc
from typing import Any

from jobgate.kinds.dijob import DIJOB
from jobgate.pods import Digest, Lookup, PodReviewer, Read, digest_of
from webhook import Operation, Phase, Request

#: Limit for a pod in seconds, of the API server's deadline of 5 s.
BOUND = 0.5
UID = "11111111-2222-4333-8444-555555555555"


def job(tasks: int, replicas: int, plugins: dict[str, Any]) -> dict[str, Any]:
    """Return a stored job."""
    env = [{"name": f"VARIABLE_{number}", "value": "x" * 40} for number in range(20)]
    container = {"name": "main", "image": "registry.example.com/train:1", "env": env, "command": ["python", "train.py"]}
    template = {"spec": {"containers": [container, {"name": "log", "image": "log"}], "volumes": [{"name": "data"}]}}
    return {
        "apiVersion": DIJOB.gvk.api_version,
        "kind": "DIJob",
        "metadata": {"name": "train", "namespace": "team", "uid": UID},
        "spec": {
            "plugins": plugins,
            "tasks": [{"name": f"t{number}", "replicas": replicas, "template": template} for number in range(tasks)],
        },
    }


def pod(task: str) -> dict[str, Any]:
    """Return a pod of the job."""
    labels = {"diengine/operator": "di-operator", "diengine/job": "train", "diengine/task-name": task}
    owner = {"apiVersion": DIJOB.gvk.api_version, "kind": "DIJob", "name": "train", "uid": UID}
    return {
        "metadata": {"name": f"train-{task}-0", "labels": labels, "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "main", "env": [{"name": "MINE", "value": "1"}]}, {"name": "log"}]},
    }


class SingleJob:
    """A cache with one job."""

    def __init__(self, digest: Digest) -> None:
        self._digest = digest

    def get(self, name: str, namespace: str = "") -> Digest | None:
        """Return the job."""
        del name, namespace
        return self._digest


async def no_read(name: str, namespace: str) -> Read | None:
    """Fail: in the steady state nothing is read from the API server."""
    raise AssertionError(f"{namespace}/{name} is asked for")


async def wiring(document: dict[str, Any]) -> float:
    """Return the seconds for the review of a job's last pod, the best of several."""
    reviewer = PodReviewer([(DIJOB, Lookup("DIJob", SingleJob(digest_of(DIJOB, document)), no_read))])
    last = document["spec"]["tasks"][-1]["name"]
    words: dict[str, Any] = {"operation": Operation.CREATE, "namespace": "team", "document": pod(last)}
    request = Request(uid="1", api_version="v1", kind="Pod", **words)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        response = await reviewer.review(request, Phase.MUTATE)
        times.append(time.perf_counter() - start)
        assert response is not None
        assert response.patch, response
    return min(times)


def remembering(document: dict[str, Any]) -> tuple[float, int]:
    """Return the seconds to digest a job, and the bytes of the digest."""
    digest_of(DIJOB, document)
    start = time.perf_counter()
    digest_of(DIJOB, document)
    elapsed = time.perf_counter() - start
    gc.collect()
    tracemalloc.start()
    kept = [digest_of(DIJOB, document) for _ in range(10)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] // len(kept)
    tracemalloc.stop()
    return elapsed, size


def main() -> int:
    """Print the results; return 1 if a pod takes too long."""
    worst = 0.0
    print(f"{'tasks':>6} {'pods':>6} {'plugins':<14} {'wire µs':>10} {'digest µs':>10} {'bytes kept':>11}")
    for tasks, replicas in ((1, 1), (3, 4), (30, 4), (1000, 1), (3, 1000)):
        for plugins in (["env"], ["env", "svc", "ssh"]):
            document = job(tasks, replicas, {name: [] for name in plugins})
            seconds = asyncio.run(wiring(document))
            elapsed, size = remembering(document)
            worst = max(worst, seconds)
            figures = f"{seconds * 1e6:>10.0f} {elapsed * 1e6:>10.0f} {size:>11}"
            print(f"{tasks:>6} {tasks * replicas:>6} {'+'.join(plugins):<14} {figures}")
    _, size = remembering(job(3, 4, {}))
    print(f"without plugins: {size} bytes kept a job")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())

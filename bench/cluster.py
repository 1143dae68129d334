"""A fake API server with DIJobs, a namespace and a queue, for lists and watches: `python -m bench.cluster --jobs N`.

Each page of a list is generated on request, so that 50,000 jobs need no memory.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from bench.comparison import bodies, jobs, servers

_PATH = "/apis/diengine.opendilab.org/v2alpha1/dijobs"
_METADATA = {"resourceVersion": "1"}
#: Other objects, by the path of their list.
_OTHERS = {
    "/api/v1/namespaces": {"metadata": {"name": "team", **_METADATA}},
    "/apis/scheduling.volcano.sh/v1beta1/queues": {
        "metadata": {"name": "research", **_METADATA},
        "status": {"state": "Open"},
    },
}
_PLUGINS: dict[str, Any] = {"env": [], "svc": [], "ssh": []}
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: bench
clusters: [{{name: bench, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]
users: [{{name: bench, user: {{token: none}}}}]
"""


def stored(variant: int, tasks: int = 3) -> dict[str, Any]:
    """Return a stored DIJob with plugins; its tasks have names, as after mutation."""
    job = bodies.stored(jobs.job("DIJob", tasks, variant), variant)
    job["spec"]["plugins"] = _PLUGINS
    for task in job["spec"]["tasks"]:
        task |= {"name": task.get("name") or task["type"], "type": task.get("type", "none"), "replicas": 2}
    return job


@contextmanager
def running(count: int, core: int, folder: Path, tasks: int = 3) -> Iterator[Path]:
    """Serve `count` jobs of `tasks` tasks while the block runs; yields the kubeconfig."""
    [port] = servers.free_ports(1)
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG.format(port=port), encoding="utf-8")
    command = [sys.executable, "-m", "bench.cluster", "--jobs", str(count), "--tasks", str(tasks)]
    command += ["--port", str(port)]
    with servers.started("cluster", command, port, core, folder / "cluster.log"):
        yield kubeconfig


async def _serve(count: int, tasks: int, port: int) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            await asyncio.Event().wait()  # until the client leaves
        if other := _OTHERS.get(request.path):
            return web.json_response({"metadata": _METADATA, "items": [other]})
        if request.path != _PATH:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        first = int(request.query.get("continue", 0))
        after = min(first + int(request.query.get("limit", count)), count)
        metadata = {**_METADATA, **({"continue": str(after)} if after < count else {})}
        items = [stored(number, tasks) for number in range(first, after)]
        return web.Response(body=orjson.dumps({"metadata": metadata, "items": items}), content_type="application/json")

    server = await asyncio.get_running_loop().create_server(web.Server(handle, access_log=None), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.cluster")
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--port", type=int, required=True)
    command = parser.parse_args()
    asyncio.run(_serve(command.jobs, command.tasks, command.port))

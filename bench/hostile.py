"""Measures the memory of each process in a cluster with hostile objects: `python -m bench.growth --series hostile`.

A fake API server generates the objects: every list that a process requests has many objects of one namespace, each with
a megabyte in one field; then all of them change, as watch events. So no etcd with gigabytes is needed, and the
processes read what a real API server sends. Objects that only administrators write are left out.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import orjson
from aiohttp import web

from bench.cluster import KUBECONFIG, stored
from bench.comparison import servers
from jobgate.names import MANAGED_BY
from jobgate.plugins.crew import COMPLETION_INDEX, JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL

#: Objects of each watched resource, some thousand in all, and bytes of each.
OBJECTS, BYTES = 250, 1_000_000
KIND, JOBS = "dijobs.diengine.opendilab.org", "dijobs"
#: The memory limits of the manifests, in MiB.
LIMITS: Final = {"serve": 512, "control": 512, "run": 1024}
#: Resources that only administrators write, or that are read only once.
EMPTY: Final = frozenset(
    {
        *("namespaces", "leases", "deployments", "customresourcedefinitions"),
        *("queues", "clusterprerequisites", "priorityclasses", "resourcequotas"),
    }
)
#: Seconds in which all objects must be read, and seconds to wait until a process is idle.
WITHIN, SETTLED = 3600.0, 15.0
_TEXT: Final = "x" * 63
LABELS: Final = {
    **dict([MANAGED_BY]),
    RUN_LABEL: "uid-0",
    KIND_LABEL: KIND,
    JOB_LABEL: "job-0",
    TASK_LABEL: "learner",
    COMPLETION_INDEX: "0",
}
_OWNER: Final = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob"}
_CONDITION: Final = {"status": "True", "message": _TEXT}
#: Large values, by field.
FIELDS: Final[Mapping[str, Any]] = {
    "labels": LABELS | {f"hostile.example.com/{number:06d}": _TEXT for number in range(BYTES // 97)},
    "annotations": {f"jobgate.dev/{number:06d}": _TEXT for number in range(BYTES // 89)},
    "ownerReferences": [{**_OWNER, "name": f"job-{number}", "uid": f"{number:036d}"} for number in range(BYTES // 123)],
    "managedFields": [{"manager": f"m{number}", "fieldsV1": {"f:x": {}}} for number in range(BYTES // 48)],
    "status": {"conditions": [{"type": f"T{number}", **_CONDITION} for number in range(BYTES // 112)]},
    "spec": {"hostile": [{"a": number} for number in range(BYTES // 14)]},
}


def hostile(plural: str, field: str) -> dict[str, Any]:
    """Return an object with a megabyte in one field; `@N@` stands for its number, `@V@` for its version."""
    metadata: dict[str, Any] = {"name": "job-@N@", "namespace": "ada", "uid": "uid-@N@", "resourceVersion": "@V@"}
    metadata |= {"labels": LABELS, "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1}
    document = stored(0) if plural == JOBS else {}
    document["metadata"] = document.get("metadata", {}) | metadata
    if plural == JOBS and field == "spec":
        container = document["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
        container["env"] = [{"name": f"V{number}", "value": _TEXT} for number in range(BYTES // 90)]
    else:
        (document if field in {"spec", "status"} else document["metadata"])[field] = FIELDS[field]
    return document


class Cluster:
    """A fake API server, in a thread."""

    def __init__(self, count: int) -> None:
        """Generate the objects; `count` of each resource are served."""
        self._count = count
        self._objects = {(jobs, field): orjson.dumps(hostile(jobs, field)) for jobs in ("", JOBS) for field in FIELDS}
        self._created: dict[str, Any] = {}
        #: Number of objects that were listed, and sent as changed, by resource.
        self.listed: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.change = threading.Event()

    def _hostile(self, plural: str, number: int, version: int) -> bytes:
        field = list(FIELDS)[number % len(FIELDS)]
        text = self._objects[plural if plural == JOBS else "", field]
        return text.replace(b"@N@", str(number).encode()).replace(b"@V@", str(version).encode())

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        plural = request.path.rpartition("/")[2]
        if "watch" in request.query or "limit" in request.query:
            return await (self._watched if "watch" in request.query else self._list)(request, plural)
        if request.method == "GET":
            known = self._created.get(request.path)
            if f"/{JOBS}/job-" in request.path:
                known = orjson.loads(self._hostile(JOBS, int(plural.removeprefix("job-")), 2))
            return web.json_response(known or {"reason": "NotFound"}, status=200 if known else 404)
        body = orjson.loads(await request.read() or b"{}")
        path = request.path if request.method != "POST" else f"{request.path}/{body['metadata'].get('name', 'x')}"
        if request.method == "POST" and path in self._created:
            return web.json_response({"reason": "AlreadyExists"}, status=409)
        if request.method == "PATCH" and f"/{JOBS}/job-" in path:
            job = orjson.loads(self._hostile(JOBS, int(path.partition("job-")[2].partition("/")[0]), 2))
            return web.json_response(_merged(job, body))
        if "/leases/" in path and request.method != "DELETE":
            known = self._created.get(path, {"metadata": {"uid": "u", "resourceVersion": "3"}})
            self._created[path] = {**known, **body, "metadata": {**body["metadata"], **known["metadata"]}}
            return web.json_response(self._created[path])
        return web.json_response(body)

    async def _list(self, request: web.BaseRequest, plural: str) -> web.StreamResponse:
        first, count = int(request.query.get("continue", 0)), 0 if plural in EMPTY else self._count
        after = min(first + int(request.query["limit"]), count)
        response = await _stream(request)
        token = f',"continue":"{after}"' if after < count else ""
        await response.write(f'{{"metadata":{{"resourceVersion":"1"{token}}},"items":['.encode())
        for number in range(first, after):
            await response.write((b"," if number > first else b"") + self._hostile(plural, number, 1))
        await response.write(b"]}")
        self.listed[plural] = max(after, self.listed[plural])
        return response

    async def _watched(self, request: web.BaseRequest, plural: str) -> web.StreamResponse:
        response = await _stream(request)
        await asyncio.to_thread(self.change.wait)
        for number in range(self.changed[plural], 0 if plural in EMPTY else self._count):
            line = self._hostile(plural, number, 2)
            await response.write(b'{"type":"MODIFIED","object":' + line + b"}\n")
            self.changed[plural] += 1
        await asyncio.sleep(WITHIN)
        return response

    async def _listen(self, port: int) -> None:
        server = web.Server(self._handle, access_log=None)
        await asyncio.get_running_loop().create_server(server, "127.0.0.1", port)

    @contextmanager
    def running(self, folder: Path) -> Iterator[Path]:
        """Serve while the block runs; yields the kubeconfig."""
        [port] = servers.free_ports(1)
        loop = asyncio.new_event_loop()
        loop.set_default_executor(ThreadPoolExecutor(64))
        loop.run_until_complete(self._listen(port))
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(KUBECONFIG.format(port=port), encoding="utf-8")
        try:
            yield kubeconfig
        finally:
            self.change.set()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


async def _stream(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    return response


def _merged(document: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    document = document if isinstance(document, dict) else {}
    return document | {key: _merged(document.get(key), value) for key, value in patch.items() if value is not None}


def measure(process: str, count: int) -> tuple[float, float, list[str]]:
    """Run a process in a cluster with hostile objects.

    Returns its peak memory in MiB when all objects were listed, and when all had changed; and the resources.
    """
    cluster = Cluster(count)
    with tempfile.TemporaryDirectory(prefix="jobgate-bench-") as name, cluster.running(Path(name)) as kubeconfig:
        folder, (port, health) = Path(name), servers.free_ports(2)
        if process == "serve":
            servers.write_certificate(folder)
            command = servers.jobgate(folder, port, health, "--kubeconfig", str(kubeconfig))
        else:
            port = health
            command = [str(Path(sys.executable).with_name("jobgate")), process, "--kubeconfig", str(kubeconfig)]
            command += ["--lease-namespace", "jobgate-system", "--bind", "127.0.0.1", "--health-port", str(health)]
            command += ["--run", KIND, "--queues", str(_queues(folder))] if process == "run" else []
        with servers.started(process, command, port, None, folder / "log") as server:
            _await(lambda: _all(cluster.listed, count))
            listed = server.peak()
            cluster.change.set()
            _await(lambda: _all(cluster.changed, count))
            return listed, server.peak(), sorted(cluster.changed)


def _queues(folder: Path) -> Path:
    (folder / "queues.yaml").write_text("queues: [{name: default}]\n", encoding="utf-8")
    return folder / "queues.yaml"


def _all(seen: Counter[str], count: int) -> bool:
    return bool(seen) and all(
        seen_of_resource >= count for plural, seen_of_resource in seen.items() if plural not in EMPTY
    )


def _await(done: Callable[[], bool]) -> None:
    """Wait until the condition has held for `SETTLED` seconds, so that work queues are empty."""
    deadline, since = time.monotonic() + WITHIN, float("inf")
    while time.monotonic() < since + SETTLED:
        if time.monotonic() > deadline:
            raise RuntimeError(f"the process does not read all objects: {done()}")
        since = min(since, time.monotonic()) if done() else float("inf")
        time.sleep(0.5)


def table(count: int) -> list[list[str]]:
    """Measure all processes; return the table's rows, with a header."""
    rows = [["process", "1 MB objects of each", "peak MiB, listed", "peak MiB, all changed", "limit MiB", "resources"]]
    for process, limit in LIMITS.items():
        listed, changed, resources = measure(process, count)
        memory = [f"{count:,}", f"{listed:,.0f}", f"{changed:,.0f}", f"{limit:,}"]
        rows.append([f"`jobgate {process}`", *memory, ", ".join(resources)])
    return rows


def beyond(rows: list[list[str]]) -> list[str]:
    """Return the processes that exceeded their limit."""
    return [row[0] for row in rows[1:] if float(row[3].replace(",", "")) > float(row[4].replace(",", ""))]

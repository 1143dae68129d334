"""The memory of each process with hostile objects: `python -m bench.hostile`.

    python -m bench.hostile [--sort NAME] [--count N] [--write]

For each sort of object a real API server has 1,000 of a megabyte each in one namespace. One is created, as if no
webhook had seen it; copies of it are put into etcd, as an API server takes half a second for each. The processes that
read such objects are started, and list all; then each object changes, as an event of a watch.
`--write` renews the table in docs/explanation/performance.md; exit status 1 where a process takes more memory than its
manifest allows. What only administrators write is left out.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import sys
import tempfile
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson

from bench.cluster import stored
from bench.comparison import servers
from bench.comparison.servers import Server
from bench.page import aligned, piped, renew
from controlplane import ControlPlane, Terminal, find_or_build
from controlplane.client import ClusterApi
from controlplane.objects import ClusterObjects
from controlplane.rights import SYSTEM
from controlplane.versions import GANGS_API, GANGS_GATES
from controlplane.waiting import wait_for
from jobgate.installation import Installation
from jobgate.installation.objects import base, definitions
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from jobgate.ownership import MANAGED_BY
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL

COUNT, BYTES = 1_000, 1_000_000
#: Processes are at rest if they use less than a tenth of a core for so many seconds, or if no peak has changed for so
#: long. The last is the longest wait.
IDLE, STEADY, WITHIN = 10.0, 60.0, 900.0
#: How often a request to etcd is tried, which does not answer in time on a busy machine.
ATTEMPTS: Final = 10
NAMESPACE: Final = "ada"
#: Of each command: the file of its manifest, and its further flags.
PROCESSES: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "serve": ("server", ()),
    "control": ("controller", (f"--lease-namespace={SYSTEM}",)),
    "run": ("runner", (f"--lease-namespace={SYSTEM}", "--queueing=kubernetes")),
}
_QUEUES: Final = "queues: [{name: default}]\n"
_INSTALLATION: Final = Installation(run=(DIJOB.qualified_plural,), queueing="kubernetes", queues=_QUEUES)
_FLAGS: Final = (GANGS_GATES, f"--runtime-config={GANGS_API}=true")
_DIJOBS: Final = f"/apis/{DIJOB.group}/{DIJOB.version}/namespaces/{NAMESPACE}/{DIJOB.plural}"
_BATCH: Final = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
_TEXT: Final = "x" * 63
#: The number of the object that is created; its copies have others of as many digits.
_NUMBER: Final = "100000"
_LABELS: Final = {
    **dict([MANAGED_BY]),
    RUN_LABEL: f"uid-{_NUMBER}",
    KIND_LABEL: DIJOB.qualified_plural,
    JOB_LABEL: f"job-{_NUMBER}",
    TASK_LABEL: "learner",
    "diengine/operator": "di-operator",  # by which the controller selects pods
    "hostile.example.com/version": "version-1",
}


def _many(count: int) -> dict[str, str]:
    return {f"hostile.example.com/{number:06d}": _TEXT for number in range(count)}


def _owner(number: int) -> dict[str, Any]:
    return {"apiVersion": DIJOB.gvk.api_version, "kind": DIJOB.kind, "name": f"job-{number}", "uid": f"{number:036d}"}


def _metadata(**more: Any) -> dict[str, Any]:
    return {"name": f"job-{_NUMBER}", "labels": _LABELS, **more}


def _labelled(**fields: Any) -> dict[str, Any]:
    """Return an object with a megabyte of labels; the API server stores their names a second time, as managed."""
    return {"metadata": _metadata(labels=_LABELS | _many(BYTES // 130)), **fields}


def _job(metadata: Mapping[str, Any] | None = None, variables: int = 0) -> dict[str, Any]:
    job = stored(0)
    env = [{"name": f"V{number}", "value": 4 * _TEXT} for number in range(variables)]
    job["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["env"] = env
    return {**job, "metadata": metadata or _metadata()}


_POD: Final = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "train"}]}
_LARGE: Final = _metadata(
    labels=_LABELS | _many(BYTES // 260),
    annotations={f"jobgate.dev/{number:06d}": _TEXT for number in range(2_700)},
    ownerReferences=[_owner(number) for number in range(BYTES // 900)],
)


@dataclass(frozen=True)
class Sort:
    """Objects of one resource.

    Attributes:
        path: of those of the namespace.
        readers: the processes that read them.
        body: the object that is created.
        status: of each; empty for none.
        before: what is done once the processes run.
        listed: whether the readers list them when they start.
    """

    path: str
    readers: str
    body: Mapping[str, Any]
    status: Mapping[str, Any] | None = None
    before: Callable[[ClusterApi], None] = lambda _: None
    listed: bool = True


def _short_of_pods(api: ClusterApi) -> None:
    """Run a job with too few pods in its batch Jobs: then the runner reads the Events of its namespace."""
    _done(api.post(_DIJOBS, _job({"name": "short"})))
    wait_for(lambda: api.get(_BATCH)[1]["items"], 300, what="the runner makes the batch Jobs")
    for batch in api.get(_BATCH)[1]["items"]:
        status = {"status": {"startTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}}
        _done(api.patch(f"{_BATCH}/{batch['metadata']['name']}/status", status))


SORTS: Final[Mapping[str, Sort]] = {
    "DIJobs, spec": Sort(_DIJOBS, "serve control run", _job(variables=BYTES // 280)),
    "DIJobs, metadata": Sort(_DIJOBS, "serve control run", _job(_LARGE)),
    "DIJobs, status": Sort(
        _DIJOBS,
        "serve control run",
        _job(),
        {"phase": "Running", "profilings": {f"p{number}": {"a": 4 * _TEXT} for number in range(BYTES // 270)}},
    ),
    "batch Jobs": Sort(_BATCH, "run", _labelled(spec={"suspend": True, "template": {"spec": _POD}})),
    "pods": Sort(f"/api/v1/namespaces/{NAMESPACE}/pods", "control run", _labelled(spec=_POD)),
    "Services": Sort(f"/api/v1/namespaces/{NAMESPACE}/services", "control run", _labelled(spec={"clusterIP": "None"})),
    "ConfigMaps": Sort(
        f"/api/v1/namespaces/{NAMESPACE}/configmaps",
        "control",
        {"metadata": _metadata(), "data": {"hosts": "x" * BYTES}},
    ),
    "PodGroups": Sort(
        f"/apis/{GANGS_API}/namespaces/{NAMESPACE}/podgroups",
        "run",
        _labelled(spec={"schedulingPolicy": {"gang": {"minCount": 2}}}),
    ),
    "Events": Sort(
        f"/api/v1/namespaces/{NAMESPACE}/events",
        "run",
        _labelled(
            involvedObject={"kind": "Job", "namespace": NAMESPACE, "name": "x", "uid": f"uid-{_NUMBER}"},
            reason="FailedCreate",
            message="Error creating: pods are forbidden",
            type="Warning",
        ),
        before=_short_of_pods,
        listed=False,
    ),
    "Prerequisites": Sort(
        f"/apis/jobgate.dev/v1alpha1/namespaces/{NAMESPACE}/prerequisites",
        "serve control",
        {
            "apiVersion": "jobgate.dev/v1alpha1",
            "kind": "Prerequisite",
            "metadata": _metadata(),
            "spec": {"cmd": {"callbacks": [{"event": "taskStarts", "commands": ["x" * 4_000] * 32}] * 8}},
        },
    ),
}


class Connection(http.client.HTTPConnection):
    """HTTP on a socket of the file system."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        """Connect; called again where the server has closed the connection."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))


class Etcd:
    """The etcd of a control plane."""

    def __init__(self, folder: Path) -> None:
        self._connection = Connection(folder / "etcd.sock:0")

    def keys(self) -> list[str]:
        """Return the keys of all objects of the namespace."""
        body = {"key": _base64(b"/registry/"), "range_end": _base64(b"/registry0"), "keys_only": True}
        keys = (b64decode(one["key"]).decode() for one in self._call("range", body)["kvs"])
        return [key for key in keys if f"/{NAMESPACE}/" in key]

    def get(self, key: str) -> bytes:
        """Return a value."""
        return b64decode(self._call("range", {"key": _base64(key.encode())})["kvs"][0]["value"])

    def put(self, key: str, value: bytes) -> None:
        """Store a value."""
        self._call("put", {"key": _base64(key.encode()), "value": _base64(value)})

    def clear(self) -> None:
        """Delete all objects of the namespace. The API server has etcd forget them every five minutes."""
        for key in self.keys():
            self._call("deleterange", {"key": _base64(key.encode())})

    def _call(self, what: str, body: Mapping[str, Any]) -> Any:
        why = ""
        for _ in range(ATTEMPTS):
            try:
                self._connection.request("POST", f"/v3/kv/{what}", orjson.dumps(body))
                response = self._connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                why = repr(error)
                continue
            if response.status == HTTPStatus.OK:
                return orjson.loads(text)
            why = text.decode()
        raise RuntimeError(why)


def _base64(text: bytes) -> str:
    return b64encode(text).decode()


def install(plane: ControlPlane) -> None:
    """Create CRDs and namespaces."""
    crds = definitions(installed(), _INSTALLATION)
    for crd in crds:
        _done(plane.client.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd))
    ClusterObjects(plane.client).established(*(crd["metadata"]["name"] for crd in crds))
    for name in (SYSTEM, NAMESPACE):
        _done(plane.client.post("/api/v1/namespaces", {"metadata": {"name": name}}))


@contextmanager
def stored_copies(plane: ControlPlane, sort: Sort, count: int) -> Iterator[Callable[[], None]]:
    """Have so many objects in the cluster; gives what changes them all."""
    code, created = plane.client.post(sort.path, sort.body)
    _done((code, created))
    if sort.status is not None:
        _done(plane.client.patch(f"{sort.path}/job-{_NUMBER}/status", {"status": sort.status}))
    etcd = Etcd(plane.folder)
    [key] = [key for key in etcd.keys() if key.endswith(f"/job-{_NUMBER}")]  # noqa: SIM118 - not a mapping
    original, uid = etcd.get(key), created["metadata"]["uid"].encode()

    def put(version: str) -> None:
        value = original.replace(b"version-1", version.encode())
        for number in range(int(_NUMBER) + 1, int(_NUMBER) + count):
            # Texts of the same length: etcd stores everything except JSON as protobuf.
            copied = value.replace(_NUMBER.encode(), str(number).encode()).replace(uid, str(UUID(int=number)).encode())
            etcd.put(key.replace(_NUMBER, str(number)), copied)

    put("version-1")
    try:
        yield partial(put, "version-2")
    finally:
        etcd.clear()


@contextmanager
def running(plane: ControlPlane, names: Sequence[str], folder: Path) -> Iterator[dict[str, Server]]:
    """Run processes."""
    servers.write_certificate(folder)
    (folder / "queues.yaml").write_text(_QUEUES, encoding="utf-8")
    with ExitStack() as stack:
        found = {}
        for name in names:
            port, health = servers.free_ports(2)
            command = [str(Path(sys.executable).with_name("jobgate")), name, "--bind=127.0.0.1"]
            if name == "serve":
                command = servers.jobgate(folder, port, health)
            else:
                command += [f"--health-port={health}"]
                port = health
            command += [f"--kubeconfig={plane.kubeconfig}", f"--run={DIJOB.qualified_plural}", *PROCESSES[name][1]]
            command += [f"--queues={folder / 'queues.yaml'}"] if name == "run" else []
            started = servers.started(name, command, port, None, folder / f"{name}.log", servers.READY_WITHIN)
            found[name] = Server(name, health, stack.enter_context(started).pid)
        yield found


def _has_listed(log: Path, path: str) -> bool:
    """Whether a process has listed the objects of a path, by its log."""
    return f'"watching","resource":"{path.rpartition("/")[2]}.' in log.read_text(encoding="utf-8")


def _await_rest(running: Mapping[str, Server]) -> None:
    deadline, steady, peaks = time.monotonic() + WITHIN, time.monotonic(), dict[str, int]()
    while time.monotonic() < min(deadline, steady + STEADY):
        before = sum(process.cpu() for process in running.values())
        time.sleep(IDLE)
        if sum(process.cpu() for process in running.values()) - before < IDLE / 10:
            return
        if peaks != (peaks := _peaks(running)):
            steady = time.monotonic()


def _peaks(running: Mapping[str, Server]) -> dict[str, int]:
    return {name: round(process.peak()) for name, process in running.items()}


def limits() -> dict[str, int]:
    """Return the memory limit of each command by its manifest, in MiB."""
    manifests = base(installed(), _INSTALLATION)
    found = {}
    for name, (file, _) in PROCESSES.items():
        [workload] = [one for one in manifests[file] if one["kind"] == "Deployment"]
        [container] = workload["spec"]["template"]["spec"]["containers"]
        memory = container["resources"]["limits"]["memory"]
        found[name] = int(memory[:-2]) * {"Mi": 1, "Gi": 1024}[memory[-2:]]
    return found


def measure(plane: ControlPlane, sort: Sort, count: int) -> dict[str, tuple[int, int]]:
    """Return the most memory of each process once all objects are listed, and once all have changed, in MiB."""
    with (
        tempfile.TemporaryDirectory(prefix="jobgate-bench-") as folder,
        stored_copies(plane, sort, count) as change,
        running(plane, sort.readers.split(), Path(folder)) as processes,
    ):
        for name in processes if sort.listed else ():
            wait_for(partial(_has_listed, Path(folder) / f"{name}.log", sort.path), WITHIN, 1.0, f"{name} lists all")
        sort.before(plane.client)
        _await_rest(processes)
        listed = _peaks(processes)
        _print(f"listed: {listed}")
        change()
        _await_rest(processes)
        changed = _peaks(processes)
    return {name: (listed[name], changed[name]) for name in listed}


def _print(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _done(answer: tuple[int, Mapping[str, Any]]) -> None:
    if answer[0] >= 400:
        raise RuntimeError(str(answer[1])[:2_000])


def main(argv: list[str] | None = None) -> int:
    """Measure, print each row, and say whether each process stays below its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.hostile", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sort", action="append", choices=SORTS, help="which to measure (all); may be repeated")
    parser.add_argument("--count", type=int, default=COUNT, help="objects of each sort")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md")
    asked = parser.parse_args(argv)
    most, beyond = limits(), list[str]()
    rows = [[f"{asked.count:,} of 1 MB", *(f"`{name}`, of {limit:,} MiB" for name, limit in most.items())]]
    with ControlPlane(find_or_build(Terminal()), _FLAGS) as plane:
        install(plane)
        for name in asked.sort or SORTS:
            _print(name)
            found = measure(plane, SORTS[name], asked.count)
            rows.append([name, *("{}, {}".format(*found[one]) if one in found else "" for one in PROCESSES)])
            beyond += [f"{process} among {name}" for process, both in found.items() if max(both) > most[process]]
            print(aligned(rows[-1:]), flush=True)
    print(aligned(rows))
    if asked.write:
        renew("growth-hostile", piped(rows))
    print(f"beyond the limit: {'; '.join(beyond)}" if beyond else "each process is within its limit")
    return int(bool(beyond))


if __name__ == "__main__":
    sys.exit(main())

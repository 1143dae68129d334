"""The runner under load: many jobs at once, compared with Indexed Jobs created directly; then many in sequence.

    python -m bench.runner_load --jobs 1000 --write

On a real control plane with simulated nodes. The runner has its own rights, and the API server's audit log counts its
requests. Results are printed after each step, and the tables at the end; `--write` puts them into
docs/explanation/runner-load.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from threading import local
from typing import Any, TypeAlias

import orjson

from bench.comparison.servers import Server
from bench.page import piped, renew
from bench.watching import Watch
from controlplane import Terminal, WholeControlPlane, find_or_build_whole
from controlplane.client import ClusterApi
from controlplane.runner import RUN, USER, runner
from controlplane.simulation import ends
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import has_account
from jobgate.jobs.status import is_run, taken_over
from jobgate.kinds.dijob import DIJOB
from jobgate.runner.rendering import rendered

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "runner-load.md"
#: How often the creation of an object is tried.
_ATTEMPTS = 10
#: Pods on a simulated node, a bit less than its capacity.
_ON_A_NODE = 900
_DIJOBS = f"/apis/{DIJOB.group}/{DIJOB.version}/namespaces/{{}}/{DIJOB.plural}"
_JOBS = "/apis/batch/v1/namespaces/{}/jobs"
_PODS = "/api/v1/namespaces/{}/pods"
_SERVICES = "/api/v1/namespaces/{}/services"
_PATHS = {"Service": _SERVICES, "Job": _JOBS}
_DOMAIN = "svc.cluster.local"
#: By default the Job controller handles five jobs at a time, and creating a job's pods waits for the webhook: most of
#: the time jobs would wait for the controller.
_MANAGER = ("--concurrent-job-syncs=32", "--concurrent-service-endpoint-syncs=16", "--concurrent-endpoint-syncs=16")
#: The steps of a job, in order.
_TAKEN, _BATCH, _CREATED, _RUN, _REPORTED = (
    "the runner has taken it over",
    "its batch Job is there",
    "all its pods are there",
    "all its pods run",
    "its status says so",
)
#: Handles a watch event: its type, the object, and the time.
Take: TypeAlias = Callable[[str, dict[str, Any], float], None]
#: Creates an object at a path, and returns the stored object.
Create: TypeAlias = Callable[[str, dict[str, Any]], Mapping[str, Any]]
#: Creates a job with a number and a number of pods.
Make: TypeAlias = Callable[[int, int, Create], None]
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}],
}


@dataclass
class Run:
    """The results of jobs that were created at once.

    Attributes:
        seconds: time from each job's creation until its status reported that all of its pods ran.
        steps: time from each job's creation until each of the steps.
        half_seconds, all_seconds: time from the first creation until half of the jobs, or all, reported that.
        processor: CPU seconds of the runner, of the webhook server and of all of Kubernetes.
        calls: requests of the runner, by verb and resource.
        memory: memory of the runner in MiB: before, while all jobs ran, and when all were deleted.
    """

    seconds: list[float] = field(default_factory=list)
    steps: dict[str, list[float]] = field(default_factory=dict)
    half_seconds: float = 0.0
    all_seconds: float = 0.0
    processor: dict[str, float] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)


class Steps:
    """The time of each step of each job. The threads of several watches write into it."""

    def __init__(self, pods: int) -> None:
        self.times: dict[str, dict[str, float]] = {}
        self._pods = pods
        self._created: defaultdict[str, set[str]] = defaultdict(set)
        self._running: defaultdict[str, set[str]] = defaultdict(set)

    def reported(self, name: str) -> bool:
        """Whether the status of a job reports that it runs."""
        return _REPORTED in self.times.get(name, ())

    def take_dijob(self, _: str, document: Mapping[str, Any], when: float) -> None:
        """Handle a DIJob."""
        if is_run(document):
            self._mark(document["metadata"]["name"], _TAKEN, when)
        if mapping(document.get("status")).get("phase") == "Running":
            self._mark(document["metadata"]["name"], _REPORTED, when)

    def take_batch(self, _: str, document: Mapping[str, Any], when: float, *, alone: bool) -> None:
        """Handle a batch Job; its status counts if there is no DIJob (`alone`)."""
        name = document["metadata"]["name"].removesuffix("-work")
        self._mark(name, _BATCH, when)
        if alone and mapping(document.get("status")).get("ready") == self._pods:
            self._mark(name, _REPORTED, when)

    def take_pod(self, change: str, pod: Mapping[str, Any], when: float) -> None:
        """Handle a pod."""
        if change == "DELETED":
            return
        name, uid = pod["metadata"]["labels"]["job-name"].removesuffix("-work"), pod["metadata"]["uid"]
        for step, pods, holds in (
            (_CREATED, self._created[name], True),
            (_RUN, self._running[name], pod["status"].get("phase") == "Running"),
        ):
            if holds:
                pods.add(uid)
                if len(pods) == self._pods:
                    self._mark(name, step, when)

    def _mark(self, name: str, step: str, when: float) -> None:
        self.times.setdefault(name, {}).setdefault(step, when)


class Audit:
    """The requests of the runner, from the audit log of the API server."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "audit.log"
        policy = folder / "policy.json"
        policy.write_bytes(orjson.dumps(_POLICY))
        self.flags = (f"--audit-policy-file={policy}", f"--audit-log-path={self._log}")
        self._read = 0

    def taken(self) -> Counter[str]:
        """Return the requests since the last call, by verb and resource, except for the Lease and watches."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            lines = log.read().splitlines(keepends=True)
        counts: Counter[str] = Counter()
        for line in lines:
            if not line.endswith(b"\n"):
                break
            self._read += len(line)
            entry = orjson.loads(line)
            what = entry.get("objectRef", {})
            name = "/".join(filter(None, (what.get("resource"), what.get("subresource"))))
            if entry["verb"] != "watch" and name != "leases":
                counts[
                    f"{entry['verb']} {name}" + ("" if entry["responseStatus"]["code"] < 400 else " (rejected)")
                ] += 1
        return counts


def job(number: int, pods: int, annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a DIJob with one task."""
    resources = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    container = {"name": "di-container", "image": "train", "command": ["train"], "resources": resources}
    template = {"metadata": {"annotations": dict(annotations or {})}, "spec": {"containers": [container]}}
    tasks = [{"name": "work", "type": "none", "replicas": pods, "template": template}]
    gvk = {"apiVersion": DIJOB.gvk.api_version, "kind": DIJOB.kind}
    return {**gvk, "metadata": {"name": f"job-{number}"}, "spec": {**spec, "tasks": tasks}}


def direct(number: int, pods: int, create: Create) -> None:
    """Create the Service and the Indexed Job that the runner would create, without labels of ours."""
    for document in rendered(DIJOB, job(number, pods), "", _DOMAIN):
        del document["metadata"]["labels"]
        if document["kind"] == "Service":
            document["spec"]["selector"] = {"job-name": f"job-{number}-work"}
        else:
            del document["spec"]["template"]["metadata"]["labels"]
        create(_PATHS[document["kind"]], document)


def wired(number: int, pods: int, create: Create) -> None:
    """Create a job and the objects that the runner would create for it, so that the webhook wires its pods."""
    for document in rendered(DIJOB, create(_DIJOBS, taken_over(job(number, pods))), "", _DOMAIN):
        create(_PATHS[document["kind"]], document)


def run(number: int, pods: int, create: Create) -> None:
    """Create a job for the runner."""
    create(_DIJOBS, job(number, pods))


class Load:
    """A control plane under load.

    Attributes:
        processes: the processes of which CPU time is measured.
    """

    def __init__(self, plane: WholeControlPlane, audit: Audit, processes: dict[str, Server]) -> None:
        self._plane = plane
        self._audit = audit
        self.processes = processes

    def at_once(self, where: str, make: Make, asked: argparse.Namespace) -> Run:
        """Create jobs at once, and wait until all run; then delete them."""
        steps, created, kept = Steps(asked.pods), dict[str, float](), local()
        watched: dict[str, Take] = {
            _DIJOBS: steps.take_dijob,
            _JOBS: partial(steps.take_batch, alone=make is not run),
            _PODS: steps.take_pod,
        }
        with ExitStack() as stack:
            api = stack.enter_context(self._plane.api())
            _namespace(api, where)
            self._quiet()

            def client() -> None:
                kept.api = stack.enter_context(self._plane.api())

            def create(path: str, document: dict[str, Any]) -> Mapping[str, Any]:
                stored = _created(kept.api, path.format(where), document)
                if "status" in document:  # a create ignores the status
                    place = f"{path.format(where)}/{document['metadata']['name']}/status"
                    _done(answer := kept.api.patch(place, {"status": document["status"]}))
                    stored = answer[1]
                return stored

            def create_job(number: int) -> None:
                created[f"job-{number}"] = time.monotonic()
                make(number, asked.pods, create)

            with ExitStack() as seen:
                watches = [
                    seen.enter_context(Watch(self._plane, path.format(where), take)) for path, take in watched.items()
                ]
                memory = [self._memory()]
                self._audit.taken()
                before, began = self._processor(), time.monotonic()
                with ThreadPoolExecutor(asked.clients, initializer=client) as pool:
                    list(pool.map(create_job, range(asked.jobs)))
                all_run = lambda: _fault(watches) or all(map(steps.reported, list(created)))  # noqa: E731
                _until(all_run, asked.wait, f"{asked.jobs} jobs run in {where}")
                assert not _fault(watches), _fault(watches)
            self._quiet()
            after = self._processor()
            result = Run(
                [steps.times[name][_REPORTED] - created[name] for name in created],
                half_seconds=median(times[_REPORTED] for times in steps.times.values()) - began,
                all_seconds=max(times[_REPORTED] for times in steps.times.values()) - began,
                processor={name: after[name] - before[name] for name in before},
                calls=self._audit.taken(),
                memory=[*memory, self._memory()],
            )
            for step in (_TAKEN, _BATCH, _CREATED, _RUN, _REPORTED):
                if all(step in times for times in steps.times.values()):
                    result.steps[step] = [steps.times[name][step] - created[name] for name in created]
            _print_step(where, result)
            # Deleting the whole collection in one request would exceed its timeout.
            for path in (_JOBS, _SERVICES) if make is direct else (_DIJOBS,):
                for stored in api.get(path.format(where))[1]["items"]:
                    job_path = f"{path.format(where)}/{stored['metadata']['name']}"
                    _done(api.delete(job_path, {"propagationPolicy": "Background"}))
            left = [_PODS, _JOBS, _SERVICES]
            gone = lambda: not any(api.get(path.format(where), {"limit": "1"})[1]["items"] for path in left)  # noqa: E731
            wait_for(gone, asked.wait, every=1.0, what=f"what was made in {where} is gone")
            self._quiet()
            result.memory.append(self._memory())
        return result

    def _quiet(self) -> None:
        ours = lambda: {name: used for name, used in self._processor().items() if name != "Kubernetes"}  # noqa: E731
        wait_for(lambda: _still(ours, 1.0), 120.0, what="all is written")

    def _memory(self) -> float:
        return self.processes["runner"].rss() if "runner" in self.processes else 0.0

    def one_after_another(self, count: int, window: int, wait: float) -> Iterator[tuple[int, float]]:
        """Yield the number of jobs that have ended and are gone, and the runner's memory at that time."""
        path, gone = _DIJOBS.format("churn"), set[str]()

        def take(change: str, document: Mapping[str, Any], _: float) -> None:
            if change == "DELETED":
                gone.add(document["metadata"]["name"])

        with self._plane.api() as api:
            _namespace(api, "churn")
            self._audit.taken()
            with Watch(self._plane, path, take) as watch:
                for number in range(count):
                    _until(partial(lambda past: watch.fault or len(gone) > past, number - window), wait, "a job ends")
                    assert not watch.fault, watch.fault
                    _created(api, path, job(number, 1, ends(0), ttlSecondsAfterFinished=0))
                    if number % 100 == 0:
                        yield len(gone), self.processes["runner"].rss()
                _until(lambda: watch.fault or len(gone) == count, wait, "all jobs end")
            yield len(gone), self.processes["runner"].rss()

    def _processor(self) -> dict[str, float]:
        return {name: process.cpu() for name, process in self.processes.items()}


def _fault(watches: Sequence[Watch]) -> str:
    return next((watch.fault for watch in watches if watch.fault), "")


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the mapping, or an empty one if it is missing."""
    return value or {}


def _still(processor: Callable[[], dict[str, float]], seconds: float) -> bool:
    """Whether the processes are idle."""
    before = processor()
    time.sleep(seconds)
    return all(after - before[name] < 0.05 * seconds for name, after in processor().items())


def _until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    wait_for(condition, seconds, every=0.05, what=what)


def _namespace(api: ClusterApi, name: str) -> None:
    _done(api.post("/api/v1/namespaces", {"metadata": {"name": name}}))
    wait_for(lambda: has_account(api, name), 60.0, what="pods can be made")


def _created(api: ClusterApi, path: str, document: dict[str, Any]) -> dict[str, Any]:
    """Create an object. Retry if that fails: on a busy machine a webhook call sometimes times out."""
    for _ in range(_ATTEMPTS):
        status, answer = api.post(path, document)
        if status < 400:
            return answer
        _print(f"{document['metadata']['name']} is created again: {answer.get('message')}")
        time.sleep(1.0)
    raise RuntimeError(str(answer))


def _done(answer: tuple[int, dict[str, Any]]) -> None:
    if answer[0] >= 400:
        raise RuntimeError(str(answer[1]))


def report(
    asked: argparse.Namespace, runs: Mapping[str, Run], churn: list[tuple[int, float]], calls: Counter[str]
) -> str:
    """Return the tables."""
    jobs, pods = asked.jobs, asked.pods
    rows = [
        [
            "",
            "p50 s",
            "p95 s",
            "p99 s",
            "half run after s",
            "all run after s",
            "CPU of Kubernetes, ms/job",
            "of the webhook",
        ]
    ]
    rows[0] += ["of the runner", "calls of the runner/job"]
    rows += [_row(name, result, jobs) for name, result in runs.items()]
    of_steps = [["p50 s, from the creation until", *runs]]
    mine = runs["runner"]
    of_steps += [[step, *(_median(each.steps.get(step)) for each in runs.values())] for step in mine.steps]
    done = churn[-1][0]
    every = sorted({*mine.calls, *calls})
    of_calls = [["request", "until a job runs", "whole life"]]
    of_calls += [[f"`{call}`", f"{mine.calls[call] / jobs:.2f}", f"{calls[call] / done:.2f}"] for call in every]
    of_calls.append(["all", f"{mine.calls.total() / jobs:.2f}", f"{calls.total() / done:.2f}"])
    of_memory = [["jobs that have ended and are gone", "runner MiB"], *([f"{n:,}", f"{mib:.0f}"] for n, mib in churn)]
    first, most, last = mine.memory
    clients = "one after another" if asked.clients == 1 else f"by {asked.clients} clients at once"
    memory = (
        f"The runner had {first:.0f} MiB before the {jobs:,} jobs, {most:.0f} while all of them ran, {last:.0f} when"
    )
    load = f"{os.cpu_count()} cores and a load average of {os.getloadavg()[2]:.0f}"
    machine = f"The machine had {load}, these programs included."
    return "\n\n".join(
        [
            f"{jobs:,} jobs of {pods} pods, made {clients}, as fast as the API server takes them. {machine}",
            piped(rows),
            piped(of_steps),
            f"Requests of the runner for a job, of {pods} pods until it runs, and of one pod until its TTL is over:",
            piped(of_calls),
            f"{memory} all were deleted. Then jobs were made, ended and were deleted by their TTL:",
            piped(of_memory),
        ]
    )


def _row(name: str, result: Run, jobs: int) -> list[str]:
    late = quantiles(result.seconds, n=100, method="inclusive")
    used = {process: f"{seconds / jobs * 1000:.1f}" for process, seconds in result.processor.items()}
    mine = [used["runner"], f"{result.calls.total() / jobs:.2f}"] if "runner" in used else ["", ""]
    times = (f"{value:.1f}" for value in (median(result.seconds), late[94], late[98]))
    whole = (f"{value:.0f}" for value in (result.half_seconds, result.all_seconds))
    return [name, *times, *whole, used["Kubernetes"], used["webhook"], *mine]


def _median(seconds: Sequence[float] | None) -> str:
    return f"{median(seconds):.2f}" if seconds else ""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=4, help="of a job")
    parser.add_argument("--clients", type=int, default=1, help="that make jobs at the same time")
    parser.add_argument("--churn", type=int, default=1000, help="jobs of one pod, for the memory")
    parser.add_argument("--window", type=int, default=40, help="how many of these there are at a time")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds that a step may take")
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        audit = Audit(folder)
        nodes = asked.jobs * asked.pods // _ON_A_NODE + 1
        assets = find_or_build_whole(Terminal())
        plane = stack.enter_context(WholeControlPlane(assets, audit.flags, nodes=nodes, manager_flags=_MANAGER))
        webhook = stack.enter_context(InstalledWebhook(plane, folder, RUN))
        processes = {
            "Kubernetes": Server("Kubernetes", 0, plane.pid),
            "webhook": Server("webhook", webhook.port, webhook.pid),
        }
        load, runs = Load(plane, audit, processes), dict[str, Run]()
        for name, where, make in (
            ("Indexed Jobs, direct", "direct", direct),
            ("the same, wired by the webhook", "wired", wired),
            ("runner", "run", run),
        ):
            if make is run:
                process = stack.enter_context(runner(plane, folder / "runner.log"))
                processes["runner"] = Server("runner", 0, process.pid)
                # After the first job, the runner has listed all objects.
                load.at_once("first", run, argparse.Namespace(**{**vars(asked), "jobs": 1}))
            runs[name] = load.at_once(where, make, asked)
        churn = []
        for number, memory in load.one_after_another(asked.churn, asked.window, asked.wait):
            churn.append((number, memory))
            _print(f"{number} jobs are gone, {memory:.0f} MiB")
        text = report(asked, runs, churn, audit.taken())
    print(text)
    if asked.write:
        renew("load", text, PAGE)
    return 0


def _print_step(name: str, result: Run) -> None:
    steps = {step: _median(seconds) for step, seconds in result.steps.items()}
    _print(f"{name}: all run after {result.all_seconds:.1f} s; p50 {steps}; CPU s {result.processor}")


def _print(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} load {os.getloadavg()[0]:.0f}: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

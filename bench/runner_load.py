"""The runner under load: many jobs at once, beside the same Indexed Jobs made directly; then many, one after another.

    python -m bench.runner_load --jobs 1000 --write

On a real control plane whose nodes are simulated. The runner works under its own rights, and each of its requests is
counted by the API server's audit log. Prints tables; `--write` puts them into docs/explanation/runner-load.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

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
from jobgate.kinds.dijob import DIJOB
from jobgate.runner.rendering import rendered

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "runner-load.md"
#: Pods that a simulated node takes, with some room.
_ON_A_NODE = 900
_DIJOBS = f"/apis/{DIJOB.group}/{DIJOB.version}/namespaces/{{}}/{DIJOB.plural}"
_JOBS = "/apis/batch/v1/namespaces/{}/jobs"
_PODS = "/api/v1/namespaces/{}/pods"
_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}],
}


@dataclass
class Run:
    """What was seen of jobs that were made all at once.

    Attributes:
        seconds: from each job's creation until all of its pods ran.
        all_seconds: from the first creation until all pods of all jobs ran.
        processor: seconds of the runner and of the webhook server meanwhile.
        calls: of the runner meanwhile, by verb and resource.
    """

    seconds: list[float] = field(default_factory=list)
    all_seconds: float = 0.0
    processor: dict[str, float] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)


class Audit:
    """The requests of the runner, from the log of the API server."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "audit.log"
        policy = folder / "policy.json"
        policy.write_bytes(orjson.dumps(_POLICY))
        self.flags = (f"--audit-policy-file={policy}", f"--audit-log-path={self._log}")
        self._read = 0

    def taken(self) -> Counter[str]:
        """Return the requests since the last call, by verb and resource, without those of the Lease and watches."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            lines = log.read().splitlines(keepends=True)
        found: Counter[str] = Counter()
        for line in lines:
            if not line.endswith(b"\n"):
                break
            self._read += len(line)
            one = orjson.loads(line)
            what = one.get("objectRef", {})
            name = "/".join(filter(None, (what.get("resource"), what.get("subresource"))))
            if one["verb"] != "watch" and name != "leases":
                found[f"{one['verb']} {name}" + ("" if one["responseStatus"]["code"] < 400 else " (rejected)")] += 1
        return found


def job(number: int, pods: int, annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a DIJob of one task."""
    resources = {"requests": {"cpu": "10m", "memory": "16Mi"}}
    container = {"name": "di-container", "image": "train", "command": ["train"], "resources": resources}
    template = {"metadata": {"annotations": dict(annotations or {})}, "spec": {"containers": [container]}}
    tasks = [{"name": "work", "type": "none", "replicas": pods, "template": template}]
    gvk = {"apiVersion": DIJOB.gvk.api_version, "kind": DIJOB.kind}
    return {**gvk, "metadata": {"name": f"job-{number}"}, "spec": {**spec, "tasks": tasks}}


def direct(number: int, pods: int) -> dict[str, Any]:
    """Return the Indexed Job that the runner would make, without what is ours."""
    made = rendered(DIJOB, job(number, pods), "direct", "svc.cluster.local")[-1]
    del made["metadata"]["namespace"], made["metadata"]["labels"]
    del made["spec"]["template"]["metadata"]["labels"]
    return made


class Load:
    """A control plane under load."""

    def __init__(self, plane: WholeControlPlane, audit: Audit, processes: Mapping[str, Server]) -> None:
        self._plane = plane
        self._audit = audit
        self._processes = processes

    def at_once(
        self, where: str, path: str, jobs: list[dict[str, Any]], runs: Callable[[Mapping[str, Any]], bool], wait: float
    ) -> Run:
        """Make jobs at once, and wait until all run; then delete them."""
        made, ran = dict[str, float](), dict[str, float]()

        def take(_: str, found: Mapping[str, Any], when: float) -> None:
            if runs(mapping(found.get("status"))):
                ran.setdefault(found["metadata"]["name"], when)

        path = path.format(where)
        with self._plane.api() as api:
            _namespace(api, where)
            wait_for(lambda: _still(self._processor, 1.0), 60.0, what="the processes have started")
            with Watch(self._plane, path, take) as watch:
                self._audit.taken()
                before, began = self._processor(), time.monotonic()
                for one in jobs:
                    made[one["metadata"]["name"]] = time.monotonic()
                    _done(api.post(path, one))
                _until(lambda: watch.fault or len(ran) == len(jobs), wait, f"{len(jobs)} jobs run in {where}")
                assert not watch.fault, watch.fault
            result = Run([ran[name] - made[name] for name in made], max(ran.values()) - began)
            wait_for(lambda: _still(self._processor, 1.0), 60.0, what="all is written")
            result.processor = {name: self._processor()[name] - before[name] for name in before}
            result.calls = self._audit.taken()
            _done(api.delete(path, {"propagationPolicy": "Background"}))
            gone = lambda: not api.get(_PODS.format(where), {"limit": "1"})[1]["items"]  # noqa: E731
            _until(gone, wait, f"the pods of {where} are gone")
        return result

    def one_after_another(self, count: int, window: int, wait: float) -> Iterator[tuple[int, float]]:
        """Yield how many jobs have ended and are gone, and the memory of the runner then."""
        path, gone = _DIJOBS.format("churn"), set[str]()

        def take(change: str, found: Mapping[str, Any], _: float) -> None:
            if change == "DELETED":
                gone.add(found["metadata"]["name"])

        with self._plane.api() as api:
            _namespace(api, "churn")
            self._audit.taken()
            with Watch(self._plane, path, take) as watch:
                for number in range(count):
                    _until(partial(lambda past: watch.fault or len(gone) > past, number - window), wait, "a job ends")
                    assert not watch.fault, watch.fault
                    _done(api.post(path, job(number, 1, ends(0), ttlSecondsAfterFinished=0)))
                    if number % 100 == 0:
                        yield len(gone), self._processes["runner"].rss()
                _until(lambda: watch.fault or len(gone) == count, wait, "all jobs end")
            yield len(gone), self._processes["runner"].rss()

    def _processor(self) -> dict[str, float]:
        return {name: process.cpu() for name, process in self._processes.items()}


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, which may be missing."""
    return value or {}


def _still(processor: Callable[[], dict[str, float]], seconds: float) -> bool:
    """Tell whether the processes have nothing to do."""
    before = processor()
    time.sleep(seconds)
    return all(after - before[name] < 0.05 * seconds for name, after in processor().items())


def _until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    wait_for(condition, seconds, every=0.05, what=what)


def _namespace(api: ClusterApi, name: str) -> None:
    _done(api.post("/api/v1/namespaces", {"metadata": {"name": name}}))
    wait_for(lambda: has_account(api, name), 60.0, what="pods can be made")


def _done(answer: tuple[int, dict[str, Any]]) -> None:
    if answer[0] >= 400:
        raise RuntimeError(str(answer[1]))


def report(jobs: int, pods: int, runs: Mapping[str, Run], churn: list[tuple[int, float]], calls: Counter[str]) -> str:
    """Return the tables."""
    head = [
        "",
        "p50 s",
        "p95 s",
        "all run after s",
        "runner CPU ms/job",
        "webhook CPU ms/job",
        "calls of the runner/job",
    ]
    rows = [head]
    for name, one in runs.items():
        # Beside Indexed Jobs that are none of its, what is measured is the rest of its start.
        per_job = [
            f"{one.processor[process] / jobs * 1000:.1f}" if one.calls else "" for process in ("runner", "webhook")
        ]
        calls_each = f"{one.calls.total() / jobs:.1f}"
        late = quantiles(one.seconds, n=20)[-1]
        rows.append([name, f"{median(one.seconds):.1f}", f"{late:.1f}", f"{one.all_seconds:.0f}", *per_job, calls_each])
    done = churn[-1][0]
    every = sorted({*runs["runner"].calls, *calls})
    of_calls = [["request", "until a job runs", "whole life"]]
    of_calls += [[f"`{one}`", f"{runs['runner'].calls[one] / jobs:.2f}", f"{calls[one] / done:.2f}"] for one in every]
    of_calls.append(["all", f"{runs['runner'].calls.total() / jobs:.2f}", f"{calls.total() / done:.2f}"])
    of_memory = [["jobs that have ended and are gone", "runner MiB"], *([f"{n:,}", f"{mib:.0f}"] for n, mib in churn)]
    return "\n\n".join(
        [
            f"{jobs:,} jobs of {pods} pods, made one after another as fast as the API server takes them.",
            piped(rows),
            f"Requests of the runner for a job, of {pods} pods until it runs, and of one pod until its TTL is over:",
            piped(of_calls),
            piped(of_memory),
        ]
    )


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=4, help="of a job")
    parser.add_argument("--churn", type=int, default=1000, help="jobs of one pod, for the memory")
    parser.add_argument("--window", type=int, default=40, help="how many of these there are at a time")
    parser.add_argument("--wait", type=float, default=300.0, help="seconds that a step may take")
    parser.add_argument("--write", action="store_true", help=f"renew {PAGE.name}")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        audit = Audit(folder)
        nodes = asked.jobs * asked.pods // _ON_A_NODE + 1
        plane = stack.enter_context(WholeControlPlane(find_or_build_whole(Terminal()), audit.flags, nodes=nodes))
        webhook = stack.enter_context(InstalledWebhook(plane, folder, RUN))
        process = stack.enter_context(runner(plane, folder / "runner.log"))
        processes = {
            "runner": Server("runner", 0, process.pid),
            "webhook": Server("webhook", webhook.port, webhook.pid),
        }
        load = Load(plane, audit, processes)
        numbers = range(asked.jobs)
        runs = {
            "Indexed Jobs, direct": load.at_once(
                "direct",
                _JOBS,
                [direct(one, asked.pods) for one in numbers],
                lambda status: status.get("ready") == asked.pods,
                asked.wait,
            ),
            "runner": load.at_once(
                "run",
                _DIJOBS,
                [job(one, asked.pods) for one in numbers],
                lambda status: status.get("phase") == "Running",
                asked.wait,
            ),
        }
        churn = list(load.one_after_another(asked.churn, asked.window, asked.wait))
        text = report(asked.jobs, asked.pods, runs, churn, audit.taken())
    print(text)
    if asked.write:
        renew("load", text, PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Kills the runner again and again while jobs of all kinds are created, fail, restart and end, and checks the results.

    python -m bench.runner_soak --jobs 200 --kills 50

On a real control plane with simulated nodes, with gangs if Kubernetes has them, and with the runner's own rights. Every
change of pods and batch Jobs is watched. Prints a JSON object; the exit status is 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench.watching import Watch
from controlplane import Terminal, WholeControlPlane, find_or_build_whole
from controlplane.assets import WholeAssets
from controlplane.client import Answer, ClusterApi
from controlplane.runner import RUN, forget_lease, install, start
from controlplane.simulation import end_pod, ends
from controlplane.versions import GANGS_API, GANGS_GATES, HAS_GANGS
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import has_account
from jobgate.plugins.crew import ATTEMPT_LABEL, COMPLETION_INDEX, JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL

Object = dict[str, Any]

_KINDS = {
    "jobs": ("Job", "batch.volcano.sh/v1alpha1"),
    "dijobs": ("DIJob", "diengine.opendilab.org/v2alpha1"),
    "mxjobs": ("MxJob", "mxnet.mlkube.io/v1beta1"),
    "torchjobs": ("TorchJob", "train.distributed.io/v1alpha1"),
}
#: Resources of a job's objects.
_CHILDREN = {
    "jobs": "/apis/batch/v1/namespaces/{}/jobs",
    "pods": "/api/v1/namespaces/{}/pods",
    "services": "/api/v1/namespaces/{}/services",
    "configmaps": "/api/v1/namespaces/{}/configmaps",
}
#: The ends of a job.
SUCCEEDED, COMPLETED, FAILED, GONE = "Succeeded", "Completed", "Failed", "gone"
_FAILURE = 3


@dataclass
class Case:
    """A job, and its expected end.

    Attributes:
        plural: plural of its kind.
        spec: spec of the job.
        ends: how it ends, whether the runner is killed or not.
        restarts: number of restarts at the end; None if it can vary.
        acts: actions of a user or a node, in order, each as soon as the job runs.
    """

    plural: str
    spec: Object
    ends: str = SUCCEEDED
    restarts: int | None = None
    acts: tuple[str, ...] = ()


def pods(container: str, annotations: Mapping[str, str] | None) -> Object:
    """Return a pod template."""
    return {
        "metadata": {"annotations": dict(annotations or {})},
        "spec": {"containers": [{"name": container, "image": "x"}]},
    }


def task(name: str, replicas: int = 1, annotations: Mapping[str, str] | None = None, **fields: Any) -> Object:
    """Return a task of a DIJob."""
    return {"name": name, "type": "none", "replicas": replicas, "template": pods("di-container", annotations), **fields}


def dijob(*tasks: Object, **spec: Any) -> Object:
    """Return the spec of a DIJob."""
    return {**spec, "tasks": list(tasks)}


def torch(annotations: Mapping[str, str], **workers: Any) -> Object:
    """Return the spec of a TorchJob."""
    template = {"template": pods("torch", annotations)}
    return {"torchTaskSpecs": {"Master": template, "Worker": {"numTasks": 2, **template, **workers}}}


def mx(annotations: Mapping[str, str]) -> Object:
    """Return the spec of an MxJob."""
    roles = (("SCHEDULER", 1), ("SERVER", 1), ("WORKER", 2))
    template = pods("mxnet", annotations)
    specs = [{"mxReplicaType": role, "replicas": count, "template": template} for role, count in roles]
    specs[0]["psRootPort"] = 9000
    return {"jobMode": "dist", "replicaSpecs": specs}


def volcano(annotations: Mapping[str, str], **spec: Any) -> Object:
    """Return the spec of a Volcano Job."""
    template = pods("main", annotations)
    template["spec"]["restartPolicy"] = "Never"
    return {**spec, "tasks": [{"name": "work", "replicas": 2, "template": template}]}


def cases() -> list[Case]:
    """Return all cases."""
    done, fails = ends(0, "2s"), ends(_FAILURE, "1s")
    restart = {"event": "PodFailed", "action": "RestartJob"}
    one = {"event": "PodFailed", "action": "RestartTask"}
    after_a, after_b = ({"dependsOn": {"name": [name]}} for name in "ab")
    return [
        Case("dijobs", dijob(task("work", 3, done))),
        Case("dijobs", dijob(task("c", 1, done, **after_b), task("b", 2, done, **after_a), task("a", 1, done))),
        Case("dijobs", dijob(task("work", 2, done, minAvailable=2), task("judge", 1, done), minAvailable=3)),
        Case("dijobs", dijob(task("work", 1, fails), task("judge"), backoffLimit=1), FAILED, 1),
        Case("dijobs", dijob(task("work", 1, fails), task("judge"), policies=[restart], backoffLimit=2), FAILED, 2),
        Case("dijobs", dijob(task("work", 2), task("judge"), policies=[restart]), SUCCEEDED, 1, ("fail", "end")),
        Case("dijobs", dijob(task("work", 2, policies=[one]), task("judge")), SUCCEEDED, 1, ("fail", "end")),
        Case("dijobs", dijob(task("work", 2)), SUCCEEDED, 1, ("fail", "end")),
        Case("dijobs", dijob(task("work", 2, done), ttlSecondsAfterFinished=1), GONE),
        Case("dijobs", dijob(task("work", 3)), GONE, None, ("delete",)),
        Case("dijobs", dijob(task("work", 2, done), suspend=True), SUCCEEDED, None, ("resume",)),
        Case("dijobs", dijob(task("work", 2)), FAILED, None, ("TerminateJob",)),
        Case("dijobs", dijob(task("work", 2)), SUCCEEDED, None, ("grow", "end")),
        Case("torchjobs", torch(done)),
        Case("torchjobs", torch(fails), FAILED),
        Case("torchjobs", {**torch(done), "ttlSecondsAfterFinished": 1, "cleanPodPolicy": "All"}, GONE),
        Case("torchjobs", torch({}), GONE, None, ("delete",)),
        Case("mxjobs", mx(done)),
        Case("mxjobs", mx({}), GONE, None, ("delete",)),
        Case("jobs", volcano(done), COMPLETED, 0),
        Case("jobs", volcano(fails), FAILED, 0),
        Case("jobs", volcano({}, policies=[restart]), COMPLETED, 1, ("fail", "end")),
        Case("jobs", volcano({}), GONE, None, ("delete",)),
    ]


class Witness:
    """Watches every pod and every batch Job, and records violations."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.pods = 0
        self._live: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        self._known: set[str] = set()
        self._batches: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)

    def take_pod(self, change: str, pod: Object, _: float) -> None:
        """Handle a pod: at most one pod of each index of a task may run, over all attempts."""
        metadata, labels = pod["metadata"], pod["metadata"].get("labels") or {}
        if RUN_LABEL not in labels:
            return
        key = tuple(labels.get(label, "") for label in (RUN_LABEL, TASK_LABEL, COMPLETION_INDEX))
        alive = change != "DELETED" and pod["status"].get("phase") not in {"Succeeded", "Failed"}
        self.pods += metadata["uid"] not in self._known
        self._known.add(metadata["uid"])
        live = self._live[key]
        (live.add if alive else live.discard)(metadata["uid"])
        if len(live) > 1:
            self.wrong.append(f"{metadata['namespace']}/{metadata['name']}: {len(live)} pods of one index live")

    def take_batch(self, _: str, batch: Object, __: float) -> None:
        """Handle a batch Job: each attempt at a task has only one."""
        metadata, labels = batch["metadata"], batch["metadata"].get("labels") or {}
        if RUN_LABEL not in labels:
            return
        uids = self._batches[tuple(labels.get(label, "") for label in (RUN_LABEL, TASK_LABEL, ATTEMPT_LABEL))]
        if metadata["uid"] not in uids:
            uids.add(metadata["uid"])
            if len(uids) > 1:
                self.wrong.append(f"{metadata['namespace']}/{metadata['name']}: made {len(uids)} times in one attempt")


@dataclass
class Live:
    """A job in the cluster."""

    case: Case
    name: str
    left: list[str]


class Soak:
    """The jobs, and the actions on them."""

    def __init__(self, api: ClusterApi, namespace: str, *, gangs: bool) -> None:
        self.api = api
        self.namespace = namespace
        self._gangs = gangs
        self.jobs: list[Live] = []

    def make(self, case: Case, name: str) -> None:
        """Create a job."""
        kind, version = _KINDS[case.plural]
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": case.spec}
        status, answer = self.api.post(self.path(case.plural), body)
        assert status == 201, answer
        self.jobs.append(Live(case, name, list(case.acts)))

    def path(self, plural: str, name: str = "") -> str:
        """Return the path of a job, or of all jobs of a kind."""
        return f"/apis/{_KINDS[plural][1]}/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def act(self) -> None:
        """Do the next action of each job that is ready for it."""
        stored = self.stored()
        for job in self.jobs:
            document = stored.get((job.case.plural, job.name))
            if job.left and document is not None and self._do(job, document, job.left[0]):
                job.left.pop(0)

    def stored(self) -> dict[tuple[str, str], Object]:
        """Return all jobs by plural and name."""
        items = ((plural, job) for plural in _KINDS for job in self._items(self.path(plural)))
        return {(plural, job["metadata"]["name"]): job for plural, job in items}

    def _items(self, path: str, **params: str) -> list[Object]:
        """Return a list; wait if the API server does not serve it yet."""
        listed = wait_for(lambda: _listed(self.api.get(path, params)), what=f"a list of {path}") or {}
        return list(listed["items"])

    def _do(self, job: Live, document: Object, act: str) -> bool:
        """Do the action if the job is ready for it; return whether it is done."""
        if act == "resume":
            return self._patched(job, {"spec": {"suspend": False}})
        running = self._running(job)
        if not (_is(document, "Running") or _is(document, "Ready")) or not running:
            return False
        if act == "delete":
            return self.api.delete(self.path(job.case.plural, job.name))[0] == 200
        if act in {"fail", "end"}:
            return self._end(job, document, running, act)
        change: Object = {"metadata": {"annotations": {"jobgate.dev/command": act}}}
        if act == "grow":
            tasks = [{**each, "replicas": each["replicas"] + 1} for each in document["spec"]["tasks"]]
            change = {"spec": {"tasks": tasks}}
        return self._patched(job, change)

    def _end(self, job: Live, document: Object, running: list[str], act: str) -> bool:
        """End one pod, or all, as soon as all run after the expected restarts."""
        wanted = sum(each["replicas"] for each in document["spec"]["tasks"])
        again = act == "fail" or (_restarts(document) or 0) == (job.case.restarts or 0)
        ready: bool = again and len(running) == wanted
        for name in running[: 1 if act == "fail" else None] if ready else ():
            end_pod(self.api, self.namespace, name, _FAILURE if act == "fail" else 0)
        return ready

    def _patched(self, job: Live, change: Object) -> bool:
        return self.api.patch(self.path(job.case.plural, job.name), change)[0] == 200

    def _running(self, job: Live) -> list[str]:
        items = self.api.get(_CHILDREN["pods"].format(self.namespace), {"labelSelector": f"{JOB_LABEL}={job.name}"})[1][
            "items"
        ]
        live = (pod for pod in items if "deletionTimestamp" not in pod["metadata"])
        return sorted(pod["metadata"]["name"] for pod in live if pod["status"]["phase"] == "Running")

    def wrong(self) -> Iterator[str]:
        """Yield jobs with another end than expected, and objects that are left over."""
        stored = self.stored()
        for job in self.jobs:
            document = stored.get((job.case.plural, job.name))
            if job.case.ends == GONE:
                if document is not None:
                    yield f"{job.name}: is not gone: {_holding(document)}"
                continue
            if document is None or not _is(document, job.case.ends):
                yield f"{job.name}: not {job.case.ends}, but {document and _holding(document)}; left to do: {job.left}"
            elif job.case.restarts is not None and _restarts(document) != job.case.restarts:
                yield f"{job.name}: {_restarts(document)} restarts, not {job.case.restarts}"
        yield from self._left_over({job["metadata"]["uid"]: job for job in stored.values()})

    def _left_over(self, owners: Mapping[str, Object]) -> Iterator[str]:
        batches = self._items(_CHILDREN["jobs"].format(self.namespace))
        there = {*owners, *(document["metadata"]["uid"] for document in batches)}
        paths = dict(_CHILDREN)
        if self._gangs:
            paths["podgroups"] = f"/apis/{GANGS_API}/namespaces/{{}}/podgroups"
        for plural, path in paths.items():
            for document in self._items(path.format(self.namespace)):
                metadata = document["metadata"]
                named = {owner["uid"] for owner in metadata.get("ownerReferences") or ()}
                if named and not named & there:
                    yield f"{plural}/{metadata['name']}: left over, its owner is gone"
                elif (
                    plural == "pods" and document["status"]["phase"] in {"Pending", "Running"} and not _keeps(metadata)
                ):
                    yield f"pods/{metadata['name']}: runs, and nobody needs it"
                elif plural in {"services", "podgroups"} and named and self._ended(owners, named):
                    yield f"{plural}/{metadata['name']}: left over of a job that has ended"

    def _ended(self, owners: Mapping[str, Object], named: set[str]) -> bool:
        """Whether an object belongs to a DIJob, which cleans up at its end."""
        owner = next((owners[uid] for uid in named if uid in owners), {})
        return bool(owner) and owner["kind"] == "DIJob"


def _keeps(metadata: Mapping[str, Any]) -> bool:
    """Whether a pod belongs to a kind that keeps pods at the end by default."""
    return str((metadata.get("labels") or {}).get(KIND_LABEL)).startswith("torchjobs")


def _listed(answer: Answer) -> Object | None:
    return answer[1] if answer[0] == 200 else None


def _restarts(document: Mapping[str, Any]) -> int | None:
    """Return the number of restarts in a job's status; a Volcano Job has another field for it."""
    status = document["status"]
    count: int | None = status.get("restarts", status.get("retryCount"))
    return count


def _holding(document: Mapping[str, Any]) -> list[str]:
    """Return the conditions that hold; for a Volcano Job, which has no such conditions, its phase."""
    status = document.get("status") or {}
    if isinstance(state := status.get("state"), Mapping):
        return [state["phase"]]
    conditions = status.get("conditions") or ()
    return [condition["type"] for condition in conditions if condition["status"] == "True"]


def _is(document: Mapping[str, Any], condition: str) -> bool:
    return condition in _holding(document)


@dataclass
class Result:
    """The results.

    Attributes:
        seed: seed of all random choices.
        jobs, kills: number of each; `at_work` of the kills while the runner held the Lease.
        pods: number of created pods.
        writes: writes of runners that were killed later.
        settled_seconds: time from the last kill until the state was right.
        wrong: violations, and differences from the expected state at the end.
    """

    seed: int
    jobs: int = 0
    kills: int = 0
    at_work: int = 0
    pods: int = 0
    writes: int = 0
    settled_seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


def soak(
    plane: WholeControlPlane,
    folder: Path,
    *,
    jobs: int,
    kills: int,
    seed: int,
    settings: Sequence[str] = (),
    wait: float = 300.0,
) -> Result:
    """Run the soak test, and return the results.

    Args:
        plane: a control plane with controllers, nodes, and webhooks with the settings of the runner.
        folder: for the runner's log.
        jobs: number of jobs, which are created while the runner is killed.
        kills: number of kills.
        seed: seed of all random choices.
        settings: settings of the runner.
        wait: seconds after the last kill in which the state must become right.
    """
    chance, result, witness = random.Random(seed), Result(seed), Witness()
    namespace, log = f"runner-soak-{chance.getrandbits(32):08x}", folder / "runner.log"
    # Kubernetes 1.36 does not scale a batch Job that is in a gang.
    gangs = any(flag.startswith("--queueing") for flag in settings)
    sorts = [case for case in cases() if not gangs or "grow" not in case.acts]
    credentials = install(plane)
    with ExitStack() as stack:
        api = stack.enter_context(plane.api())
        assert api.post("/api/v1/namespaces", {"metadata": {"name": namespace}})[0] == 201
        wait_for(lambda: has_account(api, namespace), what="pods can be made")
        watches = [
            stack.enter_context(Watch(plane, _CHILDREN[plural].format(namespace), take))
            for plural, take in (("pods", witness.take_pod), ("jobs", witness.take_batch))
        ]
        world = Soak(api, namespace, gangs=gangs)
        for kill in range(kills + 1):
            for number in range(len(world.jobs), jobs * (kill + 1) // (kills + 1)):
                # 7 and the number of cases have no common factor, so that a few jobs have all kinds.
                world.make(sorts[number * 7 % len(sorts)], f"job-{number}")
            log.unlink(missing_ok=True)
            process = start(credentials, log, settings)
            try:
                if kill == kills:
                    began = time.monotonic()
                    result.wrong = _settled(world, wait)
                    result.settled_seconds = round(time.monotonic() - began, 1)
                    break
                # Some are killed before they get the Lease, most later: after some time, or after some writes.
                _until(lambda: "runner started" in _text_of(log), 120.0, world)
                most = chance.choice((1, 2, 3, 5, 8, 13, 21, 34, 10_000))
                _until(partial(_has_written, log, most), chance.uniform(0.0, 6.0), world)
            finally:
                process.kill()
                process.wait()
            result.kills += 1
            result.at_work += "acquired the lease" in _text_of(log)
            result.writes += _text_of(log).count('"object"')
            forget_lease(plane)
        forget_lease(plane)
        result.wrong += witness.wrong + [watch.fault for watch in watches if watch.fault]
        result.jobs, result.pods = len(world.jobs), witness.pods
        api.delete(f"/api/v1/namespaces/{namespace}")
    return result


def _until(condition: Callable[[], Any], seconds: float, world: Soak) -> None:
    """Do the actions of jobs until the condition holds, or the time is over."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        world.act()
        time.sleep(0.05)


def _settled(world: Soak, seconds: float) -> list[str]:
    """Wait until there are no faults; return the faults that are left."""
    end = time.monotonic() + seconds
    while True:
        world.act()
        wrong = list(world.wrong())
        if not wrong or time.monotonic() > end:
            return wrong
        time.sleep(0.5)


def _has_written(log: Path, count: int) -> bool:
    return _text_of(log).count('"object"') >= count


def _text_of(log: Path) -> str:
    return log.read_text(encoding="utf-8") if log.exists() else ""


def _plane(assets: WholeAssets) -> WholeControlPlane:
    if not HAS_GANGS:
        return WholeControlPlane(assets)
    gates, flags = [GANGS_GATES], [GANGS_GATES, f"--runtime-config={GANGS_API}=true"]
    return WholeControlPlane(assets, flags, scheduler_flags=gates, manager_flags=gates)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(2**16))
    parser.add_argument("--wait", type=float, default=300.0, help="seconds after the last kill")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", file=sys.stderr)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        assets = find_or_build_whole(Terminal())
        plane = stack.enter_context(_plane(assets))
        stack.enter_context(InstalledWebhook(plane, folder, RUN))
        result = soak(plane, folder, settings=["--queueing=kubernetes"] if HAS_GANGS else [], **vars(asked))
    print(json.dumps(asdict(result), indent=2))
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

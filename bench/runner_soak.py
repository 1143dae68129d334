"""The runner, killed again and again while jobs of all kinds come, fail, restart and go: do they end as they should?

    python -m bench.runner_soak --jobs 200 --kills 50

On a real control plane whose nodes are simulated, with gangs where Kubernetes has them, under the runner's own rights.
Every change of pods and batch Jobs is watched. Prints a JSON object; exit status 1 where something is wrong.
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
#: What a job is made of, beside what others might make of it.
_CHILDREN = {
    "jobs": "/apis/batch/v1/namespaces/{}/jobs",
    "pods": "/api/v1/namespaces/{}/pods",
    "services": "/api/v1/namespaces/{}/services",
    "configmaps": "/api/v1/namespaces/{}/configmaps",
}
#: How a job ends.
SUCCEEDED, COMPLETED, FAILED, GONE = "Succeeded", "Completed", "Failed", "gone"
_FAILURE = 3


@dataclass
class Case:
    """A job, and what becomes of it.

    Attributes:
        plural: of its kind.
        spec: of the job.
        ends: how, whether the runner is killed or not.
        restarts: how many there are at the end; None where that is left to chance.
        acts: what a user or a node does, one after the other, each as soon as the job runs (or is made: `create`).
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
    """Return one job of each sort."""
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
    """Sees every pod and every batch Job, and remembers what must not be."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.pods = 0
        self._live: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        self._known: set[str] = set()
        self._batches: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)

    def take_pod(self, change: str, found: Object, _: float) -> None:
        """See a pod: of one index of a task at most one lives, whatever the attempt."""
        metadata, labels = found["metadata"], found["metadata"].get("labels") or {}
        if RUN_LABEL not in labels:
            return
        key = tuple(labels.get(one, "") for one in (RUN_LABEL, TASK_LABEL, COMPLETION_INDEX))
        alive = change != "DELETED" and found["status"].get("phase") not in {"Succeeded", "Failed"}
        self.pods += metadata["uid"] not in self._known
        self._known.add(metadata["uid"])
        live = self._live[key]
        (live.add if alive else live.discard)(metadata["uid"])
        if len(live) > 1:
            self.wrong.append(f"{metadata['namespace']}/{metadata['name']}: {len(live)} pods of one index live")

    def take_batch(self, _: str, found: Object, __: float) -> None:
        """See a batch Job: of an attempt at a task there is one only."""
        metadata, labels = found["metadata"], found["metadata"].get("labels") or {}
        if RUN_LABEL not in labels:
            return
        made = self._batches[tuple(labels.get(one, "") for one in (RUN_LABEL, TASK_LABEL, ATTEMPT_LABEL))]
        if metadata["uid"] not in made:
            made.add(metadata["uid"])
            if len(made) > 1:
                self.wrong.append(f"{metadata['namespace']}/{metadata['name']}: made {len(made)} times in one attempt")


@dataclass
class Live:
    """A job of a case in the cluster."""

    case: Case
    name: str
    left: list[str]


class Soak:
    """Jobs, and what is done to them."""

    def __init__(self, api: ClusterApi, namespace: str, *, gangs: bool) -> None:
        self.api = api
        self.namespace = namespace
        self._gangs = gangs
        self.jobs: list[Live] = []

    def make(self, case: Case, name: str) -> None:
        """Make a job."""
        kind, version = _KINDS[case.plural]
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": case.spec}
        status, answer = self.api.post(self.path(case.plural), body)
        assert status == 201, answer
        self.jobs.append(Live(case, name, list(case.acts)))

    def path(self, plural: str, name: str = "") -> str:
        """Return the path of a job, or of all of a kind."""
        return f"/apis/{_KINDS[plural][1]}/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def act(self) -> None:
        """Do what is due."""
        stored = self.stored()
        for one in self.jobs:
            found = stored.get((one.case.plural, one.name))
            if one.left and found is not None and self._do(one, found, one.left[0]):
                one.left.pop(0)

    def stored(self) -> dict[tuple[str, str], Object]:
        """Return all jobs by plural and name."""
        items = ((plural, one) for plural in _KINDS for one in self._items(self.path(plural)))
        return {(plural, one["metadata"]["name"]): one for plural, one in items}

    def _items(self, path: str, **params: str) -> list[Object]:
        """Return a list, as soon as the API server has it: of a new kind it may not at once."""
        found = wait_for(lambda: _listed(self.api.get(path, params)), 60.0, what=f"a list of {path}") or {}
        return list(found["items"])

    def _do(self, one: Live, found: Object, act: str) -> bool:
        """Do it, and tell whether it is done."""
        if act == "resume":
            return self._patched(one, {"spec": {"suspend": False}})
        running = self._running(one)
        if not (_is(found, "Running") or _is(found, "Ready")) or not running:
            return False
        if act == "delete":
            return self.api.delete(self.path(one.case.plural, one.name))[0] == 200
        if act in {"fail", "end"}:
            return self._end(one, found, running, act)
        change: Object = {"metadata": {"annotations": {"jobgate.dev/command": act}}}
        if act == "grow":
            tasks = [{**each, "replicas": each["replicas"] + 1} for each in found["spec"]["tasks"]]
            change = {"spec": {"tasks": tasks}}
        return self._patched(one, change)

    def _end(self, one: Live, found: Object, running: list[str], act: str) -> bool:
        """End one pod, or all, as soon as all run after the restarts that there should be."""
        wanted = sum(each["replicas"] for each in found["spec"]["tasks"])
        again = act == "fail" or (_restarts(found) or 0) == (one.case.restarts or 0)
        ready: bool = again and len(running) == wanted
        for name in running[: 1 if act == "fail" else None] if ready else ():
            end_pod(self.api, self.namespace, name, _FAILURE if act == "fail" else 0)
        return ready

    def _patched(self, one: Live, change: Object) -> bool:
        return self.api.patch(self.path(one.case.plural, one.name), change)[0] == 200

    def _running(self, one: Live) -> list[str]:
        items = self.api.get(_CHILDREN["pods"].format(self.namespace), {"labelSelector": f"{JOB_LABEL}={one.name}"})[1][
            "items"
        ]
        live = (pod for pod in items if "deletionTimestamp" not in pod["metadata"])
        return sorted(pod["metadata"]["name"] for pod in live if pod["status"]["phase"] == "Running")

    def wrong(self) -> Iterator[str]:
        """Yield what is not as it has to be: jobs that end otherwise, and what is left over."""
        stored = self.stored()
        for one in self.jobs:
            found = stored.get((one.case.plural, one.name))
            if one.case.ends == GONE:
                if found is not None:
                    yield f"{one.name}: is not gone: {_holding(found)}"
                continue
            if found is None or not _is(found, one.case.ends):
                yield f"{one.name}: not {one.case.ends}, but {found and _holding(found)}; left to do: {one.left}"
            elif one.case.restarts is not None and _restarts(found) != one.case.restarts:
                yield f"{one.name}: {_restarts(found)} restarts, not {one.case.restarts}"
        yield from self._left_over({one["metadata"]["uid"]: one for one in stored.values()})

    def _left_over(self, owners: Mapping[str, Object]) -> Iterator[str]:
        batches = self._items(_CHILDREN["jobs"].format(self.namespace))
        there = {*owners, *(one["metadata"]["uid"] for one in batches)}
        paths = dict(_CHILDREN)
        if self._gangs:
            paths["podgroups"] = f"/apis/{GANGS_API}/namespaces/{{}}/podgroups"
        for plural, path in paths.items():
            for one in self._items(path.format(self.namespace)):
                metadata = one["metadata"]
                named = {owner["uid"] for owner in metadata.get("ownerReferences") or ()}
                if named and not named & there:
                    yield f"{plural}/{metadata['name']}: left over, its owner is gone"
                elif plural == "pods" and one["status"]["phase"] in {"Pending", "Running"} and not _keeps(metadata):
                    yield f"pods/{metadata['name']}: runs, and nobody needs it"
                elif plural in {"services", "podgroups"} and named and self._ended(owners, named):
                    yield f"{plural}/{metadata['name']}: left over of a job that has ended"

    def _ended(self, owners: Mapping[str, Object], named: set[str]) -> bool:
        """Tell whether an object is of a job that has ended and cleans up."""
        found = next((owners[uid] for uid in named if uid in owners), {})
        return bool(found) and found["kind"] == "DIJob"


def _keeps(metadata: Mapping[str, Any]) -> bool:
    """Tell whether a pod is of a kind whose jobs clean up nothing when they end, unless they say so."""
    return str((metadata.get("labels") or {}).get(KIND_LABEL)).startswith("torchjobs")


def _listed(answer: Answer) -> Object | None:
    return answer[1] if answer[0] == 200 else None


def _restarts(found: Mapping[str, Any]) -> int | None:
    """Return how many times a job was restarted, by its status; a Volcano Job has another word for it."""
    status = found["status"]
    count: int | None = status.get("restarts", status.get("retryCount"))
    return count


def _holding(found: Mapping[str, Any]) -> list[str]:
    """Return the conditions that hold; of a Volcano Job, which has no such conditions, its phase."""
    status = found.get("status") or {}
    if isinstance(state := status.get("state"), Mapping):
        return [state["phase"]]
    conditions = status.get("conditions") or ()
    return [one["type"] for one in conditions if one["status"] == "True"]


def _is(found: Mapping[str, Any], condition: str) -> bool:
    return condition in _holding(found)


@dataclass
class Result:
    """What was done, and what is wrong at the end.

    Attributes:
        seed: of all that is left to chance.
        jobs, kills: how many; `at_work` of the kills while the runner held the Lease.
        pods: that were made.
        writes: of runners that were killed later.
        settled_seconds: from the last kill until all was right.
        wrong: what was not as it had to be.
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
    """Run it, and return what came of it.

    Args:
        plane: with controllers, nodes, and webhooks that know of the runner.
        folder: for the runner's log.
        jobs: how many are made, while the runner is killed.
        kills: how often.
        seed: of all that is left to chance.
        settings: of the runner.
        wait: seconds after the last kill in which all has to be right.
    """
    chance, result, witness = random.Random(seed), Result(seed), Witness()
    namespace, log = f"runner-soak-{chance.getrandbits(32):08x}", folder / "runner.log"
    # Kubernetes 1.36 does not scale a batch Job that is in a gang.
    gangs = any(one.startswith("--queueing") for one in settings)
    sorts = [one for one in cases() if not gangs or "grow" not in one.acts]
    credentials = install(plane)
    with ExitStack() as stack:
        api = stack.enter_context(plane.api())
        assert api.post("/api/v1/namespaces", {"metadata": {"name": namespace}})[0] == 201
        wait_for(lambda: has_account(api, namespace), 60.0, what="pods can be made")
        watches = [
            stack.enter_context(Watch(plane, _CHILDREN[plural].format(namespace), take))
            for plural, take in (("pods", witness.take_pod), ("jobs", witness.take_batch))
        ]
        world = Soak(api, namespace, gangs=gangs)
        for kill in range(kills + 1):
            for number in range(len(world.jobs), jobs * (kill + 1) // (kills + 1)):
                # A step that shares no factor with their number: a few jobs are of all kinds.
                world.make(sorts[number * 7 % len(sorts)], f"job-{number}")
            log.unlink(missing_ok=True)
            process = start(credentials, log, settings)
            try:
                if kill == kills:
                    began = time.monotonic()
                    result.wrong = _settled(world, wait)
                    result.settled_seconds = round(time.monotonic() - began, 1)
                    break
                # Some are killed before they have the Lease, most while they work: by the clock, or after some writes.
                _until(lambda: "runner started" in _said(log), 60.0, world)
                most = chance.choice((1, 2, 3, 5, 8, 13, 21, 34, 10_000))
                _until(partial(_has_written, log, most), chance.uniform(0.0, 6.0), world)
            finally:
                process.kill()
                process.wait()
            result.kills += 1
            result.at_work += "acquired the lease" in _said(log)
            result.writes += _said(log).count('"object"')
            forget_lease(plane)
        forget_lease(plane)
        result.wrong += witness.wrong + [one.fault for one in watches if one.fault]
        result.jobs, result.pods = len(world.jobs), witness.pods
        api.delete(f"/api/v1/namespaces/{namespace}")
    return result


def _until(condition: Callable[[], Any], seconds: float, world: Soak) -> None:
    """Do what is due until something is so, or the time is over."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        world.act()
        time.sleep(0.05)


def _settled(world: Soak, seconds: float) -> list[str]:
    """Wait until nothing is wrong, and return what is then."""
    end = time.monotonic() + seconds
    while True:
        world.act()
        wrong = list(world.wrong())
        if not wrong or time.monotonic() > end:
            return wrong
        time.sleep(0.5)


def _has_written(log: Path, count: int) -> bool:
    return _said(log).count('"object"') >= count


def _said(log: Path) -> str:
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

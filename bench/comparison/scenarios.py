"""The measured scenarios: the jobs, the requests, the servers, and the expected responses."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import jsonpatch
import orjson

from bench import cluster
from bench.comparison import bodies, jobs
from bench.comparison.servers import CONSTANT, GO, JOBGATE, TEMPLATES
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind, job_kinds
from jobgate.kinds import installed
from webhook import Phase, Request
from webhook.review import review

#: Number of different bodies, which are sent in turn; fewer large ones, to save the client's memory.
VARIANTS, VARIANTS_OF_LARGE, LARGE = 256, 64, 100

ALL, PAIR, ALONE, FULL = (JOBGATE, GO, CONSTANT), (JOBGATE, GO), (JOBGATE,), (JOBGATE, TEMPLATES)


@dataclass(frozen=True)
class Scenario:
    """A row of the comparison.

    Attributes:
        kind: kind of the jobs.
        tasks: number of tasks in each job.
        servers: the measured servers.
        update: whether it is an UPDATE that changes an image, not a CREATE.
        denied: whether the job breaks a rule that every server has.
        warned: whether jobgate warns about the job.
        half: whether it is also measured at half of the maximum rate.
    """

    kind: str
    tasks: int
    servers: tuple[str, ...] = ALONE
    update: bool = False
    denied: bool = False
    warned: bool = False
    half: bool = False

    @property
    def name(self) -> str:
        """The name of the row."""
        what = ["UPDATE" if self.update else "CREATE"]
        what += ["denied"] if self.denied else []
        what += ["warnings"] if self.warned else []
        return f"{self.kind}, {self.tasks} task{'s' * (self.tasks > 1)}, {', '.join(what)}"

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The measured calls: a broken job is denied only by validation."""
        return (Phase.VALIDATE,) if self.denied else tuple(Phase)

    @property
    def large(self) -> bool:
        """Whether a review takes long."""
        return self.tasks >= LARGE

    def of(self) -> JobKind:
        """Return the kind."""
        return next(kind for kind in job_kinds(installed()) if kind.gvk.kind == self.kind)

    def path(self, phase: Phase) -> str:
        """Return the path of the kind."""
        return self.of().path(phase)

    def check(self, patched: dict[str, Any]) -> None:
        """Check that a DIJob has its defaults, which every server gives."""
        if self.kind == "DIJob":
            assert patched["spec"]["priority"] == "normal", patched
            assert all(task["name"] and task["replicas"] == 1 for task in patched["spec"]["tasks"]), patched

    def requests(self, phase: Phase) -> list[bytes]:
        """Return the bodies: for mutation the job as written, for validation the mutated job."""
        variants = VARIANTS_OF_LARGE if self.large else VARIANTS
        return [self.request(phase, variant) for variant in range(variants)]

    def request(self, phase: Phase, variant: int) -> bytes:
        """Return one body."""
        kind = self.of()
        plural = kind.qualified_plural.partition(".")[0]
        new = bodies.stored(jobs.job(self.kind, self.tasks, variant, warned=self.warned), variant)
        if self.denied:
            new["spec"]["minReplicas"] = new["spec"]["maxReplicas"] + 1
        old = self._defaulted(new, plural, variant) if self.update or phase is Phase.VALIDATE else None
        if phase is Phase.VALIDATE and old is not None:
            new = old
        if not self.update:
            return bodies.review(new, plural, variant)
        return bodies.review(_changed(new), plural, variant, old=old)

    def _defaulted(self, job: dict[str, Any], plural: str, variant: int) -> dict[str, Any]:
        """Return the job as it is stored."""
        request = Request.parse(orjson.loads(bodies.review(job, plural, variant)))
        answer = review(request, Phase.MUTATE, installed(), Settings())
        assert answer.allowed, answer.causes
        defaulted: dict[str, Any] = jsonpatch.apply_patch(job, answer.patch)
        return defaulted


def _changed(job: dict[str, Any]) -> dict[str, Any]:
    """Return the job with another image in its first task."""
    changed = copy.deepcopy(job)
    [tasks] = [value for name, value in changed["spec"].items() if name in {"tasks", "replicaSpecs", "torchTaskSpecs"}]
    first = tasks[0] if isinstance(tasks, list) else next(iter(tasks.values()))
    first["template"]["spec"]["containers"][0]["image"] += "-2"
    return changed


@dataclass(frozen=True)
class Pods:
    """Pods of jobs with all plugins."""

    name: str = "Pod, plugins, CREATE"
    servers: tuple[str, ...] = ALONE
    phases: tuple[Phase, ...] = (Phase.MUTATE,)
    denied: bool = False
    warned: bool = False
    half: bool = False
    large: bool = False

    def path(self, phase: Phase) -> str:
        """Return the path of pods."""
        return f"/{phase}--v1-pod"

    def requests(self, phase: Phase) -> list[bytes]:
        """Return the bodies: a pod of each job, as the operator creates it."""
        del phase
        return [bodies.review(_pod(variant), "pods", variant) for variant in range(VARIANTS)]

    def check(self, patched: dict[str, Any]) -> None:
        """Check that the pod has the variable of its index."""
        names = {variable["name"] for variable in patched["spec"]["containers"][0]["env"]}
        assert "VC_TASK_INDEX" in names, patched


def _pod(variant: int) -> dict[str, Any]:
    job = cluster.stored(variant)
    task, name = job["spec"]["tasks"][variant % 3], job["metadata"]["name"]
    owner = {"apiVersion": job["apiVersion"], "kind": "DIJob", "name": name, "uid": job["metadata"]["uid"]}
    labels = {"diengine/operator": "di-operator", "diengine/job": name, "diengine/task-name": task["name"]}
    metadata = {"name": f"{name}-{task['name']}-1", "namespace": "team", "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "ownerReferences": [{**owner, "controller": True}]},
        "spec": task["template"]["spec"],
    }


#: The kinds of scenarios.
Review: TypeAlias = Scenario | Pods

_DIJOBS = {tasks: Scenario("DIJob", tasks, ALL, half=tasks < LARGE) for tasks in (3, 30, 300)}
_WARNED = {tasks: Scenario("DIJob", tasks, PAIR, warned=True) for tasks in (3, 30)}
_VCJOBS = {3: Scenario("Job", 3, FULL, half=True), 30: Scenario("Job", 30, FULL)}

SCENARIOS: tuple[Review, ...] = (
    *_DIJOBS.values(),
    *_WARNED.values(),
    Scenario("DIJob", 3, PAIR, update=True),
    Scenario("DIJob", 30, PAIR, update=True),
    Scenario("DIJob", 3, PAIR, denied=True),
    Scenario("DIJob", 30, PAIR, denied=True),
    *_VCJOBS.values(),
    Scenario("MxJob", 3, warned=True),
    Scenario("TorchJob", 3, warned=True),
    Pods(),
)
#: Scenarios of a quick run: all that have a target.
QUICK: tuple[Review, ...] = tuple(
    each for each in SCENARIOS if each in {*_DIJOBS.values(), *_WARNED.values(), *_VCJOBS.values()} and not each.large
)


@dataclass(frozen=True)
class Target:
    """The limit for the cost of mutation and validation in a scenario.

    Attributes:
        scenario: jobgate's scenario.
        server, beside: the server and its scenario with which it is compared.
        at_most: the maximum ratio of the costs.
    """

    scenario: Scenario
    server: str
    beside: Scenario
    at_most: float


TARGETS = (
    Target(_DIJOBS[3], GO, _DIJOBS[3], 0.45),
    Target(_DIJOBS[30], GO, _DIJOBS[30], 0.28),
    Target(_WARNED[3], JOBGATE, _DIJOBS[3], 1.3),
    Target(_WARNED[30], JOBGATE, _DIJOBS[30], 1.3),
    Target(_VCJOBS[3], GO, _DIJOBS[3], 0.55),
    Target(_VCJOBS[30], GO, _DIJOBS[30], 0.50),
)

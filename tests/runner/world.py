"""A cluster in memory: the objects of one job, and a Job controller that does what Kubernetes' does to them."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from jobgate.jobs.kind import JobKind
from jobgate.jobs.status import STATE
from jobgate.kinds import installed
from jobgate.plugins.crew import COMPLETION_INDEX, FINALIZER, TASK_LABEL
from jobgate.plugins.queueing import Grouping
from jobgate.runner.actions import Action, Create, Delete, Patch, RecordEvent, RequeueAfter, SetState, SetStatus
from jobgate.runner.plan import plan
from jobgate.runner.queues.growth import UNDECIDED
from jobgate.runner.seen import JOBS, keep_object
from jobgate.runner.subject import Observed, Subject, read

Object = dict[str, Any]

KINDS = installed()
START = datetime(2026, 1, 1, tzinfo=UTC)
#: Seconds that a deleted pod may go on.
GRACE = 30
UID = "0123abcd-0000-4000-8000-000000000000"


def task(replicas: int = 1, name: str = "work", **fields: Any) -> Object:
    """A task of a DIJob."""
    template = {"spec": {"containers": [{"name": "di-container", "image": "di"}]}}
    return {"name": name, "type": "none", "replicas": replicas, "template": template, **fields}


def dijob(*tasks: Object, **spec: Any) -> Object:
    """A DIJob that the runner has taken over, as it is stored."""
    return stored(
        {
            "apiVersion": "diengine.opendilab.org/v2alpha1",
            "kind": "DIJob",
            "metadata": {"name": "train"},
            "spec": {**spec, "tasks": list(tasks or [task()])},
        }
    )


def vctask(replicas: int = 1, name: str = "work", policy: str = "Never", **fields: Any) -> Object:
    """A task of a Volcano Job, with a restart policy."""
    template = {"spec": {"restartPolicy": policy, "containers": [{"name": "main", "image": "main"}]}}
    return {"name": name, "replicas": replicas, "template": template, **fields}


def vcjob(*tasks: Object, **spec: Any) -> Object:
    """A Volcano Job that the runner has taken over, as it is stored."""
    metadata = {"name": "train", "creationTimestamp": stamp(START)}
    return stored(
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": metadata,
            "spec": {**spec, "tasks": list(tasks or [vctask()])},
        }
    )


def torchjob(policy: str = "ExitCode", worker: Mapping[str, Any] | None = None, **spec: Any) -> Object:
    """A TorchJob with a master of this restart policy, and perhaps three workers, as it is stored."""
    template = {"spec": {"containers": [{"name": "torch", "image": "torch"}]}}
    tasks: Object = {"Master": {"template": template, "restartPolicy": policy}}
    tasks |= {} if worker is None else {"Worker": {"numTasks": 3, "template": template, **worker}}
    return stored(
        {
            "apiVersion": "train.distributed.io/v1alpha1",
            "kind": "TorchJob",
            "metadata": {"name": "train"},
            "spec": {**spec, "torchTaskSpecs": tasks},
        }
    )


def stored(job: Mapping[str, Any], *, taken: bool = True, **annotations: str) -> Object:
    """A job as the API server gives it."""
    about = {**job["metadata"].get("annotations", {}), **annotations}
    metadata = {**job["metadata"], "namespace": "lab", "uid": UID, "generation": 1, "annotations": about}
    status = {**job.get("status", {}), STATE: {"attempt": 0, "admitted": True}} if taken else {}
    return {**copy.deepcopy(dict(job)), "metadata": metadata, "status": status}


def subject(job: Mapping[str, Any], groups: Grouping | None = None) -> Subject:
    """A job as the runner reads it."""
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    result = read(kind, job, groups=groups)
    assert result is not None
    return result


def queued(job: Object) -> Object:
    """A job that no queue has released yet."""
    job["status"][STATE] = {"attempt": 0}
    return job


def adopted(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the runner writes into the spec of a job before it takes it over."""
    result = subject(job)
    return result.runner.adoption_changes(result.job)


class World:
    """The objects of one job. Nothing happens by itself."""

    def __init__(self, job: Mapping[str, Any], groups: Grouping | None = None) -> None:
        """It begins with the job alone."""
        self.job: Object = copy.deepcopy(dict(job))
        self.now = START
        self.jobs: dict[str, Object] = {}
        self.pods: list[Object] = []
        self.services: dict[str, Object] = {}
        self.groups: dict[str, Object] = {}
        self.claims: dict[str, Object] = {}
        self.commands: list[Object] = []
        self.unknown_groups = ""
        self.unadmitted: Mapping[str, str] = {}
        self.lost: frozenset[str] = frozenset()
        self.events: list[RecordEvent] = []
        self.log: list[str] = []
        self.gone = False
        self.verdict: str | None = None
        #: What its queue says of it, instead of `verdict`.
        self.place: Callable[[Subject, Observed], Subject] | None = None
        self._groups = groups
        self._count = 0

    # What the runner does.

    def observed(self) -> Observed:
        """The observations of the runner."""
        result = (self.pods, self.services.values(), self.groups.values())
        pods, services, groups = (copy.deepcopy(list(each)) for each in result)
        jobs = [keep_object("Job", JOBS)(copy.deepcopy(job)) for job in self.jobs.values()]
        return Observed(
            self.now,
            jobs,
            pods,
            services,
            groups,
            self.unknown_groups,
            unadmitted=self.unadmitted,
            commands=copy.deepcopy(self.commands),
            lost=self.lost,
        )

    def plan(self) -> list[Action]:
        """The plan of the runner."""
        result, observed = subject(self.job, self._groups), self.observed()
        result = replace(result, verdict=self.verdict) if self.place is None else self.place(result, observed)
        return [] if result.verdict == UNDECIDED else plan(result, observed)

    def step(self, carried_out: int | None = None) -> list[Action]:
        """Let the runner look once, and die after so many actions."""
        actions = [] if self.gone else self.plan()
        for action in actions[:carried_out]:
            self._do(action)
        return actions

    def settle(self, most: int = 60) -> None:
        """Let runner and Kubernetes work until nothing happens any more; all pods that are made run."""
        for _ in range(most):
            acts = [each for each in self.step() if not isinstance(each, RequeueAfter)]
            moved = self.kubernetes()
            if not acts and not moved:
                return
        raise AssertionError(f"it never settles: {acts}")

    def _do(self, action: Action) -> None:
        match action:
            case Create(manifest):
                self._create(copy.deepcopy(dict(manifest)))
            case Delete(found, foreground):
                self._delete(found, foreground=foreground)
            case Patch(found, changes):
                merge(self._stored(found), changes)
            case SetState(state):
                self.job.setdefault("status", {})[STATE] = copy.deepcopy(dict(state))
            case SetStatus(status):
                self.job["status"] = {
                    key: value for key, value in copy.deepcopy(dict(status)).items() if value is not None
                }
            case RecordEvent():
                self.events.append(action)

    def _create(self, manifest: Object) -> None:
        name, place = manifest["metadata"]["name"], self._place(manifest["kind"])
        if name in place:
            return  # it exists: of an earlier look
        self._count += 1
        manifest["metadata"] |= {"uid": f"uid-{self._count}", "creationTimestamp": stamp(self.now)}
        place[name] = manifest
        self.log.append(f"create {manifest['kind']} {name}")

    def _delete(self, found: Mapping[str, Any], *, foreground: bool) -> None:
        kind, name = found.get("kind", "Pod"), found["metadata"]["name"]
        self.log.append(f"delete {kind} {name}")
        if self._is_whole(found):
            self.gone = True
        elif kind == "Command":
            self.commands = [command for command in self.commands if command["metadata"]["name"] != name]
        elif kind == "Pod":
            self.leave([pod for pod in self.pods if pod["metadata"]["name"] == name])
        elif foreground:
            self.jobs[name]["metadata"]["deletionTimestamp"] = stamp(self.now)
        else:
            gone = self._place(kind).pop(name)
            self.leave([each for each in self.pods if owner(each) == gone["metadata"]["uid"]])

    def _stored(self, found: Mapping[str, Any]) -> Object:
        if self._is_whole(found):
            return self.job
        if found["kind"] == "Pod":
            return next(pod for pod in self.pods if pod["metadata"]["uid"] == found["metadata"]["uid"])
        return self._place(found["kind"])[found["metadata"]["name"]]

    def _is_whole(self, found: Mapping[str, Any]) -> bool:
        """Whether this is the job itself. A batch Job may have its kind, of another group."""
        return bool(found["metadata"].get("uid") == self.job["metadata"]["uid"])

    def _place(self, kind: str) -> dict[str, Object]:
        places = {"Job": self.jobs, "Service": self.services, "PodGroup": self.groups}
        return {**places, "PersistentVolumeClaim": self.claims}[kind]

    # What Kubernetes does.

    def kubernetes(self) -> bool:
        """Let the Job controller and the garbage collector work once; tell whether they did something."""
        before = copy.deepcopy((self.jobs, self.pods))
        self.pods = [pod for pod in self.pods if "deletionTimestamp" not in pod["metadata"]]
        for name, batch in list(self.jobs.items()):
            mine = [pod for pod in self.pods if owner(pod) == batch["metadata"]["uid"]]
            if "deletionTimestamp" in batch["metadata"]:
                self.leave(mine)
                if not mine:
                    del self.jobs[name]
            elif not finished(batch):
                self._reconcile(batch, mine)
        return before != (self.jobs, self.pods)

    def leave(self, pods: Sequence[Object]) -> None:
        """Delete pods: they are there until Kubernetes works again, within their grace period."""
        for pod in pods:
            until = {"deletionTimestamp": stamp(self.now + timedelta(seconds=GRACE))}
            pod["metadata"] |= {**until, "deletionGracePeriodSeconds": GRACE}

    def _reconcile(self, batch: Object, pods: Sequence[Object]) -> None:
        spec, status = batch["spec"], batch.setdefault("status", {})
        live = [pod for pod in pods if phase(pod) in {"Pending", "Running"}]
        if spec["suspend"]:
            self.leave(live)
            return
        failed = [pod for pod in pods if phase(pod) == "Failed" and not is_ignored(spec, pod)]
        per_index = bool(spec.get("backoffLimitPerIndex"))
        known = [pod for pod in failed if "counted" in pod or "finalizers" in pod["metadata"]]
        done = {index(pod) for pod in pods if phase(pod) == "Succeeded" and index(pod) < spec["completions"]}
        status |= {"failed": sum("counted" in pod or not per_index for pod in known), "succeeded": len(done)}
        status["completedIndexes"] = ",".join(map(str, sorted(done)))
        none_left = spec.get("backoffLimitPerIndex") == 0
        given_up = {index(pod) for pod in failed if none_left or is_fatal(spec, pod, "FailIndex")}
        fatal = any(is_fatal(spec, pod) for pod in failed)
        if fatal or len(known) > spec.get("backoffLimit", len(known)):
            self._end(batch, "Failed", live)
        elif len(done | given_up) >= spec["completions"]:
            self._end(batch, "Failed" if given_up else "Complete", live)
        else:
            # It waits for the finalizers of failed pods, which it removes when it replaces them.
            last = {index(pod): pod for pod in pods if phase(pod) == "Failed" and "finalizers" in pod["metadata"]}
            waiting = {number for number, pod in last.items() if per_index and self._waits(pod)}
            there = {index(pod) for pod in live} | done | given_up | waiting
            for number in range(spec["completions"]):
                if number not in there:
                    failures = last[number]["failures"] + 1 if number in last else 0
                    self.pods.append({**self._pod(batch, number), "failures": failures})
                    if number in last:
                        last[number]["counted"] = last[number]["metadata"].pop("finalizers")
            self.leave([pod for pod in live if index(pod) >= spec["completions"]])

    def _waits(self, pod: Object) -> bool:
        """Whether the Job controller waits before it replaces a failed pod."""
        ended = pod["status"]["containerStatuses"][0]["state"].get("terminated", {}).get("finishedAt", stamp(START))
        return self.now < datetime.fromisoformat(ended) + timedelta(seconds=10 * 2 ** pod["failures"])

    def _end(self, batch: Object, kind: str, live: Sequence[Object]) -> None:
        condition = {"type": kind, "status": "True", "message": "as it was"}
        batch["status"] |= {"conditions": [condition], "completionTime": stamp(self.now)}
        self.leave(live)

    def _pod(self, batch: Object, number: int) -> Object:
        self._count += 1
        name = f"{batch['metadata']['name']}-{number}"
        self.log.append(f"pod {name}")
        template = batch["spec"]["template"]
        labels = {**template["metadata"]["labels"], COMPLETION_INDEX: str(number)}
        reference = {"kind": "Job", "uid": batch["metadata"]["uid"], "controller": True}
        metadata = {"name": f"{name}-{self._count}", "labels": labels, "ownerReferences": [reference]}
        metadata |= {"finalizers": [FINALIZER]}
        metadata |= {"uid": f"uid-{self._count}", "creationTimestamp": stamp(self.now)}
        containers = [
            {"name": container["name"], "ready": True, "state": {}} for container in template["spec"]["containers"]
        ]
        ready = [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}]
        status = {"phase": "Running", "conditions": ready, "containerStatuses": containers}
        return {"kind": "Pod", "metadata": metadata, "spec": copy.deepcopy(template["spec"]), "status": status}

    # What happens.

    def pods_of(self, name: str, number: int) -> list[Object]:
        """The pods of an index, the newest last."""
        return [pod for pod in self.pods if pod["metadata"]["labels"][TASK_LABEL] == name and index(pod) == number]

    def pod(self, name: str = "work", number: int = 0) -> Object:
        """The newest pod of an index."""
        return self.pods_of(name, number)[-1]

    def end(self, name: str = "work", number: int = 0, code: int = 0) -> None:
        """End a pod, if it runs."""
        for pod in self.pods_of(name, number):
            status = pod["status"]
            if status["phase"] != "Running":
                continue
            ended = {"exitCode": code, "finishedAt": stamp(self.now)}
            status |= {"phase": "Failed" if code else "Succeeded", "conditions": []}
            status["containerStatuses"][0] |= {"ready": False, "state": {"terminated": ended}}

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def running(self) -> list[str]:
        """The host names of all pods that run, in order."""
        return sorted(host(pod) for pod in self.pods if phase(pod) == "Running")

    @property
    def warnings(self) -> list[str]:
        """The reasons of the warnings."""
        return [event.reason for event in self.events if event.type == "Warning"]

    @property
    def status(self) -> Object:
        """The status of the job."""
        result: Object = self.job.get("status", {})
        return result


def merge(found: Object, changes: Mapping[str, Any]) -> None:
    """Apply a merge patch."""
    for key, value in changes.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, Mapping):
            merge(found.setdefault(key, {}), value)
        else:
            found[key] = copy.deepcopy(value)


def holding(status: Mapping[str, Any]) -> list[str]:
    """The conditions that hold."""
    return [condition["type"] for condition in status.get("conditions", ()) if condition["status"] == "True"]


def is_fatal(spec: Mapping[str, Any], pod: Mapping[str, Any], action: str = "FailJob") -> bool:
    """Whether the failure policy gives up after a pod: the job, or the pod's index."""
    code = pod["status"]["containerStatuses"][0]["state"].get("terminated", {}).get("exitCode", 0)
    tests: dict[str, Callable[[Any], bool]] = {
        "In": lambda codes: code in codes,
        "NotIn": lambda codes: code not in codes,
    }
    if not code:
        return False  # it was deleted, or never ran
    rules = spec.get("podFailurePolicy", {}).get("rules", ())
    exits = [rule["onExitCodes"] for rule in rules if rule["action"] == action and "onExitCodes" in rule]
    return any(tests[each["operator"]](each["values"]) for each in exits)


def is_ignored(spec: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Whether a failure does not count, as the pod was evicted."""
    rules = spec.get("podFailurePolicy", {}).get("rules", ())
    evicted = any(condition["type"] == "DisruptionTarget" for condition in pod["status"].get("conditions", ()))
    return evicted and any(rule["action"] == "Ignore" for rule in rules)


def finished(batch: Mapping[str, Any]) -> bool:
    """Whether a batch Job has ended."""
    return bool(batch.get("status", {}).get("conditions"))


def owner(pod: Mapping[str, Any]) -> str:
    """The uid of a pod's batch Job."""
    return str(pod["metadata"]["ownerReferences"][0]["uid"])


def index(pod: Mapping[str, Any]) -> int:
    """Which pod of its task it is."""
    return int(pod["metadata"]["labels"][COMPLETION_INDEX])


def host(pod: Mapping[str, Any]) -> str:
    """The host name of a pod."""
    return str(pod["metadata"]["name"]).rpartition("-")[0]


def phase(pod: Mapping[str, Any]) -> str:
    """The phase of a pod."""
    return str(pod["status"]["phase"])


def stamp(time: datetime) -> str:
    """A time as Kubernetes writes it."""
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"

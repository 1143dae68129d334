"""How the runner runs an MxJob: with one batch Job per role, where mxnet-operator creates one per replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from jobgate.jobs.job import Job
from jobgate.jobs.policies import answers_failures, restarts_by_policy
from jobgate.jobs.progress import Progress, RunPhase, TaskProgress
from jobgate.jobs.runner import BACKOFF_LIMIT, Retry, Runner
from jobgate.jobs.status import conditions_of
from jobgate.jobs.task import Task
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER, ROOT_PORT, contract
from jobgate.plugins import Crew, Member, Variable
from jobgate.plugins.crew import COMPLETION_INDEX, TASK_LABEL
from webhook.values import mapping, objects, spec_of

#: Exit codes after which mxnet-operator does not retry.
PERMANENT: Final = tuple(range(1, 128))
#: Number of conditions that the operator keeps.
CONDITIONS: Final = 10
#: Length of a generated runtime id.
_ID_LENGTH: Final = 4

#: The condition that holds in a phase.
_TYPES: Final = {
    RunPhase.RUNNING: "Ready",
    RunPhase.RESTARTING: "Recovering",
    RunPhase.SUCCEEDED: "Succeeded",
    RunPhase.FAILED: "Failed",
    RunPhase.TERMINATED: "Failed",
}
#: Phases of a job without pods.
_HELD: Final = frozenset({RunPhase.SUSPENDED, RunPhase.QUEUED, RunPhase.ABORTED})


class MxJobRunner(Runner[MxJobSpec]):
    """Runs MxJobs."""

    orphaned = "the published mxnet-operator requires an API that Kubernetes 1.22 removed"
    rivals = ("mxnet-operator", "mx-job-operator", "mx-operator")
    supports = frozenset({"policies"})
    reschedules = True

    def adoption_changes(self, job: Job[MxJobSpec]) -> Mapping[str, Any]:
        """Set a missing runtime id: the first characters of the uid, so that it is the same each time."""
        if job.spec.identity:
            return {}
        uid = str(mapping(job.document.get("metadata")).get("uid") or "")
        return {"runtimeId": uid.replace("-", "")[:_ID_LENGTH]} if uid else {}

    def is_paused(self, status: Mapping[str, Any]) -> bool:
        """Read `controlPaused`."""
        return status.get("controlPaused") is True

    def variables(self, member: Member) -> Iterable[Variable]:
        """Return what mxnet-operator sets."""
        return contract(member)

    def services(self, job: Job[MxJobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
        """Yield the Service by which all roles find the scheduler of a distributed job. It is not headless."""
        scheduler = next((part for part in crew.parts if part.type == ReplicaType.SCHEDULER), None)
        if job.spec.job_mode is JobMode.DIST and scheduler is not None:
            selector = {**crew.labels, TASK_LABEL: scheduler.name, COMPLETION_INDEX: "0"}
            ports = [{"name": "ps-root-port", "port": int(crew.facts[ROOT_PORT])}]
            yield {"metadata": {"name": crew.pod_name(scheduler, 0)}, "spec": {"selector": selector, "ports": ports}}

    def replicas(self, job: Job[MxJobSpec], task: Task) -> int:
        """Return 1 for a local job, whatever its replicas."""
        return 1 if job.spec.job_mode is JobMode.LOCAL else task.replicas

    def retry(self, job: Job[MxJobSpec], task: Task) -> Retry:
        """Replace failed pods with `restartPolicy: Never`, except after a permanent exit code; restart others.

        If a lifecycle policy is for failed pods, pods are replaced instead of containers restarted.
        """
        spec = spec_of(task.template)
        if spec.get("restartPolicy") != "Never":
            policy: Literal["Never", "OnFailure"] = "Never" if answers_failures(job, task) else "OnFailure"
            return Retry(policy, BACKOFF_LIMIT, _main_container(spec))
        return Retry("Never", BACKOFF_LIMIT, _main_container(spec), ("In", PERMANENT))

    def restart_limit(self, job: Job[MxJobSpec]) -> int | None:
        """Return the limit of a job whose policies restart pods; otherwise each role has its own."""
        return BACKOFF_LIMIT if restarts_by_policy(job) else None

    def has_succeeded(self, job: Job[MxJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the scheduler has succeeded, or the worker of a local job."""
        deciding = ReplicaType.WORKER if job.spec.job_mode is JobMode.LOCAL else ReplicaType.SCHEDULER
        task = tasks.get(deciding.lower())
        return task is not None and task.complete

    def counts(self, job: Job[MxJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the states of the roles, and the phase of a job that has ended: CleanUp while pods of it still run."""
        tasks = progress.tasks.values()
        counts: dict[str, Any] = {"replicaStatuses": [_replica_status(task) for task in tasks]}
        if progress.phase.ended and mapping(job.document.get("status")).get("phase") not in {"Done", "Failed"}:
            left = progress.terminating or any({"Pending", "Running"} & task.phases.keys() for task in tasks)
            counts["phase"] = "CleanUp" if left else "Done" if progress.phase is RunPhase.SUCCEEDED else "Failed"
        return counts

    def status(self, job: Job[MxJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the status. A job that runs is Running until it is held or started again as a whole."""
        phase, stored = progress.phase, mapping(job.document.get("status"))
        failed = phase.ended and phase is not RunPhase.SUCCEEDED
        goes_on = stored.get("phase") == "Running" and any(task.released for task in progress.tasks.values())
        runs = phase is RunPhase.RUNNING or (goes_on and phase not in _HELD)
        ended = "Failed" if failed else "Succeeded" if phase.ended else ""
        return {
            **stored,
            "phase": "Running" if runs else "Creating",
            "reason": progress.message if failed else progress.full_message if phase in _HELD else progress.blocked,
            "controlPaused": stored.get("controlPaused") is True,
            "conditions": _conditions(job, progress),
            "state": ended or ("Running" if runs else "Unknown"),
        }

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase, and of a job that is cleaned up the state."""
        ended = {"Done": "Succeeded", "Failed": "Failed", "CleanUp": status.get("state")}.get(str(status.get("phase")))
        return None if ended is None else RunPhase.FAILED if ended == "Failed" else RunPhase.SUCCEEDED


def _conditions(job: Job[MxJobSpec], progress: Progress) -> list[dict[str, Any]]:
    """Return the latest conditions, the newest last: one each time that a type begins to hold.

    Readers find the first of a type: whether the type holds now is the status of each.
    """
    phase, stored = progress.phase, conditions_of(job)
    held = {condition.get("type") for condition in stored if condition.get("status") == "True"}
    sizes = [(task.previous, task.replicas) for task in progress.tasks.values() if task.previous]
    if phase in {RunPhase.PENDING, RunPhase.STARTING}:
        now = held & {"Recovering", "RemovingDeadMember", "ScalingUp"}
    elif phase is RunPhase.RESCHEDULING:
        grows, shrinks = (any(sign * before < sign * size for before, size in sizes) for sign in (1, -1))
        now = {"ScalingUp" if grows else "ScalingDown" if shrinks else "RemovingDeadMember"}
    else:
        now = {_TYPES[phase]} if phase in _TYPES else set()
    begun = [*({"Ready"} if RunPhase.RUNNING in progress.entered else ()), *now]
    for kind in dict.fromkeys(kind for kind in begun if kind not in held):
        stored.append({"type": kind, "transitionTime": progress.timestamp})
    why = {"reason": progress.reason or f"Job{phase}", "message": progress.full_message}
    for condition in stored:
        status = str(condition.get("type") in now)
        changed = condition.get("status") != status
        times = dict.fromkeys(("lastTransitionTime", "lastUpdateTime"), progress.timestamp) if changed else {}
        if changed or status == "True":
            condition |= {**times, **why, "status": status, "observedGeneration": progress.generation}
    return stored[-CONDITIONS:]


def _main_container(spec: Mapping[str, Any]) -> str:
    """Return the name of the container that trains; empty if the template has none of this name."""
    containers = objects(spec.get("containers"))
    return MAIN_CONTAINER if any(container.get("name") == MAIN_CONTAINER for _, container in containers) else ""


def _replica_status(task: TaskProgress) -> dict[str, Any]:
    states = {{"Pending": "Starting"}.get(phase, phase): count for phase, count in task.phases.items()}
    succeeded = task.complete or (task.replicas and task.phases.get("Succeeded", 0) >= task.replicas)
    state = "Failed" if task.failure else "Succeeded" if succeeded else "Running" if states.get("Running") else ""
    role, state = task.name.upper(), state or ("Starting" if states else "Unknown")
    return {
        "mxReplicaType": role,
        "Mx_replica_type": role,
        "state": state,
        "replicasStates": states,
        "ReplicasStates": states,
    }

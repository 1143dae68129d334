"""How the runner runs an MxJob: a batch Job a role, where mxnet-operator makes one a replica."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.runner import (
    Clean,
    Progress,
    Retry,
    Runner,
    RunPhase,
    TaskProgress,
    conditions_of,
    set_condition,
)
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER, ROOT_PORT, contract
from jobgate.plugins import Crew
from jobgate.plugins.crew import COMPLETION_INDEX, TASK_LABEL
from webhook import Job, Task
from webhook.values import mapping, objects, spec_of

#: Pods that a batch Job replaces where nobody says otherwise: the API server's default of `backoffLimit`.
LIMIT: Final = 6
#: Exit codes after which a retry does not help, by mxnet-operator.
PERMANENT: Final = tuple(range(1, 128))
#: As many conditions as the operator keeps.
CONDITIONS: Final = 10
#: Characters of a runtime id that is made up.
_ID_LENGTH: Final = 4

_PHASES: Final = {
    RunPhase.PENDING: "Creating",
    RunPhase.SUCCEEDED: "Done",
    RunPhase.FAILED: "Failed",
    RunPhase.TERMINATED: "Failed",
}
_STATES: Final = {RunPhase.SUCCEEDED: "Succeeded", RunPhase.FAILED: "Failed", RunPhase.TERMINATED: "Failed"}


def services(job: Job[MxJobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
    """Yield the Service by which all roles find the scheduler of a distributed job. It is not headless."""
    scheduler = next((part for part in crew.parts if part.type == ReplicaType.SCHEDULER), None)
    if job.spec.job_mode is JobMode.DIST and scheduler is not None:
        selector = {**crew.labels, TASK_LABEL: scheduler.name, COMPLETION_INDEX: "0"}
        ports = [{"name": "ps-root-port", "port": int(crew.facts[ROOT_PORT])}]
        yield {"metadata": {"name": crew.pod_name(scheduler, 0)}, "spec": {"selector": selector, "ports": ports}}


def retry(_: Job[MxJobSpec], task: Task) -> Retry:
    """Return how failed pods are replaced: after an exit code that says it does not help, not at all."""
    spec = spec_of(task.template)
    policy = "Never" if spec.get("restartPolicy") == "Never" else "OnFailure"
    named = any(one.get("name") == MAIN_CONTAINER for _, one in objects(spec.get("containers")))
    return Retry(policy, LIMIT, MAIN_CONTAINER if named else "", ("In", PERMANENT) if policy == "Never" else None)


def replicas(job: Job[MxJobSpec], task: Task) -> int:
    """Return the pods of a role: of a local job there is one, whatever it says."""
    return 1 if job.spec.job_mode is JobMode.LOCAL else task.replicas


def succeeded(job: Job[MxJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether the job has succeeded: its scheduler has, or its only worker."""
    deciding = ReplicaType.WORKER if job.spec.job_mode is JobMode.LOCAL else ReplicaType.SCHEDULER
    task = tasks.get(deciding.lower())
    return task is not None and task.complete


def adopts(job: Job[MxJobSpec]) -> Mapping[str, Any]:
    """Return the runtime id of a job that has none: characters of its uid, so that it is the same each time."""
    if job.spec.identity:
        return {}
    uid = str(mapping(job.document.get("metadata")).get("uid") or "")
    return {"runtimeId": uid.replace("-", "")[:_ID_LENGTH]} if uid else {}


def status(job: Job[MxJobSpec], progress: Progress) -> dict[str, Any]:
    """Return the status, old and canonical spellings both."""
    phase, former = progress.phase, mapping(job.document.get("status"))
    conditions = conditions_of(job)
    reason = progress.reason or f"Job{phase}"
    holds = {
        "Ready": phase is RunPhase.RUNNING,
        "Recovering": phase is RunPhase.RESTARTING,
        "Succeeded": phase is RunPhase.SUCCEEDED,
        "Failed": phase.ended and phase is not RunPhase.SUCCEEDED,
    }
    for kind, true in holds.items():
        if true or any(one.get("type") == kind for one in conditions):
            new = {"type": kind, "status": str(true), "reason": reason, "message": progress.sentence}
            conditions = set_condition(conditions, new, progress)
    made = {
        **former,
        "phase": _PHASES.get(phase, "Running"),
        "reason": progress.message if phase.ended and phase is not RunPhase.SUCCEEDED else progress.blocked,
        "controlPaused": former.get("controlPaused") is True,
        "conditions": conditions[-CONDITIONS:],
        "state": _STATES.get(phase, "Unknown" if phase is RunPhase.PENDING else "Running"),
        "replicaStatuses": [_replica_status(task) for task in progress.tasks.values()],
    }
    if phase in {RunPhase.SUSPENDED, RunPhase.QUEUED, RunPhase.ABORTED}:
        made |= {"phase": "Creating", "state": "Unknown", "reason": progress.sentence}
    return made


def _replica_status(task: TaskProgress) -> dict[str, Any]:
    states = {{"Pending": "Starting"}.get(phase, phase): count for phase, count in task.phases.items()}
    state = next((one for one in ("Failed", "Running") if states.get(one)), "Starting" if states else "Unknown")
    if task.complete:
        state = "Succeeded"
    role = task.name.upper()
    return {
        "mxReplicaType": role,
        "Mx_replica_type": role,
        "state": state,
        "replicasStates": states,
        "ReplicasStates": states,
    }


def phase_of(status: Mapping[str, Any]) -> RunPhase | None:
    """Return how a job has ended."""
    return {"Done": RunPhase.SUCCEEDED, "Failed": RunPhase.FAILED}.get(str(status.get("phase")))


RUNNER = Runner(
    status=status,
    phase_of=phase_of,
    variables=contract,
    services=services,
    retry=retry,
    limit=lambda _: None,
    clean=lambda _: Clean.RUNNING,
    replicas=replicas,
    succeeded=succeeded,
    adopts=adopts,
    orphaned="the published mxnet-operator requires an API that Kubernetes 1.22 removed",
    rivals=("mxnet-operator", "mx-job-operator", "mx-operator"),
    paused=lambda status: status.get("controlPaused") is True,
)

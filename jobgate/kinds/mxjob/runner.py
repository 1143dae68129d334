"""How the runner runs an MxJob: with one batch Job per role, where mxnet-operator creates one per replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.jobs.progress import Progress, RunPhase, TaskProgress
from jobgate.jobs.runner import Retry, Runner
from jobgate.jobs.status import conditions_of, set_condition
from jobgate.jobs.task import Task
from jobgate.kinds.mxjob.models import JobMode, MxJobSpec, ReplicaType
from jobgate.kinds.mxjob.operator import MAIN_CONTAINER, ROOT_PORT, contract
from jobgate.plugins import Crew, Member, Variable
from jobgate.plugins.crew import COMPLETION_INDEX, TASK_LABEL
from webhook.values import mapping, objects, spec_of

#: The API server's default of `backoffLimit`.
LIMIT: Final = 6
#: Exit codes after which mxnet-operator does not retry.
PERMANENT: Final = tuple(range(1, 128))
#: Number of conditions that the operator keeps.
CONDITIONS: Final = 10
#: Length of a generated runtime id.
_ID_LENGTH: Final = 4

_PHASES: Final = {
    RunPhase.PENDING: "Creating",
    RunPhase.SUCCEEDED: "Done",
    RunPhase.FAILED: "Failed",
    RunPhase.TERMINATED: "Failed",
}
_STATES: Final = {RunPhase.SUCCEEDED: "Succeeded", RunPhase.FAILED: "Failed", RunPhase.TERMINATED: "Failed"}


class MxJobRunner(Runner[MxJobSpec]):
    """Runs MxJobs."""

    orphaned = "the published mxnet-operator requires an API that Kubernetes 1.22 removed"
    rivals = ("mxnet-operator", "mx-job-operator", "mx-operator")

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
        """Replace failed pods with `restartPolicy: Never`, except after a permanent exit code; restart others."""
        spec = spec_of(task.template)
        if spec.get("restartPolicy") != "Never":
            return Retry("OnFailure", LIMIT, _main_container(spec))
        return Retry("Never", LIMIT, _main_container(spec), ("In", PERMANENT))

    def has_succeeded(self, job: Job[MxJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the scheduler has succeeded, or the worker of a local job."""
        deciding = ReplicaType.WORKER if job.spec.job_mode is JobMode.LOCAL else ReplicaType.SCHEDULER
        task = tasks.get(deciding.lower())
        return task is not None and task.complete

    def status(self, job: Job[MxJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the status, in the old and the canonical spelling."""
        phase, stored = progress.phase, mapping(job.document.get("status"))
        conditions = conditions_of(job)
        reason = progress.reason or f"Job{phase}"
        failed = phase.ended and phase is not RunPhase.SUCCEEDED
        holds = {
            "Ready": phase is RunPhase.RUNNING,
            "Recovering": phase is RunPhase.RESTARTING,
            "Succeeded": phase is RunPhase.SUCCEEDED,
            "Failed": failed,
        }
        for kind, true in holds.items():
            if true or any(condition.get("type") == kind for condition in conditions):
                new = {"type": kind, "status": str(true), "reason": reason, "message": progress.full_message}
                conditions = set_condition(conditions, new, progress)
        status = {
            **stored,
            "phase": _PHASES.get(phase, "Running"),
            "reason": progress.message if failed else progress.blocked,
            "controlPaused": stored.get("controlPaused") is True,
            "conditions": conditions[-CONDITIONS:],
            "state": _STATES.get(phase, "Unknown" if phase is RunPhase.PENDING else "Running"),
            "replicaStatuses": [_replica_status(task) for task in progress.tasks.values()],
        }
        if phase in {RunPhase.SUSPENDED, RunPhase.QUEUED, RunPhase.ABORTED}:
            status |= {"phase": "Creating", "state": "Unknown", "reason": progress.full_message}
        return status

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase."""
        return {"Done": RunPhase.SUCCEEDED, "Failed": RunPhase.FAILED}.get(str(status.get("phase")))


def _main_container(spec: Mapping[str, Any]) -> str:
    """Return the name of the container that trains; empty if the template has none of this name."""
    containers = objects(spec.get("containers"))
    return MAIN_CONTAINER if any(container.get("name") == MAIN_CONTAINER for _, container in containers) else ""


def _replica_status(task: TaskProgress) -> dict[str, Any]:
    states = {{"Pending": "Starting"}.get(phase, phase): count for phase, count in task.phases.items()}
    state = next((phase for phase in ("Failed", "Running") if states.get(phase)), "Starting" if states else "Unknown")
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

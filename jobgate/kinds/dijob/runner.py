"""How the runner runs a DIJob: as DI-orchestrator v1.1 does. A failed pod is replaced up to `backoffLimit` times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.jobs.progress import Progress, RunPhase
from jobgate.jobs.runner import Clean, Retry, Runner
from jobgate.jobs.status import conditions_of, set_condition
from jobgate.jobs.task import Task
from jobgate.kinds.dijob.models import DIJobSpec, Priority
from jobgate.kinds.dijob.operator import contract
from jobgate.plugins import Crew, Member, Variable

#: Port of the Service that gives pods their DNS names (DI-orchestrator v1.1).
PORT: Final = 22270

#: The kind's names of phases, where they differ.
_PHASES: Final = {
    RunPhase.SUSPENDED: "Pending",
    RunPhase.QUEUED: "Pending",
    RunPhase.ABORTED: "Pending",
    RunPhase.TERMINATED: "Failed",
}


class DIJobRunner(Runner[DIJobSpec]):
    """Runs DIJobs."""

    # The last is the name of its Lease.
    rivals = ("di-operator", "di-orchestrator", "12841a5d.opendilab.org")
    supports = frozenset(
        {
            "suspend",
            "policies",
            "depends_on",
            "scheduler_name",
            "priority_class_name",
            "ttl_seconds_after_finished",
        }
    )
    server = "DI_SERVER"
    keeps_services = False
    reschedules = True

    def variables(self, member: Member) -> Iterator[Variable]:
        """Yield what DI-orchestrator sets in every container. The address of the server is in the template."""
        return contract(member)

    def services(self, job: Job[DIJobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
        """Yield the headless Service that gives pods their DNS names."""
        ports = [{"name": "di-port", "port": PORT}]
        spec = {"clusterIP": "None", "selector": dict(crew.labels), "ports": ports}
        yield {"metadata": {"name": crew.service}, "spec": spec}

    def pod_spec(self, job: Job[DIJobSpec], task: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
        """Put the pods into the domain of the Service."""
        return {**spec, "subdomain": crew.service}

    #: Ranks are counted through all tasks, so the others keep their number of pods.
    elastic_needs = "set spec.minReplicas and spec.maxReplicas: the last task is scaled between them"

    def elastic(self, job: Job[DIJobSpec]) -> Mapping[str, tuple[int, int]]:
        """Return the bounds of the last task: those of the job without the other tasks."""
        low, high, tasks = job.spec.min_replicas, job.spec.max_replicas, job.all_tasks
        if low is None or high is None or not tasks:
            return {}
        rest = sum(task.replicas for task in tasks[:-1])
        return {tasks[-1].name or "": (low - rest, high - rest)}

    def is_preemptible(self, job: Job[DIJobSpec]) -> bool:
        """Return `preemptible`."""
        return bool(job.spec.preemptible)

    def priority(self, job: Job[DIJobSpec]) -> int | None:
        """Return 1 for `priority: high`, else 0; a priority class takes precedence."""
        return None if job.spec.priority_class_name else int(job.spec.priority is Priority.HIGH)

    def retry(self, job: Job[DIJobSpec], task: Task) -> Retry:
        """Replace a failed pod, within the job's limit."""
        return Retry(limit=job.spec.backoff_limit)

    def restart_limit(self, job: Job[DIJobSpec]) -> int:
        """Return `backoffLimit`."""
        return int(job.spec.backoff_limit)

    def clean_policy(self, job: Job[DIJobSpec]) -> Clean:
        """Return `cleanPodPolicy`."""
        return Clean(job.spec.clean_pod_policy.value)

    def counts(self, job: Job[DIJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the number of pods and ready containers. At the end `taskStatus` is cleared, as by DI-orchestrator."""
        tasks = progress.tasks.values()
        return {
            "replicas": sum(task.replicas for task in tasks),
            "readyReplicas": sum(task.ready_containers for task in tasks),
            "taskStatus": None if progress.phase.ended else {task.name: dict(task.phases) for task in tasks},
        }

    def status(self, job: Job[DIJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the status. The types of its conditions are phases: exactly one is True, the last."""
        stored = dict(job.document.get("status") or {})
        conditions = conditions_of(job)
        for entered in progress.entered[:-1]:
            passed = {"type": _phase(entered), "status": "False", "reason": f"Job{entered}", "message": ""}
            conditions = set_condition(conditions, passed, progress)
        phase = _phase(progress.phase)
        for other in conditions:
            if other["type"] != phase and other.get("status") == "True":
                conditions = set_condition(conditions, {"type": other["type"], "status": "False"}, progress)
        reason = progress.reason or f"Job{progress.phase}"
        condition = {"type": phase, "status": "True", "reason": reason, "message": progress.full_message}
        status = {
            **stored,
            "phase": phase,
            "conditions": set_condition(conditions, condition, progress, last=True),
            "restarts": progress.restarts,
            "reschedules": stored.get("reschedules", 0) + (RunPhase.RESCHEDULING in progress.entered),
        }
        if progress.phase.ended:
            status["completionTimestamp"] = stored.get("completionTimestamp") or progress.timestamp
        return status

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the phase."""
        return {"Succeeded": RunPhase.SUCCEEDED, "Failed": RunPhase.FAILED}.get(str(status.get("phase")))


def _phase(phase: RunPhase) -> str:
    return _PHASES.get(phase, str(phase))

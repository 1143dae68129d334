"""How the runner runs a DIJob: as DI-orchestrator v1.1 does, pods that failed replaced as often as it allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.runner import Clean, Progress, Retry, Runner, RunPhase, conditions_of, set_condition
from jobgate.kinds.dijob.models import DIJobSpec, Priority
from jobgate.kinds.dijob.operator import contract
from jobgate.plugins import Crew, Member, Variable
from webhook import Job, Task

#: Where DI-engine finds the server of its operator; the port of the Service that names the pods (DI-orchestrator v1.1).
SERVER: Final = "http://di-server.di-system.{domain}:8081"
PORT: Final = 22270

#: What the kind calls the phases; the rest have the same names.
_PHASES: Final = {
    RunPhase.SUSPENDED: "Pending",
    RunPhase.QUEUED: "Pending",
    RunPhase.ABORTED: "Pending",
    RunPhase.TERMINATED: "Failed",
}


def variables(member: Member) -> Iterator[Variable]:
    """Yield what DI-orchestrator sets in every container."""
    yield from contract(member)
    yield Variable("DI_SERVER_URL", SERVER.format(domain=member.crew.domain))


def services(_: Job[DIJobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
    """Yield the headless Service by which pods find each other."""
    ports = [{"name": "di-port", "port": PORT}]
    spec = {"clusterIP": "None", "selector": dict(crew.labels), "ports": ports}
    yield {"metadata": {"name": crew.service}, "spec": spec}


def pod(_: Job[DIJobSpec], __: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec of a task's pods: they are in the domain of the Service."""
    return {**spec, "subdomain": crew.service}


def status(job: Job[DIJobSpec], progress: Progress) -> dict[str, Any]:
    """Return the status: of the conditions, which are phases, exactly one holds."""
    phase = _PHASES.get(progress.phase, str(progress.phase))
    reason = progress.reason or f"Job{progress.phase}"
    conditions = conditions_of(job)
    for one in conditions:
        if one["type"] != phase and one.get("status") == "True":
            conditions = set_condition(conditions, {"type": one["type"], "status": "False"}, progress)
    condition = {"type": phase, "status": "True", "reason": reason, "message": progress.sentence}
    former = dict(job.document.get("status") or {})
    tasks = progress.tasks.values()
    made = {
        **former,
        "phase": phase,
        "conditions": set_condition(conditions, condition, progress),
        "replicas": sum(task.replicas for task in tasks),
        "readyReplicas": sum(task.ready_containers for task in tasks),
        "taskStatus": {task.name: dict(task.phases) for task in tasks},
        "restarts": progress.restarts,
    }
    if progress.phase.ended:
        made["completionTimestamp"] = former.get("completionTimestamp") or progress.stamp
        made["taskStatus"] = None  # as DI-orchestrator clears it
    return made


def phase_of(status: Mapping[str, Any]) -> RunPhase | None:
    """Return how a job has ended."""
    return {"Succeeded": RunPhase.SUCCEEDED, "Failed": RunPhase.FAILED}.get(str(status.get("phase")))


RUNNER = Runner(
    status=status,
    phase_of=phase_of,
    variables=variables,
    services=services,
    pod=pod,
    retry=lambda job, _: Retry(limit=job.spec.backoff_limit),
    limit=lambda job: int(job.spec.backoff_limit),
    clean=lambda job: Clean(job.spec.clean_pod_policy.value),
    keeps_services=False,
    priority=lambda job: None if job.spec.priority_class_name else int(job.spec.priority is Priority.HIGH),
    # The last is the name of its Lease.
    rivals=("di-operator", "di-orchestrator", "12841a5d.opendilab.org"),
    supports=frozenset(
        {
            "suspend",
            "policies",
            "depends_on",
            "scheduler_name",
            "priority_class_name",
            "ttl_seconds_after_finished",
        }
    ),
)

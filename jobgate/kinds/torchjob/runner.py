"""How the runner runs a TorchJob: as torch-on-k8s is meant to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.gangs import gang_minimum
from jobgate.jobs.runner import (
    Clean,
    Progress,
    Retry,
    Runner,
    RunPhase,
    StartCondition,
    TaskProgress,
    all_started,
    conditions_of,
    set_condition,
    waits_for_names,
)
from jobgate.kinds.torchjob.models import OnPhase, RestartPolicy, TorchJobSpec
from jobgate.kinds.torchjob.operator import (
    BACKEND,
    ENDPOINT,
    MAIN_CONTAINER,
    MASTER_PORT,
    MODEL_VOLUME,
    NODES,
    PORT,
    PORT_NAME,
    PROCESSES,
    annotation,
    contract,
    named_port,
)
from jobgate.kinds.torchjob.tasks import TaskType, TorchTask, task_of, torch_tasks
from jobgate.plugins import Crew, Member, Variable
from jobgate.plugins.crew import COMPLETION_INDEX, JOB_LABEL, KIND_LABEL, TASK_LABEL
from webhook import Job, Task, readable
from webhook.values import mapping, objects, spec_of, text

#: The annotation of a job by which its AIMaster lets the other tasks start.
AI_MASTER_READY: Final = "aimaster"
#: Exit codes after which a pod is replaced; after every other one the job fails (torch-on-k8s).
RETRYABLE: Final = (130, 137, 138, 143)
#: Where a program finds the place for its model.
MODEL_VARIABLE: Final = "TORCH_ON_K8S_MODEL_PATH"

#: The phases in which a job runs no pods, which its kind calls `Queuing`; and why it is in a queue, or no longer.
_HELD: Final = frozenset({RunPhase.SUSPENDED, RunPhase.QUEUED, RunPhase.ABORTED})
ENQUEUED: Final = "JobEnqueued"
DEQUEUED: Final = "JobDequeued"

_AI_MASTER, _MASTER = TaskType.AI_MASTER.lower(), TaskType.MASTER.lower()


def variables(member: Member) -> Iterator[Variable]:
    """Yield what torch-on-k8s sets in every container, and the same for torchrun."""
    crew, is_master = member.crew, member.part.name == _MASTER
    master = crew.part(_MASTER)
    if master is not None:
        yield Variable("MASTER_ADDR", "localhost" if is_master else crew.pod_name(master, 0))
        yield Variable("MASTER_PORT", crew.facts.get(MASTER_PORT, str(PORT)))
    yield Variable("RANK", "0" if is_master else str(member.index + 1))
    yield Variable("WORLD_SIZE", str(sum(part.replicas for part in crew.parts if part.name != _AI_MASTER)))
    yield Variable("PYTHONUNBUFFERED", "0")
    yield from contract(member)


def services(job: Job[TorchJobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
    """Yield a headless Service for each pod whose container that trains has the port; the master's has it always."""
    for task in torch_tasks(job):
        part = crew.part(task.name or "")
        port = named_port(task.template) or (PORT if task.role is TaskType.MASTER else None)
        if part is None or port is None:
            continue
        for index in range(part.replicas):
            selector = {**crew.labels, TASK_LABEL: part.name, COMPLETION_INDEX: str(index)}
            spec = {"clusterIP": "None", "selector": selector, "ports": [{"name": PORT_NAME, "port": port}]}
            yield {"metadata": {"name": crew.pod_name(part, index)}, "spec": spec}


def pod(job: Job[TorchJobSpec], _: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec of a task's pods: with the arguments of torchrun, and the place for the model."""
    containers = [dict(one) for _, one in objects(spec.get("containers"))]
    if ENDPOINT in crew.facts:
        for container in containers:
            container["args"] = [*_arguments(crew), *(container.get("args") or ())]
    storage = job.document
    for word in ("spec", "modelVersion", "spec", "storage"):
        storage = mapping(storage.get(word))
    local, nfs = mapping(storage.get("localStorage")), mapping(storage.get("nfs"))
    volumes = list(spec.get("volumes") or ())
    if mount := text((nfs or local).get("mountPath")):
        source = {"nfs": {key: nfs[key] for key in ("server", "path") if key in nfs}}
        volumes.append({"name": MODEL_VOLUME, **(source if nfs else {"hostPath": {"path": local.get("path")}})})
        for container in containers:
            mounts = [*(container.get("volumeMounts") or ()), {"name": MODEL_VOLUME, "mountPath": mount}]
            env = container.get("env") or []
            if not any(one.get("name") == MODEL_VARIABLE for one in env):
                env = [*env, {"name": MODEL_VARIABLE, "value": mount}]
            container |= {"volumeMounts": mounts, "env": env}
    return {**spec, "containers": containers, **({"volumes": volumes} if volumes else {})}


def _arguments(crew: Crew) -> list[str]:
    """Return the arguments of torchrun for an elastic job."""
    facts = crew.facts
    master = crew.part(_MASTER)
    size = str(master.replicas if master else 1)
    return [
        f"--rdzv_backend={facts.get(BACKEND, '')}",
        f"--rdzv_endpoint={facts[ENDPOINT]}",
        f"--rdzv_id={crew.name}",
        f"--nproc_per_node={facts.get(PROCESSES, '1')}",
        f"--nnodes={facts.get(NODES, f'{size}:{size}')}",
    ]


def retry(job: Job[TorchJobSpec], task: Task) -> Retry:
    """Return how failed pods are replaced, by the task's restart policy. A batch Job has no `Always`."""
    policy = task.restart_policy if isinstance(task, TorchTask) else None
    if policy is None:
        is_master = task.name == _MASTER
        policy = RestartPolicy.EXIT_CODE if is_master else RestartPolicy.ON_FAILURE
    limit = job.spec.backoff_limit
    if policy is RestartPolicy.NEVER:
        return Retry("Never", 0)
    if policy is not RestartPolicy.EXIT_CODE:
        return Retry("OnFailure", limit)
    names = {one.get("name") for _, one in objects(spec_of(task.template).get("containers"))}
    return Retry("Never", limit, MAIN_CONTAINER if MAIN_CONTAINER in names else "", ("NotIn", RETRYABLE))


def waits(job: Job[TorchJobSpec], task: Task) -> StartCondition:
    """Return what a task waits for: other types, and the AIMaster's word where there is one."""
    has_ai_master = task_of(job, TaskType.AI_MASTER) is not None
    ready = annotation(job, AI_MASTER_READY) == "ready"
    gate = f"annotation {AI_MASTER_READY}: ready" if has_ai_master and not ready and task.name != _AI_MASTER else ""
    written = getattr(task.part, "depends_on", None)
    if written is None:
        return StartCondition(waits_for_names(job, task).tasks, gate=gate)
    named = (one for _, one in readable(written, "depends_on", "on_phase"))
    return StartCondition(
        tuple((one.depends_on.lower(), one.on_phase is OnPhase.SUCCEEDED) for one in named), gate=gate
    )


def succeeded(_: Job[TorchJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether the job has succeeded: its AIMaster has, or its master and all workers."""
    if _AI_MASTER in tasks and tasks[_AI_MASTER].complete:
        return True
    return _MASTER in tasks and all(task.complete for name, task in tasks.items() if name != _AI_MASTER)


def running(job: Job[TorchJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
    """Return whether all pods are, or the master or AIMaster, however many workers are, and no pod has failed."""
    failed = any(task.phases.get("Failed") for task in tasks.values())
    leads = any(tasks[name].active for name in (_MASTER, _AI_MASTER) if name in tasks)
    return all_started(job, tasks) or (leads and not failed)


def gang(job: Job[TorchJobSpec]) -> int:
    """Return the pods that start together; those of an AIMaster are scheduled by themselves."""
    stated = job.word("min_available")
    if stated is not None:
        return int(stated)
    alone = task_of(job, TaskType.AI_MASTER)
    return gang_minimum(job.of([task for task in job.tasks if task is not alone]))


def priority(job: Job[TorchJobSpec]) -> int | None:
    """Return the priority that the scheduling policy states."""
    policy = job.spec.scheduling_policy
    return policy.priority if policy else None


def clean(job: Job[TorchJobSpec]) -> Clean:
    """Return which pods of an ended job are deleted, in either spelling."""
    policy = job.spec.clean_pod_policy or job.spec.clen_pod_policy
    return Clean(policy.value) if policy else Clean.NONE


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def status(job: Job[TorchJobSpec], progress: Progress) -> dict[str, Any]:
    """Return the status. The newest condition is the last: what `kubectl get` shows as the state."""
    former, phase = mapping(job.document.get("status")), progress.phase
    conditions = conditions_of(job)

    def put(kind: str, *, true: bool = True, reason: str = "", message: str = "") -> None:
        nonlocal conditions
        new = {"type": kind, "status": str(true), "reason": reason or f"Job{kind}", "message": message}
        stored = next((one for one in conditions if one["type"] == kind), None)
        if stored is None and not true:
            return
        if stored and not true:
            new |= {"reason": stored.get("reason", ""), "message": stored.get("message", "")}
        conditions = set_condition(conditions, new, progress, last=true)

    created = f"TorchJob {job.document['metadata']['name']} is created"
    put("Created", message="; ".join(filter(None, (created, progress.blocked))))
    held = phase in _HELD
    kind = "Queuing" if held else {RunPhase.TERMINATED: "Failed"}.get(phase, str(phase))
    if held or phase in {RunPhase.RUNNING, RunPhase.RESTARTING} or phase.ended:
        for other in ("Queuing", "Running", "Restarting"):
            if other != kind:
                put(other, true=False)
        # The reference removes the opposite of these two.
        opposite = {"Running": "Restarting", "Restarting": "Running"}.get(kind)
        conditions = [one for one in conditions if one["type"] != opposite]
        reason = progress.reason or (f"Job{phase}" if held or phase is RunPhase.TERMINATED else "")
        put(kind, reason=ENQUEUED if phase is RunPhase.QUEUED else reason, message=progress.sentence)
    elif any(one["type"] == "Queuing" and one.get("reason") == ENQUEUED for one in conditions):
        put("Queuing", reason=DEQUEUED, message="the job has left its queue")
    # By type, in whichever case the key is written.
    keys = {task.name: str(task.role or task.key) for task in torch_tasks(job)}
    made: dict[str, Any] = {
        **former,
        "conditions": conditions,
        "taskStatuses": {keys.get(task.name, task.name): _seen(job, task) for task in progress.tasks.values()},
    }
    if phase is not RunPhase.QUEUED or former.get("startTime"):
        made["startTime"] = former.get("startTime") or progress.stamp
    if phase.ended:
        made["completionTime"] = former.get("completionTime") or progress.stamp
    return made


def _seen(job: Job[TorchJobSpec], task: TaskProgress) -> dict[str, Any]:
    labels = {KIND_LABEL: job.kind.qualified_plural, JOB_LABEL: job.document["metadata"]["name"], TASK_LABEL: task.name}
    return {
        "selector": ",".join(f"{key}={value}" for key, value in labels.items()),
        "active": task.active,
        "succeed": task.succeeded,
        "succeeded": task.succeeded,
        "failed": task.phases.get("Failed", 0),
    }


def phase_of(status: Mapping[str, Any]) -> RunPhase | None:
    """Return how a job has ended."""
    ends = {"Succeeded": RunPhase.SUCCEEDED, "Failed": RunPhase.FAILED}
    holding = (one.get("type") for _, one in objects(status.get("conditions")) if one.get("status") == "True")
    return next((ends[kind] for kind in holding if kind in ends), None)


RUNNER = Runner(
    status=status,
    phase_of=phase_of,
    variables=variables,
    services=services,
    pod=pod,
    retry=retry,
    limit=lambda job: job.spec.backoff_limit,
    clean=clean,
    waits=waits,
    succeeded=succeeded,
    running=running,
    gang=gang,
    priority=priority,
    orphaned="the published torch-on-k8s panics at its start, with its default flags",
    rivals=("torch-on-k8s",),
    supports=frozenset({"priority_class_name", "depends_on", "ttl_seconds_after_finished", "active_deadline_seconds"}),
    lonely=frozenset({_AI_MASTER}),
    ttl=lambda job: _first(job.spec.ttl_seconds_after_finished, job.spec.old_ttl_seconds_after_finished),
    deadline=lambda job: _first(job.spec.active_deadline_seconds, job.spec.active_durations),
)

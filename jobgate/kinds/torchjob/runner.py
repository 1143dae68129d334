"""How the runner runs a TorchJob: as torch-on-k8s is meant to do it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.jobs.policies import answers_failures, restarts_by_policy
from jobgate.jobs.progress import Progress, RunPhase, StartCondition, TaskProgress
from jobgate.jobs.runner import BACKOFF_LIMIT, Clean, Retry, Runner
from jobgate.jobs.scale import pod_selector
from jobgate.jobs.status import STATE, conditions_of, set_condition
from jobgate.jobs.task import Task
from jobgate.kinds.torchjob.models import OnPhase, RendezvousBackend, RestartPolicy, TorchJobSpec
from jobgate.kinds.torchjob.operator import (
    MAIN_CONTAINER,
    MASTER_PORT,
    MODEL_VOLUME,
    PORT,
    PORT_NAME,
    annotation,
    contract,
    named_port,
    scaled_by_ai_master,
)
from jobgate.kinds.torchjob.tasks import TaskType, TorchTask, task_of, torch_tasks
from jobgate.plugins import Crew, Member, Variable
from jobgate.plugins.crew import COMPLETION_INDEX, TASK_LABEL
from webhook.values import mapping, objects, spec_of, text

#: The annotation of a job that its AIMaster sets to `ready` so that the other tasks start.
AI_MASTER_READY: Final = "aimaster"
#: Exit codes after which torch-on-k8s replaces a pod; after any other the job has failed.
RETRYABLE: Final = (130, 137, 138, 143)
#: Seconds that the workers of an elastic job have to end after its master.
LAST_WORKERS: Final = 30
#: The variable with the path where the program saves its model.
MODEL_VARIABLE: Final = "TORCH_ON_K8S_MODEL_PATH"

#: The condition of a phase. The conditions of other phases stay as they are.
_TYPES: Final = {
    RunPhase.QUEUED: "Queuing",
    # No type is for an aborted job: the newest condition then says that the job exists.
    RunPhase.ABORTED: "Created",
    RunPhase.TERMINATED: "Failed",
    **{phase: str(phase) for phase in (RunPhase.RUNNING, RunPhase.RESTARTING, RunPhase.SUCCEEDED, RunPhase.FAILED)},
}
#: Conditions for a step of a job that scales itself.
_SCALING: Final = ("ScalingUp", "ScalingDown")
#: Reasons of the condition `Queuing`.
ENQUEUED: Final = "JobEnqueued"
DEQUEUED: Final = "JobDequeued"

_AI_MASTER, _MASTER, _WORKER = (role.lower() for role in (TaskType.AI_MASTER, TaskType.MASTER, TaskType.WORKER))


class TorchJobRunner(Runner[TorchJobSpec]):
    """Runs TorchJobs."""

    orphaned = "the published torch-on-k8s panics at its start, with its default flags"
    rivals = ("torch-on-k8s",)
    supports = frozenset(
        {"policies", "priority_class_name", "depends_on", "ttl_seconds_after_finished", "active_deadline_seconds"}
    )
    outside_gangs = frozenset({_AI_MASTER})

    def variables(self, member: Member) -> Iterator[Variable]:
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

    def services(self, job: Job[TorchJobSpec], crew: Crew) -> Iterator[dict[str, Any]]:
        """Yield a headless Service for each pod whose main container has the port, and always for the master's."""
        for task in torch_tasks(job):
            part = crew.part(task.name or "")
            port = named_port(task.template) or (PORT if task.role is TaskType.MASTER else None)
            if part is None or port is None:
                continue
            for index in range(part.replicas):
                selector = {**crew.labels, TASK_LABEL: part.name, COMPLETION_INDEX: str(index)}
                spec = {"clusterIP": "None", "selector": selector, "ports": [{"name": PORT_NAME, "port": port}]}
                yield {"metadata": {"name": crew.pod_name(part, index)}, "spec": spec}

    def pod_spec(self, job: Job[TorchJobSpec], task: Task, crew: Crew, spec: dict[str, Any]) -> dict[str, Any]:
        """Add the volume for the model. torchrun reads its arguments from variables."""
        containers = [dict(container) for _, container in objects(spec.get("containers"))]
        storage = job.document
        for field in ("spec", "modelVersion", "spec", "storage"):
            storage = mapping(storage.get(field))
        local, nfs = mapping(storage.get("localStorage")), mapping(storage.get("nfs"))
        volumes = list(spec.get("volumes") or ())
        if path := text((nfs or local).get("mountPath")):
            source = {"nfs": {key: nfs[key] for key in ("server", "path") if key in nfs}}
            volumes.append({"name": MODEL_VOLUME, **(source if nfs else {"hostPath": {"path": local.get("path")}})})
            for container in containers:
                mounts = [*(container.get("volumeMounts") or ()), {"name": MODEL_VOLUME, "mountPath": path}]
                env = container.get("env") or []
                if not any(variable.get("name") == MODEL_VARIABLE for variable in env):
                    env = [*env, {"name": MODEL_VARIABLE, "value": path}]
                container |= {"volumeMounts": mounts, "env": env}
        return {**spec, "containers": containers, **({"volumes": volumes} if volumes else {})}

    elastic_needs = (
        "set spec.enableTorchElastic, both bounds in spec.torchElasticPolicy, and a rendezvousBackend other than static"
    )

    def elastic(self, job: Job[TorchJobSpec]) -> Mapping[str, tuple[int, int]]:
        """Return the bounds of the workers, if torchrun lets them join and leave."""
        policy, worker = job.spec.torch_elastic_policy, task_of(job, TaskType.WORKER)
        low, high = job.get("min_replicas"), job.get("max_replicas")
        joins = job.spec.enable_torch_elastic and policy and policy.rendezvous_backend is not RendezvousBackend.STATIC
        if not joins or worker is None or low is None or high is None or scaled_by_ai_master(job):
            return {}
        return {_WORKER: (low, high)}

    def start_condition(self, job: Job[TorchJobSpec], task: Task) -> StartCondition:
        """Return the tasks of other types that this one waits for, and whether it waits for the AIMaster."""
        has_ai_master = task_of(job, TaskType.AI_MASTER) is not None
        ready = annotation(job, AI_MASTER_READY) == "ready"
        gate = f"annotation {AI_MASTER_READY}: ready" if has_ai_master and not ready and task.name != _AI_MASTER else ""
        written = getattr(task.part, "depends_on", None)
        if written is None:
            return StartCondition(super().start_condition(job, task).tasks, gate=gate)
        named = (item for item in written if hasattr(item, "depends_on") and hasattr(item, "on_phase"))
        return StartCondition(
            tuple((item.depends_on.lower(), item.on_phase is OnPhase.SUCCEEDED) for item in named), gate=gate
        )

    def has_own_order(self, job: Job[TorchJobSpec]) -> bool:
        """Return whether a task has `dependsOn`, or the job has minima by task, for which torch-on-k8s forms groups."""
        if getattr(job.spec, "min_members", None):
            return True
        return any(getattr(task.part, "depends_on", None) is not None for task in torch_tasks(job))

    def gang_minimum(self, job: Job[TorchJobSpec]) -> int:
        """Return the pods that start together. An AIMaster is scheduled by itself."""
        minimum = job.get("min_available")
        if minimum is not None:
            return int(minimum)
        ai_master = task_of(job, TaskType.AI_MASTER)
        return sum(
            task.replicas if task.min_available is None else task.min_available
            for task in job.all_tasks
            if task is not ai_master
        )

    def priority(self, job: Job[TorchJobSpec]) -> int | None:
        """Return the priority in the scheduling policy."""
        policy = job.spec.scheduling_policy
        return policy.priority if policy else None

    def retry(self, job: Job[TorchJobSpec], task: Task) -> Retry:
        """Follow the task's restart policy. A batch Job has no `Always`: it is the same as `OnFailure` here.

        If a lifecycle policy is for failed pods, pods are replaced instead of containers restarted.
        """
        policy = task.restart_policy if isinstance(task, TorchTask) else None
        if policy is None:
            policy = RestartPolicy.EXIT_CODE if task.name == _MASTER else RestartPolicy.ON_FAILURE
        limit = job.spec.backoff_limit
        if policy is RestartPolicy.NEVER:
            return Retry("Never", 0)
        if policy is not RestartPolicy.EXIT_CODE:
            return Retry("Never" if answers_failures(job, task) else "OnFailure", limit)
        names = {container.get("name") for _, container in objects(spec_of(task.template).get("containers"))}
        return Retry("Never", limit, MAIN_CONTAINER if MAIN_CONTAINER in names else "", ("NotIn", RETRYABLE))

    def restart_limit(self, job: Job[TorchJobSpec]) -> int | None:
        """Return `backoffLimit`; a job whose policies restart pods has a limit in any case."""
        return _first(job.spec.backoff_limit, BACKOFF_LIMIT if restarts_by_policy(job) else None)

    def is_running(self, job: Job[TorchJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the minimum of the gang runs, or has succeeded, and no pod has failed."""
        members = [task for name, task in tasks.items() if name not in self.outside_gangs]
        ran = {task.name: task.phases.get("Running", 0) + task.succeeded for task in members}
        of_job = job.get("min_available") is not None
        return (
            not any(task.phases.get("Failed") for task in tasks.values())
            and sum(ran.values()) >= max(self.gang_minimum(job), 1)
            and (of_job or all(ran[task.name] >= task.minimum for task in members))
        )

    def has_succeeded(self, job: Job[TorchJobSpec], tasks: Mapping[str, TaskProgress]) -> bool:
        """Return whether the AIMaster has succeeded, or the master and all workers."""
        if _AI_MASTER in tasks and tasks[_AI_MASTER].complete:
            return True
        return _MASTER in tasks and all(task.complete for name, task in tasks.items() if name != _AI_MASTER)

    def success_delay(self, job: Job[TorchJobSpec], tasks: Mapping[str, TaskProgress]) -> float | None:
        """Return how long the workers of an elastic job may take to end after the master, which has the rendezvous.

        torchrun of the master ends when all that have joined have ended. Workers that were added later can never join.
        """
        master = tasks.get(_MASTER)
        if master is None or not master.complete or not _is_elastic(job):
            return None
        return LAST_WORKERS - master.success_age

    def failure(self, job: Job[TorchJobSpec], tasks: Mapping[str, TaskProgress]) -> str:
        """Return why the job has failed, and for a master that is retried after some exit codes only, after which."""
        why = super().failure(job, tasks)
        master = task_of(job, TaskType.MASTER)
        if master and tasks[_MASTER].failure and self.retry(job, master).fatal_codes:
            codes = ", ".join(map(str, RETRYABLE))
            why += f"; restartPolicy ExitCode restarts the master only after exit codes {codes}: consider OnFailure"
        return why

    def deadline(self, job: Job[TorchJobSpec]) -> int | None:
        """Return the deadline, in either spelling."""
        return _first(job.spec.active_deadline_seconds, job.spec.active_durations)

    def counts(self, job: Job[TorchJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the number of pods by type. Pods that have succeeded count after they are deleted, too."""
        stored = mapping(mapping(job.document.get("status")).get("taskStatuses")) if progress.phase.ended else {}
        # By type, in the case in which the key is written.
        keys = {task.name: str(task.role or task.key) for task in torch_tasks(job)}
        tasks = {keys.get(name, name): task for name, task in progress.tasks.items()}
        return {"taskStatuses": {key: _task_status(job, task, mapping(stored.get(key))) for key, task in tasks.items()}}

    def status(self, job: Job[TorchJobSpec], progress: Progress) -> dict[str, Any]:
        """Return the status. The newest condition is the last: `kubectl get` shows it as the state."""
        stored, phase = mapping(job.document.get("status")), progress.phase
        status = {**stored, "conditions": _conditions(job, progress)}
        if job.spec.enable_torch_elastic:
            scaling = _scaling(job, progress, mapping(stored.get("elasticScalingStatuses")))
            status |= {"elasticScalingStatuses": scaling, "elasticScalingStatues": scaling}
        if phase is not RunPhase.QUEUED or stored.get("startTime"):
            status["startTime"] = stored.get("startTime") or progress.timestamp
        if phase.ended:
            status["completionTime"] = stored.get("completionTime") or progress.timestamp
        return status

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        """Read the conditions."""
        ends = {"Succeeded": RunPhase.SUCCEEDED, "Failed": RunPhase.FAILED}
        conditions = (condition for _, condition in objects(status.get("conditions")))
        types = (condition.get("type") for condition in conditions if condition.get("status") == "True")
        return next((ends[kind] for kind in types if kind in ends), None)

    def clean_policy(self, job: Job[TorchJobSpec]) -> Clean:
        """Return `cleanPodPolicy`, in either spelling. Workers that could not join an elastic job never end."""
        policy = job.spec.clean_pod_policy or job.spec.clen_pod_policy
        clean = Clean(policy.value) if policy else Clean.NONE
        return Clean.RUNNING if clean is Clean.NONE and _is_elastic(job) else clean

    def ttl(self, job: Job[TorchJobSpec]) -> int | None:
        """Return the seconds after the end, in either spelling."""
        return _first(job.spec.ttl_seconds_after_finished, job.spec.old_ttl_seconds_after_finished)


def _is_elastic(job: Job[TorchJobSpec]) -> bool:
    """Return whether the processes of a job meet at its master, and may change in number."""
    policy = job.spec.torch_elastic_policy
    return bool(job.spec.enable_torch_elastic and policy and policy.rendezvous_backend is RendezvousBackend.C10D)


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _conditions(job: Job[TorchJobSpec], progress: Progress) -> list[dict[str, Any]]:
    """Return the conditions, the newest last."""
    phase = progress.phase
    conditions = conditions_of(job)

    def put(kind: str, *, true: bool = True, reason: str = "", message: str = "") -> None:
        nonlocal conditions
        new = {"type": kind, "status": str(true), "reason": reason or f"Job{kind}", "message": message}
        stored = next((condition for condition in conditions if condition["type"] == kind), None)
        if stored is None and not true:
            return
        if stored and not true:
            new |= {"reason": stored.get("reason", ""), "message": stored.get("message", "")}
        conditions = set_condition(conditions, new, progress, last=true)

    created = f"TorchJob {job.document['metadata']['name']} is created"
    kind, aborted = _TYPES.get(phase, ""), phase is RunPhase.ABORTED
    reasons = (created, progress.message if kind in {"", "Created"} else "", progress.blocked)
    put("Created", reason="JobAborted" if aborted else "", message="; ".join(filter(None, reasons)))
    if RunPhase.RUNNING in progress.entered:
        put("Running", message="all pods have started")
    if kind:
        for other in ("Queuing", "Running", "Restarting"):
            if other != kind:
                put(other, true=False)
        # torch-on-k8s removes the opposite of these two.
        opposite = {"Running": "Restarting", "Restarting": "Running"}.get(kind)
        conditions = [condition for condition in conditions if condition["type"] != opposite]
        reason = {RunPhase.QUEUED: ENQUEUED, RunPhase.TERMINATED: "JobTerminated"}.get(phase, "")
        if aborted:
            conditions.sort(key=lambda condition: condition["type"] == kind)
        else:
            put(kind, reason=progress.reason or reason, message=progress.full_message)
    elif {"type": "Queuing", "reason": ENQUEUED, "status": "True"}.items() <= conditions[-1].items():
        put("Queuing", reason=DEQUEUED, message="the job has left its queue")
    return _with_scaling(job, progress, conditions)


def _with_scaling(job: Job[Any], progress: Progress, conditions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the conditions with those of a job that scales itself in front: the last one is shown as its state."""
    worker, why = progress.tasks.get(_WORKER), _why(job)
    if worker is None or not why:
        return conditions
    change = f"from {worker.previous} to {worker.replicas} workers: {why}"
    for kind, scales in zip(
        _SCALING, (0 < worker.previous < worker.replicas, worker.previous > worker.replicas), strict=True
    ):
        if scales or any(each["type"] == kind for each in conditions):
            message = {"reason": "JobScaled", "message": change} if scales else {}
            conditions = set_condition(conditions, {"type": kind, "status": str(scales), **message}, progress)
    return sorted(conditions, key=lambda each: each["type"] not in _SCALING)


def _why(job: Job[Any]) -> str:
    """Return why the runner changed the size of a job last; empty if it did not."""
    state = mapping(mapping(job.document.get("status")).get(STATE))
    return text(state.get("why")) if state.get("sizes") else ""


def _task_status(job: Job[Any], task: TaskProgress, stored: Mapping[str, Any]) -> dict[str, Any]:
    succeeded = max(task.succeeded, stored.get("succeeded", 0))
    return {
        "selector": pod_selector(job, task.name),
        "active": task.active,
        "succeed": succeeded,
        "succeeded": succeeded,
        "failed": task.phases.get("Failed", 0),
        "evicted": task.evicted,
    }


def _scaling(job: Job[TorchJobSpec], progress: Progress, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scaling status of the workers of an elastic job. Room, users and autoscalers scale it."""
    worker, before, most = progress.tasks.get(_WORKER), mapping(stored.get(TaskType.WORKER)), job.get("max_replicas")
    if worker is None:
        return {}
    size = worker.replicas
    last = before.get("curReplicas", size)
    scaled = last != size or before.get("elasticCondition", "Start") != "Start"
    at_most = most is not None and size >= most
    condition = "Stop" if progress.phase.ended else "ReachMaxReplicas" if at_most else "Continue" if scaled else "Start"
    status = {
        "elasticCondition": condition,
        "continue": not (progress.phase.ended or at_most),
        "curReplicas": size,
        "lastReplicas": last if last != size else before.get("lastReplicas", size),
    }
    if before.items() >= status.items():
        return {str(TaskType.WORKER): before}
    why = f": {_why(job)}" if _why(job) else ""
    scaling = f"scaled from {last} to {size} workers{why}"
    message = scaling if last != size else before.get("message", f"{size} workers")
    return {str(TaskType.WORKER): {**status, "message": message, "lastUpdateTime": progress.timestamp}}

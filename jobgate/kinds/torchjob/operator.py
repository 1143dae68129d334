"""The profile of torch-on-k8s: what it makes of a TorchJob, how it labels pods, and what torch and torchrun read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobgate.jobs.members import Claim, Members, labelled_claim
from jobgate.jobs.operator import Operator
from jobgate.kinds.torchjob.models import RestartPolicy, TorchElasticPolicy, TorchJobSpec
from jobgate.kinds.torchjob.tasks import TaskType, TorchTask, task_of
from jobgate.plugins import Member, Variable
from jobgate.podchecks.reading import named_containers
from webhook import Job, Path, Task, readable
from webhook.values import labels_of, mapping, objects, whole

#: What an installation says whose operator reads the canonical spellings, and `dependsOn`.
CANONICAL_SPELLINGS = "torchjobs/canonical-spellings"
DEPENDS_ON = "torchjobs/dependsOn"

#: Annotations of a job.
NETWORK_MODE = "distributed.io/network-mode"
ELASTIC_TRAINING = "distributed.io/enable-elastic-training"

#: The annotation of the master's template, or of the worker's, that the operator writes only to have a new generation.
GENERATION = "distributed.io/generation-to-increase"

#: The volume that a job with a model version has in every pod.
MODEL_VOLUME = "modelvolume"

#: Variables that the operator appends to the containers. Of two of one name, the last wins.
RESERVED_ENV = frozenset({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"})

#: The container that the operator takes for the one that trains, and the port that the workers find the master by.
MAIN_CONTAINER = "torch"
PORT_NAME = "torchjob-port"
PORT = 23456

_GROUP, _KIND = "train.distributed.io", "TorchJob"
_OPERATOR, _JOB, _TASK, _INDEX = "group-name", "job-name", "task-type", "task-index"
_AI_MASTER, _MASTER = TaskType.AI_MASTER.lower(), TaskType.MASTER.lower()

#: Facts of a job: where its master listens, and the arguments of torchrun of an elastic one.
MASTER_PORT, NODES, PROCESSES, BACKEND, ENDPOINT = "master-port", "nodes", "processes", "backend", "endpoint"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod of torch-on-k8s is."""
    index = labels_of(pod).get(_INDEX)
    return labelled_claim(pod, job=_JOB, task=_TASK, index=index, group=_GROUP, kind=_KIND)


def facts(job: Job[TorchJobSpec]) -> Mapping[str, str]:
    """Return what the variables of a job's pods need beside its tasks."""
    found = {MASTER_PORT: str(_master_port(job))}
    for _, spec in readable((job.spec,), "enable_torch_elastic", "torch_elastic_policy"):
        if spec.enable_torch_elastic and spec.torch_elastic_policy is not None:
            found |= _elastic(spec.torch_elastic_policy)
    return found


def contract(member: Member) -> Iterator[Variable]:
    """Yield what torch-on-k8s sets in containers, for those that it ignores, and the same for torchrun.

    An AIMaster does not train: it has no rank. The operator gives it one all the same, which is that of a worker.
    """
    crew = member.crew
    if member.part.name == _AI_MASTER:
        return
    master = crew.part(_MASTER)
    rank = str(member.index if member.part.name == _MASTER else member.index + 1)
    size = str(sum(part.replicas for part in crew.parts if part.name != _AI_MASTER))
    if master is not None:
        for prefix in ("", "PET_"):
            yield Variable(f"{prefix}MASTER_ADDR", crew.pod_name(master, 0))
            yield Variable(f"{prefix}MASTER_PORT", crew.facts.get(MASTER_PORT, str(PORT)))
    yield Variable("RANK", rank)
    yield Variable("WORLD_SIZE", size)
    yield Variable("PET_NODE_RANK", rank)
    yield Variable("PET_NNODES", crew.facts.get(NODES, size))
    for name, fact in (("NPROC_PER_NODE", PROCESSES), ("RDZV_BACKEND", BACKEND), ("RDZV_ENDPOINT", ENDPOINT)):
        if fact in crew.facts:
            yield Variable(f"PET_{name}", crew.facts[fact])
    if ENDPOINT in crew.facts:
        yield Variable("PET_RDZV_ID", crew.name)


def _master_port(job: Job[TorchJobSpec]) -> int:
    """Return the port of the container that trains in the master: the operator looks for it by name."""
    master = task_of(job, TaskType.MASTER)
    template = master.get("template") if master is not None else None
    return named_port(template or {}) or PORT


def named_port(template: Mapping[str, Any]) -> int | None:
    """Return the port of the container that trains by which others find it; None where it has none."""
    for container in named_containers(MAIN_CONTAINER, template, Path()):
        for _, port in objects(container.json.get("ports")):
            number = whole(port.get("containerPort"))
            if port.get("name") == PORT_NAME and number is not None:
                return number
    return None


def _elastic(policy: TorchElasticPolicy) -> dict[str, str]:
    """Return what the operator tells torchrun, of what the policy says and can be read."""

    def said(*names: str) -> Any:
        return next((value for name in names if (value := getattr(policy, name, None)) is not None), None)

    found = {PROCESSES: str(said("nproc_per_node", "num_workers_per_node_policy") or 1)}
    least, most = said("num_min_replicas"), said("num_max_replicas")
    if least is not None and most is not None:
        found[NODES] = f"{least}:{most}"
    for fact, value in ((BACKEND, said("rendezvous_backend")), (ENDPOINT, said("rendezvous_endpoint"))):
        if value:
            found[fact] = str(value)
    return found


MEMBERS = Members(
    selector={"matchLabels": {_OPERATOR: _GROUP}},
    claim=claim,
    labels={_OPERATOR: _GROUP, _JOB: "{job}"},
    contract=contract,
    facts=facts,
    # Its own gang scheduling and queues.
)


def annotation(job: Job[Any], key: str) -> str | None:
    """Return the value of an annotation of the job, or None where it has none that is a text."""
    metadata = mapping(job.document.get("metadata"))
    value = mapping(metadata.get("annotations")).get(key)
    return value if isinstance(value, str) else None


def scaled_by_ai_master(job: Job[Any]) -> bool:
    """Return whether the job's AIMaster scales its workers."""
    return annotation(job, ELASTIC_TRAINING) == "true"


def restart_policy_of_pods(job: Job[Any], task: Task) -> str | None:
    """Return the restart policy that the operator gives to the pods of a task, or None where it cannot be read."""
    if scaled_by_ai_master(job):
        return RestartPolicy.ON_FAILURE.value
    policy = task.restart_policy if isinstance(task, TorchTask) else None
    if policy is None:
        return None
    return RestartPolicy.NEVER.value if policy is RestartPolicy.EXIT_CODE else policy.value


@dataclass(frozen=True, kw_only=True)
class TorchOnK8s(Operator):
    """An operator that gives pods the restart policy of their task."""

    def pod(self, job: Job[Any], task: Task, shared: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the Pod that the operator makes of a task."""
        pod = super().pod(job, task, shared)
        policy = restart_policy_of_pods(job, task)
        if policy is not None:
            pod["spec"] = {**pod["spec"], "restartPolicy": policy}
        return pod


TORCH_ON_K8S = TorchOnK8s(
    name="torch-on-k8s",
    minor=22,
    pod_name="{job}-{task}-{index}",
    # The kind's own rules report these, in its spellings. Queues and gangs are no words of its own: as published it
    # does not start, and takes no job out of a queue.
    supports=frozenset({"depends_on", "ttl_seconds_after_finished", "active_deadline_seconds"}),
    capabilities=frozenset({CANONICAL_SPELLINGS.partition("/")[2]}),
    members=MEMBERS,
)

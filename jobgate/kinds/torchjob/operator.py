"""The profile of torch-on-k8s: how it creates and labels pods, and the variables that torch and torchrun read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jobgate.jobs.elastic import given_sizes
from jobgate.jobs.job import Job
from jobgate.jobs.members import Claim, Members, labelled_claim
from jobgate.jobs.operator import Operator
from jobgate.jobs.task import Task
from jobgate.kinds.torchjob.models import RestartPolicy, TorchElasticPolicy, TorchJobSpec
from jobgate.kinds.torchjob.tasks import TaskType, TorchTask, task_of
from jobgate.plugins import Member, Variable
from jobgate.podchecks.reading import named_containers
from webhook import Path
from webhook.values import labels_of, mapping, objects, whole

#: The capabilities of an operator that reads the canonical spellings, and `dependsOn`.
CANONICAL_SPELLINGS = "torchjobs/canonical-spellings"
DEPENDS_ON = "torchjobs/dependsOn"

#: Annotations of a job.
NETWORK_MODE = "distributed.io/network-mode"
ELASTIC_TRAINING = "distributed.io/enable-elastic-training"

#: The annotation of the master's or worker's template that the operator writes only to increase the generation.
GENERATION = "distributed.io/generation-to-increase"

#: The volume that the operator adds to every pod of a job with a model version.
MODEL_VOLUME = "modelvolume"

#: Variables that the operator appends to the containers. The last of two variables with the same name applies.
RESERVED_ENV = frozenset({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"})

#: The container that runs the training, and its port that the workers connect to.
MAIN_CONTAINER = "torch"
PORT_NAME = "torchjob-port"
PORT = 23456

_GROUP, _KIND = "train.distributed.io", "TorchJob"
_OPERATOR, _JOB, _TASK, _INDEX = "group-name", "job-name", "task-type", "task-index"
_AI_MASTER, _MASTER = TaskType.AI_MASTER.lower(), TaskType.MASTER.lower()

#: Facts of a job: the port of its master, and the arguments of torchrun if the job is elastic.
MASTER_PORT, NODES, PROCESSES, BACKEND, ENDPOINT = "master-port", "nodes", "processes", "backend", "endpoint"
RESTARTS = "restarts"
#: Restarts of the processes of a pod, in a job that scales itself: to each other pod, one that leaves is a failure.
MAX_RESTARTS = "100"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim of a pod of torch-on-k8s."""
    index = labels_of(pod).get(_INDEX)
    return labelled_claim(pod, job=_JOB, task=_TASK, index=index, group=_GROUP, kind=_KIND)


def facts(job: Job[TorchJobSpec]) -> Mapping[str, str]:
    """Return the facts that the variables of a job's pods need."""
    facts = {MASTER_PORT: str(_master_port(job))}
    policy = job.spec.torch_elastic_policy
    if not job.spec.enable_torch_elastic or policy is None:
        return facts
    return facts | _elastic(policy) | ({RESTARTS: MAX_RESTARTS} if given_sizes(job.document)[1] else {})


def contract(member: Member) -> Iterator[Variable]:
    """Yield the variables of torch-on-k8s, for containers that it ignores, and the same values for torchrun.

    An AIMaster does not train, so it has no rank here. The operator gives it the rank of a worker.
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
    arguments = {"NPROC_PER_NODE": PROCESSES, "RDZV_BACKEND": BACKEND, "RDZV_ENDPOINT": ENDPOINT}
    for name, fact in {**arguments, "MAX_RESTARTS": RESTARTS}.items():
        if fact in crew.facts:
            yield Variable(f"PET_{name}", crew.facts[fact])
    if ENDPOINT in crew.facts:
        yield Variable("PET_RDZV_ID", crew.name)


def _master_port(job: Job[TorchJobSpec]) -> int:
    """Return the port of the master's training container, which has a fixed name."""
    master = task_of(job, TaskType.MASTER) if job.has_readable_tasks else None
    return named_port(getattr(master, "template", {})) or PORT


def named_port(template: Mapping[str, Any]) -> int | None:
    """Return the port with the fixed name in a template's training container; None if there is none."""
    for container in named_containers(MAIN_CONTAINER, template, Path()):
        for _, port in objects(container.json.get("ports")):
            number = whole(port.get("containerPort"))
            if port.get("name") == PORT_NAME and number is not None:
                return number
    return None


def _elastic(policy: TorchElasticPolicy) -> dict[str, str]:
    """Return the arguments of torchrun. The bounds are of the workers, and the master is a node too."""
    facts = {PROCESSES: str(policy.nproc_per_node or policy.num_workers_per_node_policy or 1)}
    low, high = policy.num_min_replicas, policy.num_max_replicas
    if low is not None and high is not None:
        facts[NODES] = f"{low + 1}:{high + 1}"
    for fact, value in ((BACKEND, policy.rendezvous_backend), (ENDPOINT, policy.rendezvous_endpoint)):
        if value:
            facts[fact] = str(value)
    return facts


MEMBERS = Members(
    selector={"matchLabels": {_OPERATOR: _GROUP}},
    claim=claim,
    labels={_OPERATOR: _GROUP, _JOB: "{job}"},
    contract=contract,
    facts=facts,
)


def annotation(job: Job[Any], key: str) -> str | None:
    """Return the value of an annotation of the job; None if it is absent or not a text."""
    metadata = mapping(job.document.get("metadata"))
    value = mapping(metadata.get("annotations")).get(key)
    return value if isinstance(value, str) else None


def scaled_by_ai_master(job: Job[Any]) -> bool:
    """Return whether the job's AIMaster scales its workers."""
    return annotation(job, ELASTIC_TRAINING) == "true"


def restart_policy_of_pods(job: Job[Any], task: Task) -> str | None:
    """Return the restart policy that the operator sets in the pods of a task; None if it is invalid."""
    if scaled_by_ai_master(job):
        return RestartPolicy.ON_FAILURE.value
    policy = task.restart_policy if isinstance(task, TorchTask) else None
    if policy is None:
        return None
    return RestartPolicy.NEVER.value if policy is RestartPolicy.EXIT_CODE else policy.value


class TorchOnK8s(Operator, frozen=True):
    """An operator that sets the restart policy of pods from their task."""

    def pod(self, job: Job[Any], task: Task, shared: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the Pod that the operator creates for a task."""
        pod = super().pod(job, task, shared)
        policy = restart_policy_of_pods(job, task)
        if policy is not None:
            pod["spec"] = {**pod["spec"], "restartPolicy": policy}
        return pod


TORCH_ON_K8S = TorchOnK8s(
    name="torch-on-k8s",
    minor=22,
    pod_name="{job}-{task}-{index}",
    # The kind's own rules report these if the operator ignores them. Queues and gangs are not included: the published
    # operator does not start jobs from a queue.
    supports=frozenset({"depends_on", "ttl_seconds_after_finished", "active_deadline_seconds"}),
    capabilities=frozenset({CANONICAL_SPELLINGS.partition("/")[2]}),
    members=MEMBERS,
)

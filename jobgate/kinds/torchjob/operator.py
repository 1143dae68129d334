"""The profile of torch-on-k8s: what it makes of a TorchJob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobgate.kinds.common.operator import Operator
from jobgate.kinds.common.pod.reading import mapping
from jobgate.kinds.torchjob.members import MEMBERS
from jobgate.kinds.torchjob.models import RestartPolicy
from jobgate.kinds.torchjob.tasks import TorchTask
from webhook import Job, Task

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
    # Of these the kind's own rules tell, in its spellings. Queues and gangs are no words of its own: as published it
    # does not start, and takes no job out of a queue.
    supports=frozenset({"depends_on", "ttl_seconds_after_finished", "active_deadline_seconds"}),
    capabilities=frozenset({CANONICAL_SPELLINGS.partition("/")[2]}),
    members=MEMBERS,
)

"""TorchJob: the jobs of torch-on-k8s (https://github.com/hliangzhao/torch-on-k8s)."""

from jobgate.jobs.binding import bind
from jobgate.kinds.torchjob.defaults import DEFAULTS
from jobgate.kinds.torchjob.models import RESOURCE
from jobgate.kinds.torchjob.operator import ELASTIC_TRAINING, NETWORK_MODE, TORCH_ON_K8S
from jobgate.kinds.torchjob.rules import RULES
from jobgate.kinds.torchjob.runner import AI_MASTER_READY, TorchJobRunner
from jobgate.kinds.torchjob.tasks import tasks

__all__ = ["TORCHJOB"]

TORCHJOB = bind(
    RESOURCE,
    operator=TORCH_ON_K8S,
    tasks=tasks,
    defaults=DEFAULTS,
    rules=RULES,
    runner=TorchJobRunner(),
    reviewed={"annotations": (NETWORK_MODE, ELASTIC_TRAINING, AI_MASTER_READY)},
    fields={
        "tasks": "torch_task_specs",
        "tasks.replicas": "torch_task_specs.num_tasks",
        "tasks.min_available": "min_members",
        **{field: f"scheduling_policy.{field}" for field in ("queue", "min_available", "priority_class_name")},
        **{field: f"torch_elastic_policy.num_{field}" for field in ("min_replicas", "max_replicas")},
    },
)

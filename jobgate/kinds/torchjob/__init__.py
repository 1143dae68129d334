"""TorchJob: what torch-on-k8s runs (https://github.com/hliangzhao/torch-on-k8s)."""

from jobgate.jobs.binding import bind
from jobgate.kinds.torchjob.defaults import DEFAULTS
from jobgate.kinds.torchjob.models import RESOURCE
from jobgate.kinds.torchjob.operator import ELASTIC_TRAINING, NETWORK_MODE, TORCH_ON_K8S
from jobgate.kinds.torchjob.rules import RULES
from jobgate.kinds.torchjob.runner import AI_MASTER_READY, RUNNER
from jobgate.kinds.torchjob.tasks import tasks

__all__ = ["TORCHJOB"]

TORCHJOB = bind(
    RESOURCE,
    operator=TORCH_ON_K8S,
    tasks=tasks,
    parts="torch_task_specs",
    defaults=DEFAULTS,
    rules=RULES,
    runner=RUNNER,
    reviewed={"annotations": (NETWORK_MODE, ELASTIC_TRAINING, AI_MASTER_READY)},
    # What a task waits for may be implied, too; of that no rule has anything to say.
    task_words={"replicas": "num_tasks", "name": lambda key, _: key.lower(), "min_available": "min_members"},
    words={
        **{word: ("scheduling_policy", word) for word in ("queue", "min_available", "priority_class_name")},
        **{word: ("torch_elastic_policy", f"num_{word}") for word in ("min_replicas", "max_replicas")},
    },
)

"""The profile of Volcano v1.15: how its controller creates and labels pods.

Volcano implements its plugins itself, and jobgate's plugins only check them, unless jobgate runs the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.jobs.members import Claim, Members, labelled_claim
from jobgate.jobs.operator import Operator
from jobgate.kinds.vcjob.flags import PLUGINS
from jobgate.kinds.vcjob.frameworks import facts
from jobgate.plugins.crew import RUN_LABEL
from webhook.values import labels_of

#: Default scheduler and queue of a job.
SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"

#: The parent of all queues, which accepts no jobs.
ROOT_QUEUE = "root"

#: The resource of queues.
QUEUES = "queues.v1beta1.scheduling.volcano.sh"

_GROUP, _KIND = "batch.volcano.sh", "Job"
_JOB, _NAMESPACE = "volcano.sh/job-name", "volcano.sh/job-namespace"
_TASK, _INDEX = "volcano.sh/task-spec", "volcano.sh/task-index"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim of a pod of Volcano. The runner's pods have the same labels, but are not owned by the job."""
    index = labels_of(pod).get(_INDEX)
    claim = labelled_claim(pod, job=_JOB, task=_TASK, index=index, group=_GROUP, kind=_KIND)
    return None if claim and not claim.owned and RUN_LABEL in labels_of(pod) else claim


MEMBERS = Members(
    selector={"matchExpressions": [{"key": key, "operator": "Exists"} for key in (_JOB, _TASK)]},
    claim=claim,
    labels={_JOB: "{job}", _NAMESPACE: "{namespace}"},
    facts=facts,
    provides=frozenset({*PLUGINS, "queueing"}),
    own_plugins=True,
)

VOLCANO = Operator(
    name="Volcano",
    minor=35,
    pod_name="{job}-{task}-{index}",
    supports=frozenset(
        {
            "policies",
            "min_available",
            "queue",
            "scheduler_name",
            "priority_class_name",
            "ttl_seconds_after_finished",
            "depends_on",
        }
    ),
    members=MEMBERS,
)

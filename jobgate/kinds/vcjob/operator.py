"""The profile of Volcano v1.15: what its controller makes of a Job, and how it labels pods.

It carries out its plugins by itself: ours only check them. Where jobgate runs the job, ours carry them out.
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

#: Who schedules a job that does not say, and the queue that it waits in.
SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"

#: The queue that all others stand below; no job may wait in it.
ROOT_QUEUE = "root"

#: Where the cluster keeps its queues.
QUEUES = "queues.v1beta1.scheduling.volcano.sh"

_GROUP, _KIND = "batch.volcano.sh", "Job"
_JOB, _NAMESPACE = "volcano.sh/job-name", "volcano.sh/job-namespace"
_TASK, _INDEX = "volcano.sh/task-spec", "volcano.sh/task-index"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod of Volcano is. Those of the runner have the same labels, but no owner that is such a job."""
    index = labels_of(pod).get(_INDEX)
    found = labelled_claim(pod, job=_JOB, task=_TASK, index=index, group=_GROUP, kind=_KIND)
    return None if found and not found.owned and RUN_LABEL in labels_of(pod) else found


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

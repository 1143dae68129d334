"""The profile of Volcano v1.15: what its controller makes of a Job."""

from __future__ import annotations

from jobgate.kinds.common.operator import Operator
from jobgate.kinds.vcjob.members import MEMBERS

#: Who schedules a job that does not say, and the queue that it waits in.
SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"

#: The queue that all others stand below; no job may wait in it.
ROOT_QUEUE = "root"

#: Where the cluster keeps its queues.
QUEUES = "queues.v1beta1.scheduling.volcano.sh"

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

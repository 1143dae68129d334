"""The pods of Volcano Jobs: how Volcano labels them. It carries out its plugins by itself: ours only check them.

Where jobgate runs the job, ours carry them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.kinds.common.members import Claim, Members, labelled_claim, labels_of
from jobgate.kinds.vcjob.flags import PLUGINS
from jobgate.kinds.vcjob.frameworks import facts
from jobgate.plugins.crew import RUN_LABEL

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
)

"""The pods of Volcano Jobs: how Volcano labels them. It carries out its plugins by itself: ours only check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.kinds.common.members import Claim, Members, index_of, labels_of, owners
from jobgate.kinds.vcjob.flags import PLUGINS

_GROUP, _KIND = "batch.volcano.sh", "Job"
_JOB, _NAMESPACE = "volcano.sh/job-name", "volcano.sh/job-namespace"
_TASK, _INDEX = "volcano.sh/task-spec", "volcano.sh/task-index"


def claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod of Volcano is."""
    labels = labels_of(pod)
    job, task = labels.get(_JOB), labels.get(_TASK)
    if not isinstance(job, str) or not isinstance(task, str):
        return None
    owner = next(owners(pod, _GROUP, _KIND), {})
    return Claim(job, task, index_of(labels.get(_INDEX)), uid=str(owner.get("uid") or ""), owned=bool(owner))


MEMBERS = Members(
    selector={"matchExpressions": [{"key": key, "operator": "Exists"} for key in (_JOB, _TASK)]},
    claim=claim,
    labels={_JOB: "{job}", _NAMESPACE: "{namespace}"},
    provides=frozenset({*PLUGINS, "queueing"}),
)

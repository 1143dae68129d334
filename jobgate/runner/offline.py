"""What the runner would make of a job, with no cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobgate.kinds.common.runner import RUN_BY, RUNNER, TaskProgress
from jobgate.runner.grouping import Grouping
from jobgate.runner.rendering import children
from jobgate.runner.subject import read
from webhook import Kind


def rendered(
    kind: Kind, document: Mapping[str, Any], namespace: str, domain: str, groups: Grouping | None = None
) -> list[dict[str, Any]]:
    """Return the Services, PodGroups and batch Jobs of a job, in the order in which they are made.

    Args:
        kind: of the job.
        document: the job, with its defaults.
        namespace: that it is in where it names none.
        domain: of the cluster's Services.
        groups: how gangs are formed; None where jobs are no gangs.
    """
    metadata = document["metadata"]
    annotations = {**(metadata.get("annotations") or {}), RUN_BY: RUNNER}
    taken = {**document, "metadata": {"namespace": namespace, **metadata, "annotations": annotations}}
    subject = read(kind, taken, domain, groups)
    if subject is None:
        return []
    made = children(subject)
    # Of no task a pod runs yet.
    begun = {name: TaskProgress(name, 1, 1) for name in subject.tasks}
    waits = {name: not subject.runner.waits(subject.job, task).over(begun) for name, task in subject.tasks.items()}
    jobs = [{**job, "spec": {**job["spec"], "suspend": waits[name]}} for name, job in made.jobs.items()]
    return [*made.services.values(), *made.groups.values(), *jobs]

"""The rules that come from batch Jobs: the operator makes one of a template for each replica."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.reading import mapping, metadata_of
from jobgate.kinds.mxjob.models import MxJobSpec
from jobgate.kinds.mxjob.operator import BATCH_LABELS, LABELS, MXNET_OPERATOR
from webhook import Cause, Context, Forbidden, Invalid, Job, Notice, rule

_POLICIES = ("OnFailure", "Never")


@rule(reads=("tasks.template",))
def pods_of_batch_jobs_end(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server rejects batch Jobs with restartPolicy Always."""
    for task in job.tasks:
        spec = task.template.get("spec")
        policy = mapping(spec).get("restartPolicy")
        if isinstance(spec, dict) and policy not in _POLICIES:
            detail = "must be OnFailure or Never, as the pods belong to batch Jobs"
            yield Invalid(task.template_path / "spec" / "restartPolicy", policy, detail)


@rule(reads=("tasks.template",))
def labels_of_batch_jobs_are_left_to_them(job: Job[MxJobSpec], _: Context) -> Iterator[Cause]:
    """The API server sets these labels of batch Jobs and rejects templates that set them."""
    for task in job.tasks:
        labels = mapping(metadata_of(task.template).get("labels"))
        for key in BATCH_LABELS:
            if key in labels:
                path = (task.template_path / "metadata" / "labels").key(key)
                yield Forbidden(path, "set by the API server for the pods of batch Jobs: remove it")


@rule(reads=("tasks.template",))
def labels_of_the_operator_are_left_to_it(job: Job[MxJobSpec], _: Context) -> Iterator[Notice]:
    """The operator overwrites the labels that it selects pods by."""
    for task in job.tasks:
        labels = mapping(metadata_of(task.template).get("labels"))
        for key in LABELS:
            if key in labels:
                path = (task.template_path / "metadata" / "labels").key(key)
                yield Notice(path, f"{MXNET_OPERATOR.name} overwrites this value in every pod")


#: The rules, in the order in which a reader wants to know.
batch_rules = (
    pods_of_batch_jobs_end,
    labels_of_batch_jobs_are_left_to_them,
    labels_of_the_operator_are_left_to_it,
)

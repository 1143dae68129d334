"""The rules of pod templates: each is judged as the Pod that the kind's operator makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobgate.kinds.common import pod, vintage
from jobgate.kinds.common.operator import Operator, operator_of
from webhook import Cause, Context, Job, Notice, Path, Task, readable


def pod_templates_make_sound_pods(job: Job[Any], __: Context) -> Iterator[Cause | Notice]:
    """What the API server would refuse in the pods, it would refuse to the operator, long after the user has gone."""
    operator = operator_of(job)
    told: set[Cause | Notice] = set()
    for _, task in readable(job.tasks, "template"):
        spec = task.template.get("spec")
        own = spec.get("volumes") if isinstance(spec, Mapping) else None
        own_count = len(own) if isinstance(own, list) else 0
        for finding in pod.check(operator.pod(job, task), task.template_path):
            moved = _of_the_job(finding, task.template_path, own_count, operator.volumes_path)
            if moved is None:
                yield finding
            elif moved not in told:
                told.add(moved)
                yield moved


def _of_the_job(finding: Cause | Notice, template: Path, own_volumes: int, job_volumes: Path) -> Cause | Notice | None:
    """Return a finding about a volume of the job's own list, which every pod has, where it stands in the job."""
    prefix = f"{template}.spec.volumes["
    if not finding.path.startswith(prefix):
        return None
    index, bracket, rest = finding.path[len(prefix) :].partition("]")
    if not bracket or not index.isdigit() or int(index) < own_volumes:
        return None
    return finding.at(f"{job_volumes / (int(index) - own_volumes)}{rest}")


def fields_are_known_to_the_operator(job: Job[Any], __: Context) -> Iterator[Cause | Notice]:
    """An operator built from older types drops newer fields without a word: what that breaks is refused."""
    operator = operator_of(job)
    for _, task in readable(job.tasks, "template"):
        yield from vintage.vintage_findings(
            task.template, task.template_path, minor=operator.minor, operator=operator.name
        )


def overwritten_fields_are_left_to_the_operator(job: Job[Any], __: Context) -> Iterator[Notice]:
    """What the operator overwrites or drops is no fault, but not what the user will get."""
    operator = operator_of(job)
    for _, task in readable(job.tasks, "template"):
        spec = task.template.get("spec")
        if isinstance(spec, Mapping):
            yield from _overwritten(spec, task.template_path / "spec", operator)
        if operator.drops_metadata:
            yield from _dropped(task, operator)


def _overwritten(spec: Mapping[str, Any], path: Path, operator: Operator) -> Iterator[Notice]:
    for name, value in operator.overwrites.items():
        if spec.get(name) not in {None, "", value}:
            yield Notice(path / name, f"{operator.name} sets it to {value} in every pod")
    for name in operator.replaces:
        if spec.get(name):
            yield Notice(path / name, f"{operator.name} replaces it in every pod")


def _dropped(task: Task, operator: Operator) -> Iterator[Notice]:
    metadata = task.template.get("metadata")
    written = sorted(key for key, value in metadata.items() if value) if isinstance(metadata, Mapping) else []
    if written:
        yield Notice(
            task.template_path / "metadata",
            f"{operator.name} does not carry it over to the pods ({', '.join(written)})",
        )


#: The rules, in the order in which a reader wants to know.
pod_template_rules = (
    pod_templates_make_sound_pods,
    fields_are_known_to_the_operator,
    overwritten_fields_are_left_to_the_operator,
)

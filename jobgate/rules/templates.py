"""Rules for pod templates: each is checked as the Pod that the kind's operator creates from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from jobgate import podchecks
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.operator import Operator, operator_of, runs_here, who_runs
from jobgate.jobs.task import Task
from jobgate.podchecks.newer_fields import check_newer_fields
from jobgate.podchecks.reading import containers
from webhook import Cause, Notice, Path, rule
from webhook.values import items, mapping, objects, spec_of
from webhook.values import text as text_of

_VOLUMES: Final = Path("spec") / "volumes"


@rule()
def pod_templates_make_sound_pods(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """The API server would reject the pods later, when the operator creates them."""
    if _templates_fit(job):
        return
    yield from judged(job, context, podchecks.look, passes=lambda built: built.plain)


def _templates_fit(job: Job[Any]) -> bool:
    """Return whether the Pods of the templates are known to be valid, and no field of the templates is dropped.

    The fast check accepts only valid templates whose fields the types of all operators have. The changes of an operator
    keep them valid, except for the volumes that it adds.
    """
    return job.fits and not operator_of(job).volumes_of(job)


class BuiltPod(Struct, frozen=True):
    """The Pod that an operator creates from a task's template.

    Attributes:
        task: the task.
        pod: the Pod that the API server receives: without the fields that the operator's types do not have.
        plain: whether the fast check has accepted the Pod.
        job_volumes: the indices of the job's volumes that the Pod has, in the job's own list.
    """

    task: Task
    pod: dict[str, Any]
    plain: bool
    job_volumes: Sequence[int]


def judged(
    job: Job[Any],
    context: Context,
    check: Callable[[Mapping[str, Any], Path], Iterable[Cause | Notice]],
    *,
    passes: Callable[[BuiltPod], bool] = lambda _: False,
) -> Iterator[Cause | Notice]:
    """Check the Pods that the operator creates from a job's templates, and yield the findings.

    Args:
        job: the job under review.
        context: of the review; checking ends when its time is over.
        check: yields the findings in a Pod, given the path of its template. Findings in the job's own volumes, which
            every pod has, are reported once, with the path in the job's list.
        passes: a fast check that returns True only if `check` would find nothing in the Pod.
    """
    volumes_path = job.at("volumes")
    reported: set[Cause | Notice] = set()
    valid: set[str] = set()
    for built in built_pods(job, context):
        if context.spent():
            return
        if passes(built) or (text := _text(built.pod)) in valid:
            continue
        path, is_valid = built.task.template_path, True
        for finding in check(built.pod, path):
            is_valid = False
            of_job = _finding_in_job(finding, path, built, volumes_path)
            if of_job is None:
                yield finding
            elif of_job not in reported:
                reported.add(of_job)
                yield of_job
        if is_valid and text:
            valid.add(text)


def _text(pod: dict[str, Any]) -> str:
    """Return a text that only equal Pods share; empty for a Pod that is nested too deeply."""
    try:
        return repr(pod)
    except RecursionError:
        return ""


def built_pods(job: Job[Any], context: Context) -> Iterator[BuiltPod]:
    """Yield the Pods of the tasks that the rule can read. Each Pod is built once for all rules.

    Every pod gets the job's own volumes. The first Pod is checked with all of them, each later Pod only with those that
    it names: checking all volumes with every template would take quadratic time.
    """
    operator = operator_of(job)
    pods: dict[int, BuiltPod] = job.shared.setdefault(built_pods, {})
    volumes = operator.volumes_of(job)
    indices: Mapping[str, int] | None = None
    for task in job.tasks:
        if id(task) not in pods:
            indices = _by_name(volumes) if indices is None else indices
            chosen = _named_volumes(task.template, indices) if pods else range(len(volumes))
            pods[id(task)] = _build(operator, job, task, volumes, chosen, keeps=runs_here(job, context))
        yield pods[id(task)]


def _build(
    operator: Operator,
    job: Job[Any],
    task: Task,
    volumes: Sequence[Mapping[str, Any]],
    chosen: Sequence[int],
    *,
    keeps: bool,
) -> BuiltPod:
    pod = operator.pod(job, task, [volumes[index] for index in chosen])
    if keeps:
        pod["metadata"] = mapping(task.template.get("metadata"))
    # The fast check rejects all fields that an operator's types may lack.
    plain = podchecks.plain(pod) if chosen or not job.fits else True
    return BuiltPod(task, pod if plain or keeps else operator.known(pod), plain, chosen)


def _by_name(volumes: Sequence[Mapping[str, Any]]) -> Mapping[str, int]:
    """Return the index of each volume by its name: the first index, if several volumes have the name."""
    return {text_of(volume.get("name")): index for index, volume in reversed([*objects(volumes)])}


def _named_volumes(template: Mapping[str, Any], indices: Mapping[str, int]) -> Sequence[int]:
    """Return the indices of the job's volumes that a template mounts, or whose names its own volumes have."""
    lists = [spec_of(template).get("volumes")]
    for container in containers(template, Path()):
        lists += [container.json.get("volumeMounts"), container.json.get("volumeDevices")]
    names = {text_of(entry.get("name")) for entries in lists for _, entry in objects(entries)}
    return sorted(indices[name] for name in names & indices.keys())


def _finding_in_job(
    finding: Cause | Notice, template: Path, built: BuiltPod, job_volumes: Path
) -> Cause | Notice | None:
    """Return a finding about one of the job's own volumes with its path in the job; None for other findings."""
    start, steps = (*template.steps, "spec", "volumes"), finding.path.steps
    if not built.job_volumes or steps[: len(start)] != start or len(steps) == len(start):
        return None
    index, own_volumes = steps[len(start)], len(items(spec_of(built.task.template).get("volumes")))
    if not isinstance(index, int) or index < own_volumes:
        return None
    place = job_volumes / built.job_volumes[index - own_volumes]
    path = finding.path.rebased(template / "spec" / "volumes" / index, place)
    return None if path is None else finding.at(path)


@rule()
def fields_are_known_to_the_operator(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """An operator built from older types silently drops newer fields: jobs that need them are denied."""
    if _templates_fit(job) or runs_here(job, context):
        return
    operator = operator_of(job)
    if volumes := operator.volumes_of(job):
        shared = {"spec": {"volumes": volumes}}
        for finding in check_newer_fields(shared, Path(), minor=operator.minor, operator=operator.name):
            yield finding.at(finding.path.rebased(_VOLUMES, job.at("volumes")) or finding.path)
    for built in built_pods(job, context):
        # The fast check rejects all newer fields, and an operator replaces none of them.
        if not built.plain:
            path = built.task.template_path
            yield from check_newer_fields(built.task.template, path, minor=operator.minor, operator=operator.name)


@rule()
def overwritten_fields_are_left_to_the_operator(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Values that the operator overwrites or drops have no effect."""
    operator = operator_of(job)
    overwrites, replaces = operator.overwrites.items(), operator.replaces
    drops_metadata = operator.drops_metadata and not runs_here(job, context)
    for task in job.tasks:
        spec = mapping(task.template.get("spec"))
        for name, value in overwrites:
            if spec.get(name) not in (None, "", value):
                text = f"{who_runs(job, context)} sets this field to {value} in every pod"
                yield Notice(task.template_path / "spec" / name, text)
        for name in replaces:
            if spec.get(name):
                text = f"{who_runs(job, context)} overwrites this field in every pod"
                yield Notice(task.template_path / "spec" / name, text)
        if drops_metadata and task.template.get("metadata"):
            yield from _dropped(task, operator)


def _dropped(task: Task, operator: Operator) -> Iterator[Notice]:
    metadata = mapping(task.template.get("metadata"))
    if dropped := sorted(key for key, value in metadata.items() if value):
        detail = f"{operator.name} does not copy these fields to the pods: {', '.join(dropped)}"
        yield Notice(task.template_path / "metadata", detail)


#: The rules, in the order of the documentation.
pod_template_rules = (
    pod_templates_make_sound_pods,
    fields_are_known_to_the_operator,
    overwritten_fields_are_left_to_the_operator,
)

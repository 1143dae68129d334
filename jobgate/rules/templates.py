"""The rules of pod templates: each is judged as the Pod that the kind's operator makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from jobgate import podchecks
from jobgate.jobs.operator import Operator, operator_of, runs_here, who_runs
from jobgate.podchecks.newer_fields import check_newer_fields
from jobgate.podchecks.reading import containers
from webhook import Cause, Context, Job, Notice, Path, Task, rule
from webhook.values import items, mapping, objects, spec_of, text

_VOLUMES: Final = Path("spec") / "volumes"


# The templates of a plain job are valid, and lose nothing: what an operator changes leaves a template plain, except for
# volumes that it adds; and no field that is newer than the types of an operator is plain.
@rule(reads=("tasks.template", "volumes"), quiet=("volumes",))
def pod_templates_make_sound_pods(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """The API server would reject the pods later, when the operator creates them."""
    yield from judged(job, context, podchecks.look, passes=lambda made: made.plain)


class Made(NamedTuple):
    """The Pod that an operator makes of a task's template.

    Attributes:
        task: the task.
        pod: the Pod as its API server gets it: without the fields that the operator's types do not have.
        plain: whether the Pod is surely sound.
        places: where the volumes of the job's own list that the Pod has stand in this list.
    """

    task: Task
    pod: dict[str, Any]
    plain: bool
    places: Sequence[int]


def judged(
    job: Job[Any],
    context: Context,
    check: Callable[[Mapping[str, Any], Path], Iterable[Cause | Notice]],
    *,
    passes: Callable[[Made], bool] = lambda _: False,
) -> Iterator[Cause | Notice]:
    """Judge the Pods that the operator makes of a job's templates, and yield what is found.

    Args:
        job: whose templates can be read.
        context: of the review; where its time is over, this ends.
        check: gives what is found in a Pod, with the path of its template. What it finds in a volume of the job's own
            list, which every pod has, is reported once, where the volume stands.
        passes: tells at little cost of a Pod in which `check` surely finds nothing.
    """
    volumes_path = job.at("volumes")
    reported: set[Cause | Notice] = set()
    sound: set[str] = set()
    for made in made_pods(job, context):
        if context.spent():
            return
        if passes(made) or (same := _text(made.pod)) in sound:
            continue
        path, found = made.task.template_path, False
        for finding in check(made.pod, path):
            found = True
            moved = _of_the_job(finding, path, made, volumes_path)
            if moved is None:
                yield finding
            elif moved not in reported:
                reported.add(moved)
                yield moved
        if not found and same:
            sound.add(same)


def _text(pod: dict[str, Any]) -> str:
    """Return a text that only an equal Pod has; none of one that is nested too deeply."""
    try:
        return repr(pod)
    except RecursionError:
        return ""


def made_pods(job: Job[Any], context: Context) -> Iterator[Made]:
    """Yield the Pod of each task whose template can be read; it is made for the first rule that asks.

    The volumes of the job's own list, which every pod has, are judged with the first template. A later one has to do
    only with those that it names: to judge all of them with every template would cost the product of both.
    """
    operator = operator_of(job)
    made: dict[int, Made] = job.shared.setdefault(made_pods, {})
    shared = operator.volumes_of(job)
    named: Mapping[str, int] | None = None
    for task in job.tasks:
        if id(task) not in made:
            named = _by_name(shared) if named is None else named
            places = _named_in(task.template, named) if made else range(len(shared))
            volumes = [shared[place] for place in places]
            made[id(task)] = _made(operator, job, task, places, volumes, keeps=runs_here(job, context))
        yield made[id(task)]


def _made(
    operator: Operator,
    job: Job[Any],
    task: Task,
    places: Sequence[int],
    volumes: Sequence[Mapping[str, Any]],
    *,
    keeps: bool,
) -> Made:
    made = operator.pod(job, task, volumes)
    if keeps:
        made["metadata"] = mapping(task.template.get("metadata"))
    plain = podchecks.plain(made) if volumes or not job.plain else True  # see `pod_templates_make_sound_pods`
    # A field that is newer than any types makes a pod not plain.
    return Made(task, made if plain or keeps else operator.known(made), plain, places)


def _by_name(volumes: Sequence[Mapping[str, Any]]) -> Mapping[str, int]:
    """Return the place of each volume, by its name; of several with one name, the first."""
    return {text(volume.get("name")): place for place, volume in reversed([*objects(volumes)])}


def _named_in(template: Mapping[str, Any], volumes: Mapping[str, int]) -> Sequence[int]:
    """Return the places of the volumes whose name a template mounts, or has for a volume of its own."""
    lists = [spec_of(template).get("volumes")]
    for container in containers(template, Path()):
        lists += [container.json.get("volumeMounts"), container.json.get("volumeDevices")]
    named = {text(one.get("name")) for value in lists for _, one in objects(value)}
    return sorted(volumes[name] for name in named & volumes.keys())


def _of_the_job(finding: Cause | Notice, template: Path, made: Made, job_volumes: Path) -> Cause | Notice | None:
    """Return a finding about a volume of the job's own list where it is in the job."""
    start, steps = (*template.steps, "spec", "volumes"), finding.path.steps
    if not made.places or steps[: len(start)] != start or len(steps) == len(start):
        return None
    index, own_volumes = steps[len(start)], len(items(spec_of(made.task.template).get("volumes")))
    if not isinstance(index, int) or index < own_volumes:
        return None
    place = job_volumes / made.places[index - own_volumes]
    there = finding.path.moved(template / "spec" / "volumes" / index, place)
    return None if there is None else finding.at(there)


@rule(reads=("tasks.template", "volumes"), quiet=("volumes",))
def fields_are_known_to_the_operator(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """An operator built from older types silently drops newer fields: jobs that need them are denied."""
    if runs_here(job, context):
        return
    operator = operator_of(job)
    if volumes := operator.volumes_of(job):
        shared = {"spec": {"volumes": volumes}}
        for finding in check_newer_fields(shared, Path(), minor=operator.minor, operator=operator.name):
            yield finding.at(finding.path.moved(_VOLUMES, job.at("volumes")) or finding.path)
    for made in made_pods(job, context):
        # Of what the operator replaces, no field is newer than the types of plain pods.
        if not made.plain:
            path = made.task.template_path
            yield from check_newer_fields(made.task.template, path, minor=operator.minor, operator=operator.name)


def sets_none(names: Iterable[str]) -> Callable[[Job[Any], Context], bool]:
    """Return what tells of a plain job whether its containers set none of these variables."""
    variables = frozenset(names)

    def none_is_set(job: Job[Any], _: Context) -> bool:
        for template in job.said("tasks.template"):
            for container in template["spec"]["containers"]:
                if not variables.isdisjoint([one["name"] for one in container.get("env") or ()]):
                    return False
        return True

    return none_is_set


def has_container(name: str) -> Callable[[Job[Any], Context], bool]:
    """Return what tells of a plain job whether each of its templates has a container of this name."""

    def all_have_it(job: Job[Any], _: Context) -> bool:
        for template in job.said("tasks.template"):
            if all(one["name"] != name for one in template["spec"]["containers"]):
                return False
        return True

    return all_have_it


def _none_is_overwritten(job: Job[Any], _: Context) -> bool:
    operator = operator_of(job)
    overwrites = operator.overwrites.items()
    for template in job.said("tasks.template"):
        spec = template["spec"]
        for name, value in overwrites:
            if spec.get(name, value) != value:
                return False
        if (operator.drops_metadata and "metadata" in template) or not spec.keys().isdisjoint(operator.replaces):
            return False
    return True


@rule(reads=("tasks.template",), quiet=_none_is_overwritten)
def overwritten_fields_are_left_to_the_operator(job: Job[Any], context: Context) -> Iterator[Notice]:
    """Values that the operator overwrites or drops have no effect."""
    operator, who = operator_of(job), who_runs(job, context)
    overwrites = operator.overwrites.items()
    for task in job.tasks:
        spec = mapping(task.template.get("spec"))
        for name, value in overwrites:
            if spec.get(name) not in (None, "", value):
                yield Notice(task.template_path / "spec" / name, f"{who} sets this field to {value} in every pod")
        for name in operator.replaces:
            if spec.get(name):
                yield Notice(task.template_path / "spec" / name, f"{who} overwrites this field in every pod")
        if operator.drops_metadata and not runs_here(job, context) and task.template.get("metadata"):
            yield from _dropped(task, operator)


def _dropped(task: Task, operator: Operator) -> Iterator[Notice]:
    metadata = mapping(task.template.get("metadata"))
    if written := sorted(key for key, value in metadata.items() if value):
        yield Notice(
            task.template_path / "metadata",
            f"{operator.name} does not copy these fields to the pods: {', '.join(written)}",
        )


#: The rules, in the order in which a reader wants to know.
pod_template_rules = (
    pod_templates_make_sound_pods,
    fields_are_known_to_the_operator,
    overwritten_fields_are_left_to_the_operator,
)

"""The rules of pod templates: each is judged as the Pod that the kind's operator makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from jobgate.kinds.common import pod, vintage
from jobgate.kinds.common.operator import Operator, operator_of
from webhook import Cause, Context, Job, Notice, Path, Task, rule

_VOLUMES = Path("spec") / "volumes"


@rule(reads=("tasks.template", "volumes"))
def pod_templates_make_sound_pods(job: Job[Any], __: Context) -> Iterator[Cause | Notice]:
    """What the API server would refuse in the pods, it would refuse to the operator, long after the user has gone."""
    yield from judged(job, pod.check)


def judged(
    job: Job[Any], check: Callable[[Mapping[str, Any], Path], Iterable[Cause | Notice]]
) -> Iterator[Cause | Notice]:
    """Judge the Pods that the operator makes of a job's templates, and yield what is found.

    Args:
        job: whose templates can be read.
        check: gives what is found in a Pod, with the path of its template. What it finds in a volume of the job's own
            list, which every pod has, is told once, where the volume stands.
    """
    operator = operator_of(job)
    told: set[Cause | Notice] = set()
    shared: Shared | None = None
    for task in job.tasks:
        spec = task.template.get("spec")
        own = spec.get("volumes") if isinstance(spec, Mapping) else None
        own_count = len(own) if isinstance(own, list) else 0
        if shared is None:
            shared = Shared(operator.volumes_of(job))
            places: Sequence[int] = range(len(shared.volumes))
        else:
            places = shared.named_in(spec)
        volumes = [shared.volumes[place] for place in places]
        for finding in check(operator.pod(job, task, volumes), task.template_path):
            moved = _of_the_job(finding, task.template_path, own_count, job.at("volumes"), places)
            if moved is None:
                yield finding
            elif moved not in told:
                told.add(moved)
                yield moved


class Shared:
    """The volumes of the job's own list, which every pod has.

    They are judged with the first template. A later one has to do only with those that it names: to judge all of them
    with every template would cost the product of both.
    """

    def __init__(self, volumes: Sequence[Mapping[str, Any]]) -> None:
        self.volumes = volumes
        self._places: dict[str, int] = {}
        for place, volume in enumerate(volumes):
            name = volume.get("name") if isinstance(volume, Mapping) else None
            if isinstance(name, str):
                self._places.setdefault(name, place)

    def named_in(self, spec: Any) -> list[int]:
        """Return the places of the volumes whose name a pod spec says anywhere: where it mounts or reads them."""
        places: set[int] = set()
        parts: list[Any] = [spec] if self._places else []
        while parts:
            part = parts.pop()
            if isinstance(part, Mapping):
                parts.extend(part.values())
            elif isinstance(part, list):
                parts.extend(part)
            elif isinstance(part, str) and part in self._places:
                places.add(self._places[part])
        return sorted(places)


def _of_the_job(
    finding: Cause | Notice, template: Path, own_volumes: int, job_volumes: Path, places: Sequence[int]
) -> Cause | Notice | None:
    """Return a finding about a volume of the job's own list where it stands in the job; `places` are those judged."""
    start, steps = (*template.steps, "spec", "volumes"), finding.path.steps
    if steps[: len(start)] != start or len(steps) == len(start):
        return None
    index = steps[len(start)]
    if not isinstance(index, int) or index < own_volumes:
        return None
    there = finding.path.moved(template / "spec" / "volumes" / index, job_volumes / places[index - own_volumes])
    return None if there is None else finding.at(there)


@rule(reads=("tasks.template", "volumes"))
def fields_are_known_to_the_operator(job: Job[Any], __: Context) -> Iterator[Cause | Notice]:
    """An operator built from older types drops newer fields without a word: what that breaks is refused."""
    operator = operator_of(job)
    shared = {"spec": {"volumes": operator.volumes_of(job)}}
    for finding in vintage.vintage_findings(shared, Path(), minor=operator.minor, operator=operator.name):
        yield finding.at(finding.path.moved(_VOLUMES, job.at("volumes")) or finding.path)
    for task in job.tasks:
        yield from vintage.vintage_findings(
            task.template, task.template_path, minor=operator.minor, operator=operator.name
        )


@rule(reads=("tasks.template",))
def overwritten_fields_are_left_to_the_operator(job: Job[Any], __: Context) -> Iterator[Notice]:
    """What the operator overwrites or drops is no fault, but not what the user will get."""
    operator = operator_of(job)
    for task in job.tasks:
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

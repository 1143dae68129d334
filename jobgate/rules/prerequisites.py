"""The rules of prerequisites, for all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from jobgate.jobs.binding import looks_up
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.prerequisites import (
    UNKNOWN_ITEMS,
    USE,
    WATCHED,
    ResolvedTask,
    asked_of,
    items_of,
    named_by,
    not_checked,
    refusal,
    resolved_tasks,
    sources_of,
    where,
)
from jobgate.prerequisites.inject import inject
from jobgate.prerequisites.item import RECORD, read_record
from jobgate.prerequisites.models import RESOURCES
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, WORD, TaskReferences, asked
from jobgate.prerequisites.resolve import Instance
from jobgate.rules.templates import made_pods
from webhook import Cause, Draft, Forbidden, Invalid, NotFound, Notice, Operation, Path, Rule, rule
from webhook.text import short
from webhook.values import mapping, metadata_of, parts

_RECORD: Final = (Path("metadata") / "annotations").key(RECORD)


def _resolved(job: Job[Any], context: Context) -> list[ResolvedTask]:
    """Return what the tasks of a job under review name, resolved for the first rule that asks.

    Without access to ask for rights there is no cluster: what is not known is left out there.
    """
    if resolved_tasks not in job.shared:
        partial = context.access is None
        job.shared[resolved_tasks] = resolved_tasks(asked_of(job), context.objects, context.namespace, partial=partial)
    found: list[ResolvedTask] = job.shared[resolved_tasks]
    return found


@rule()
@looks_up(*WATCHED)
def prerequisites_resolve(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """An item that is missing, lacks a value or does not fit the pod would keep pods from being made."""
    yield from _misplaced(job)
    if not asked_of(job):
        return
    try:
        tasks, hidden = _resolved(job, context), _hidden(job, context)
    except LookupError:
        place = next(one.place(0) for one in asked_of(job) if one.references)
        yield Forbidden(place, UNKNOWN_ITEMS)
        return
    said: set[Cause | Notice] = set()
    start = f"{job.kind.kind} {context.name or context.generate_name}"
    pods = {made.task.path.steps: made.pod for made in made_pods(job, context)} if tasks else {}
    for task in tasks:
        found = [*_as_named(task)]
        if hidden.isdisjoint(task.resolution.items):
            found += _findings(context, task, start, pods.get(task.asked.task.steps))
        for finding in found:
            if finding not in said:
                said.add(finding)
                yield finding


def _misplaced(job: Job[Any]) -> Iterator[Cause]:
    """Yield annotations that are not read, because the kind has a field."""
    here = where(job.kind)
    if not here.in_spec:
        return
    places = []
    if _names(job.document.get("metadata")):
        places.append(Path("metadata"))
    for key, task in parts(job.document, here.tasks):
        if _names(mapping(task.get("template")).get("metadata")):
            places.append(here.path(key) / "template" / "metadata")
    for place in places:
        meant = f"a {job.kind.kind} names its prerequisites in spec.{WORD} and in {WORD} of its tasks"
        yield Forbidden((place / "annotations").key(ANNOTATION), meant)


def _names(metadata: Any) -> bool:
    return bool(metadata) and ANNOTATION in mapping(mapping(metadata).get("annotations"))


def _hidden(job: Job[Any], context: Context) -> set[str]:
    """Return the items of a job, by kind and name, of which nothing is said to the user, as they may not use these.

    The object before an UPDATE has none: what was wrong with it is not enforced, whoever changes it.

    Raises:
        LookupError: the items are not known.
    """
    if context.operation is Operation.UPDATE and context.old is None:
        return set()
    return {one.item.source for _, one, _ in _refused(job, _resolved(job, context), context)}


def _as_named(task: ResolvedTask) -> Iterator[Cause | Notice]:
    """Yield what is wrong with how a task names its items, whatever is in these."""
    one = task.asked
    if one.unreadable is not None:
        path, value, why = one.unreadable
        yield Invalid(path, value, why)
    for place in task.resolution.repeated:
        yield Notice(one.place(place), f"{one.references[place].shown} is already listed, with the same values")
    for item, place in task.resolution.unknown:
        yield Notice(one.place(place), not_checked(item))


def _findings(
    context: Context, task: ResolvedTask, start: str, made: dict[str, Any] | None
) -> Iterator[Cause | Notice]:
    """Yield what is wrong with the items of a task."""
    one = task.asked
    for problem in task.problems:
        yield _cause(problem, one, start)
    if task.problems:
        return
    for name in task.content.plugins:
        if name not in context.settings.offered:
            detail = f"plugin {name} is not offered here; available plugins: {', '.join(context.settings.offered)}"
            yield _cause(PrerequisiteProblem(ProblemReason.UNSUPPORTED_PLUGIN, (), detail), one, start)
    if made is not None and isinstance(mapping(made).get("spec"), dict) and _whole(made["spec"]):
        for problem in inject(Draft(made), task.content, one.container):
            yield _cause(problem, one, start)


def _whole(spec: Mapping[str, Any]) -> bool:
    """Tell whether the parts that items go into have their shapes: the schema reports those that do not."""
    lists = [spec.get("volumes"), spec.get("containers")]
    for container in spec.get("containers") or () if isinstance(spec.get("containers"), list) else ():
        lists += [mapping(container).get(key) for key in ("env", "volumeMounts")]
        if not all(isinstance(mapping(container).get(key), list | None) for key in ("command", "args")):
            return False
    return all(one is None or (isinstance(one, list) and all(isinstance(item, dict) for item in one)) for one in lists)


def _cause(problem: PrerequisiteProblem, one: TaskReferences, start: str) -> Cause:
    place = one.place(problem.place) if problem.place is not None else one.task
    if problem.place is None:
        cause = Cause(place, f"Invalid value: {problem.said(start)}")
        cause.value = [problem.reason]
        return cause
    named = one.references[problem.place]
    made = NotFound if problem.reason is ProblemReason.UNKNOWN_REFERENCE else Invalid
    return made(place, named.name, problem.said(start))


@rule()
@looks_up(*WATCHED)
def prerequisites_may_be_used(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Who applies a job needs the verb `use` on every item that it brings: an item runs commands and mounts data."""
    if context.access is None or not asked_of(job):
        return
    try:
        tasks, before = _resolved(job, context), _before(job, context)
    except LookupError:
        named = set() if context.old is None else {*_named_in(asked(context.old, where(job.kind)))}
        yield from _unchecked(asked_of(job), named, context)
        return
    yield from _unchecked((task.asked for task in tasks if task.resolution.problems), before, context)
    for task, one, may in _refused(job, tasks, context):
        chain = (f"{job.kind.kind} {context.name or context.generate_name}", *one.chain)
        yield Forbidden(task.asked.place(one.place), refusal(context.user, one.item, chain, may), one.item.source)


def _before(job: Job[Any], context: Context) -> set[str]:
    """Return the items that a job had before an UPDATE, by kind and name, for the first rule that asks.

    Raises:
        LookupError: the items are not known.
    """
    if _before not in job.shared:
        named = set() if context.old is None else {*_named_in(asked(context.old, where(job.kind)))}
        job.shared[_before] = named | sources_of(job.kind, context.old, context.objects, context.namespace)
    found: set[str] = job.shared[_before]
    return found


def _refused(
    job: Job[Any], tasks: Iterable[ResolvedTask], context: Context
) -> Iterator[tuple[ResolvedTask, Instance, bool | None]]:
    """Yield each new item that the user may not use, once; or of which that is not known: None.

    Raises:
        LookupError: the items are not known.
    """
    if context.access is None:
        return
    answered = {*_before(job, context)}
    for task in tasks:
        for one in task.resolution.instances:
            if one.item.source in answered:
                continue
            answered.add(one.item.source)
            may = context.access.may(context.user, USE, RESOURCES[one.item.kind], one.item.name, context.namespace)
            if not may:
                yield task, one, may


def _unchecked(tasks: Iterable[TaskReferences], before: set[str], context: Context) -> Iterator[Cause]:
    """Yield the references that an update adds where not all that they bring is known.

    What keeps it from being known may be a stored fault, which is not enforced: that must not let in what it hides.
    """
    for task in tasks if context.old is not None else ():
        for place, (source, shown) in enumerate(zip(_named_in([task]), task.references, strict=True)):
            if source not in before:
                detail = f"what {shown.shown} brings cannot be checked now: correct the other faults, or retry later"
                yield Forbidden(task.place(place), detail, source)


def _named_in(tasks: Iterable[TaskReferences]) -> Iterator[str]:
    """Yield the items that tasks name themselves, by kind and name."""
    return (f"{one.kind}/{one.name}" for task in tasks for one in task.references)


@rule(f"annotations.{RECORD}", updates=True)
@looks_up(*WATCHED)
def prerequisites_have_changed_since(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A stored job keeps the record of the items that it was checked with; new pods get the items as they are now."""
    known = read_record(mapping(metadata_of(job.document).get("annotations")).get(RECORD))
    if not known:
        return
    try:
        tasks = _resolved(job, context)
    except LookupError:
        return
    for source, item in items_of(tasks).items():
        if (recorded := known.get(source)) is not None and recorded["hash"] != item.hash:
            yield Notice(
                _RECORD,
                f"{item.shown} is at generation {item.generation}, and the job was stored with generation "
                f"{recorded['generation']}: new pods get generation {item.generation}",
            )


@rule(updates=True)
def templates_keep_their_prerequisites(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A change of the job's annotation reaches no template that names prerequisites: a mutation overrides nothing."""
    old, new = (named_by(metadata_of(one)) for one in (context.old or {}, job.document))
    here = where(job.kind)
    if old == new or here.in_spec:
        return
    for key, task in parts(job.document, here.tasks):
        kept = named_by(metadata_of(mapping(task.get("template"))))
        if kept is not None and kept != new:
            place = (here.path(key) / "template" / "metadata" / "annotations").key(ANNOTATION)
            yield Notice(place, f"stays {short(str(kept))}: change it here, the job's annotation does not override it")


#: The rules, in the order in which a reader wants to know.
prerequisite_rules: tuple[Rule, ...] = (
    prerequisites_resolve,
    prerequisites_may_be_used,
    prerequisites_have_changed_since,
    templates_keep_their_prerequisites,
)

"""Prerequisites of jobs, for all kinds: what mutation adds for them, and the rules.

A kind whose tasks have a field `prerequisites` has it in its spec; on all others an annotation of the pod template
names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from jobgate.kinds.common.pod.reading import mapping, metadata_of
from jobgate.kinds.common.templates import made_pods
from jobgate.prerequisites.content import Injection, content_of
from jobgate.prerequisites.inject import annotate, inject
from jobgate.prerequisites.item import RECORD, Item, read_record, recorded
from jobgate.prerequisites.models import RESOURCES
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, WORD, Reference, ReferenceFields, TaskReferences, asked, parts
from jobgate.prerequisites.resolve import Instance, Resolution, finder, resolve
from webhook import (
    Cause,
    Context,
    Default,
    Draft,
    Forbidden,
    Invalid,
    Job,
    Kind,
    NotFound,
    Notice,
    Objects,
    Operation,
    Path,
    Request,
    Rule,
    User,
    adds_nothing,
    rule,
)
from webhook.plan import Plan
from webhook.review import is_unchanged
from webhook.text import short

#: A job that says none of these words names no prerequisites.
NAMING = (WORD, f"tasks.{WORD}", f"annotations.{ANNOTATION}", "tasks.template.metadata")

#: What the rules look up.
WATCHED: Final = tuple(RESOURCES.values())
#: The verb that RBAC grants to who may name an item.
USE: Final = "use"

#: Most items of all tasks of a job together, tasks that name the same counted once: a review takes time for each.
JOB_INSTANCES: Final = 4096
_TOO_MANY: Final = Resolution(
    problems=(
        PrerequisiteProblem(
            ProblemReason.TOO_LARGE,
            (),
            f"the tasks of the job have more than {JOB_INSTANCES} items: use the same in several tasks",
        ),
    )
)

#: Why nothing can be decided of what names items, before they are read.
UNKNOWN_ITEMS: Final = "the prerequisites of the cluster are not known yet: retry in 1s"

_RECORD: Final = (Path("metadata") / "annotations").key(RECORD)


def where(kind: Kind) -> ReferenceFields:
    """Return where the jobs of a kind name prerequisites."""
    return _where(kind.plan, kind.parts)


def asked_of(job: Job[Any]) -> list[TaskReferences]:
    """Return which prerequisites a job's tasks name, read for the first rule that asks."""
    if asked not in job.shared:
        job.shared[asked] = list(asked(job.document, where(job.kind)))
    found: list[TaskReferences] = job.shared[asked]
    return found


@lru_cache(maxsize=64)
def _where(plan: Plan, parts: str) -> ReferenceFields:
    tasks = tuple(str(step) for step in plan.word(parts).path.steps)
    return ReferenceFields(tasks, in_spec=bool(plan.word(WORD).attributes))


def prerequisites_are_ready(*tasks: str, in_spec: bool = False) -> Default:
    """Return the default by which a job has what its prerequisites need of it.

    `tasks` are the fields that lead to the list, or map, of tasks; `in_spec`: job and tasks have `prerequisites`.
    """
    here = ReferenceFields(tasks, in_spec)

    @adds_nothing(NAMING)
    def prerequisites_are_ready(job: Draft, context: Context) -> None:
        """The job's annotation is copied to its templates, items are recorded, and plugins that they need asked for."""
        if not context.stored:
            _spread(job, here)
        found = list(asked(job.value, here))
        if not found:
            return
        try:
            tasks = _tasks(found, context.objects, context.namespace)
        except LookupError:
            return
        plugins = {name: said for task in tasks for name, said in task.content.plugins.items()}
        if plugins and (spec := job.at("spec")) is not None:
            spec.setdefault("plugins", {})
            if (there := job.at("spec", "plugins")) is not None:
                for name, said in plugins.items():
                    there.setdefault(name, [] if said is None else said)
        _note(job, _items_of(tasks))

    return prerequisites_are_ready


def _spread(job: Draft, here: ReferenceFields) -> None:
    """Copy the job's annotation to the templates that have none: only what is in templates reaches pods.

    It is done where a user's write is reviewed, not where a stored job is read: what is in templates is the user's own.
    """
    if here.in_spec:
        return
    text = _named_by(metadata_of(job.value))
    if not isinstance(text, str):
        return
    for key, task in parts(job.value, here):
        template = task.get("template")
        if not isinstance(template, dict):
            continue
        if _named_by(metadata_of(template)) is None:
            annotate(job.below((*here.tasks, key, "template"), template), ANNOTATION, text)


def _note(job: Draft, items: Mapping[str, Item]) -> None:
    """Record the items that are not recorded yet, and drop those that are no longer used."""
    known = read_record(mapping(metadata_of(job.value).get("annotations")).get(RECORD))
    if items and known.keys() != items.keys():
        annotate(job, RECORD, recorded(items.values(), known))


@dataclass(frozen=True, slots=True)
class _ResolvedTask:
    """What a task names, resolved."""

    asked: TaskReferences
    resolution: Resolution
    content: Injection
    problems: tuple[PrerequisiteProblem, ...]


def _tasks(
    found: Iterable[TaskReferences], objects: Objects, namespace: str, *, partial: bool = False
) -> list[_ResolvedTask]:
    """Return what tasks name, resolved; equal lists once.

    Raises:
        LookupError: the items are not known, and not `partial`.
    """
    find = finder(objects, namespace)
    done: dict[tuple[Reference, ...], tuple[Resolution, Injection, tuple[PrerequisiteProblem, ...]]] = {}
    tasks, room = [], JOB_INSTANCES
    for one in found:
        if one.references not in done:
            resolution = resolve(one.references, find, partial=partial) if room > 0 else _TOO_MANY
            content, conflicts = content_of(resolution)
            room -= resolution.cost
            done[one.references] = resolution, content, (*resolution.problems, *conflicts)
        tasks.append(_ResolvedTask(one, *done[one.references]))
    return tasks


def _items_of(tasks: Iterable[_ResolvedTask]) -> dict[str, Item]:
    """Return the items that tasks bring, by kind and name; tasks that name the same share a resolution."""
    resolutions = {id(task.resolution): task.resolution for task in tasks}
    return {source: item for one in resolutions.values() for source, item in one.items.items()}


def _resolved(job: Job[Any], context: Context) -> list[_ResolvedTask]:
    """Return the same for a job under review, worked out for the first rule that asks.

    Without access to ask for rights there is no cluster: what is not known is left out there.
    """
    if _tasks not in job.shared:
        partial = context.access is None
        job.shared[_tasks] = _tasks(asked_of(job), context.objects, context.namespace, partial=partial)
    found: list[_ResolvedTask] = job.shared[_tasks]
    return found


@rule(reads=("tasks.template", "volumes"), quiet=NAMING)
def prerequisites_resolve(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """An item that is missing, lacks a value or does not fit the pod would keep pods from being made."""
    yield from _misplaced(job)
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
    for key, task in parts(job.document, here):
        if _names(mapping(task.get("template")).get("metadata")):
            places.append(here.path(key) / "template" / "metadata")
    for place in places:
        meant = f"a {job.kind.kind} names its prerequisites in spec.{WORD} and in {WORD} of its tasks"
        yield Forbidden((place / "annotations").key(ANNOTATION), meant)


def not_checked(item: str) -> str:
    """Return the warning about an item that is named where there is no cluster."""
    return f"{item} is not known here and was not checked: pass the file that has it to `jobgate review`, too"


def _names(metadata: Any) -> bool:
    return bool(metadata) and ANNOTATION in mapping(mapping(metadata).get("annotations"))


def _named_by(metadata: Mapping[str, Any]) -> Any:
    return mapping(metadata.get("annotations")).get(ANNOTATION)


def _hidden(job: Job[Any], context: Context) -> set[str]:
    """Return the items of a job, by kind and name, of which nothing is said to the user, as they may not use these.

    The object before an UPDATE has none: what was wrong with it is not enforced, whoever changes it.

    Raises:
        LookupError: the items are not known.
    """
    if context.operation is Operation.UPDATE and context.old is None:
        return set()
    return {one.item.source for _, one, _ in _refused(job, _resolved(job, context), context)}


def _as_named(task: _ResolvedTask) -> Iterator[Cause | Notice]:
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
    context: Context, task: _ResolvedTask, start: str, made: dict[str, Any] | None
) -> Iterator[Cause | Notice]:
    """Yield what is wrong with the items of a task."""
    one = task.asked
    for problem in task.problems:
        yield _cause(problem, one, start)
    if task.problems:
        return
    for name in task.content.plugins:
        if name not in context.plugins:
            detail = f"plugin {name} is not offered here; available plugins: {', '.join(context.plugins)}"
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


@rule(quiet=NAMING)
def prerequisites_may_be_used(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Who applies a job needs the verb `use` on every item that it brings: an item runs commands and mounts data."""
    if context.access is None:
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
        job.shared[_before] = named | _sources(job.kind, context.old, context.objects, context.namespace)
    found: set[str] = job.shared[_before]
    return found


def _refused(
    job: Job[Any], tasks: Iterable[_ResolvedTask], context: Context
) -> Iterator[tuple[_ResolvedTask, Instance, bool | None]]:
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


def refusal(user: User, item: Item, chain: tuple[str, ...], may: bool | None) -> str:
    """Return why a user cannot name an item."""
    start = " → ".join(chain)
    if may is None:
        return f"{start}: whether user {user.name!r} may use {item.shown} cannot be checked now: retry in 1s"
    resource = RESOURCES[item.kind].partition(".")[0]
    return f"{start}: user {user.name!r} cannot use {item.shown}: ask for the verb {USE} on {resource} {item.name}"


def _sources(kind: Kind, job: Mapping[str, Any] | None, objects: Objects, namespace: str) -> set[str]:
    """Return the items that a job brings."""
    tasks = [] if job is None else _tasks(asked(job, where(kind)), objects, namespace)
    return {*_items_of(tasks)}


def wanted(kind: Kind, request: Request, objects: Objects) -> list[tuple[str, str]]:
    """Return which items a request names that its job did not before, as resource and name.

    These are what has to be asked about before its review.

    Raises:
        LookupError: the items are not known yet.
    """
    here, document = where(kind), request.document
    if not isinstance(document, dict):
        return []
    draft = Draft(document)
    if not kind.schema.crowded(document):
        _spread(draft, here)
    found, old = list(asked(draft.value, here)), request.old_document
    if not found or (isinstance(old, dict) and is_unchanged(kind, document, old)):
        return []
    tasks = _tasks(found, objects, request.namespace)
    before = _sources(kind, old if isinstance(old, dict) else None, objects, request.namespace)
    items = (item for source, item in _items_of(tasks).items() if source not in before)
    return [(RESOURCES[item.kind], item.name) for item in items]


@rule(updates=True, quiet=NAMING)
def prerequisites_have_changed_since(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A stored job keeps the record of the items that it was checked with; new pods get the items as they are now."""
    known = read_record(mapping(metadata_of(job.document).get("annotations")).get(RECORD))
    if not known:
        return
    try:
        tasks = _resolved(job, context)
    except LookupError:
        return
    for source, item in _items_of(tasks).items():
        if (recorded := known.get(source)) is not None and recorded["hash"] != item.hash:
            yield Notice(
                _RECORD,
                f"{item.shown} is at generation {item.generation}, and the job was stored with generation "
                f"{recorded['generation']}: new pods get generation {item.generation}",
            )


@rule(updates=True, quiet=NAMING)
def templates_keep_their_prerequisites(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A change of the job's annotation reaches no template that names prerequisites: a mutation overrides nothing."""
    old, new = (_named_by(metadata_of(one)) for one in (context.old or {}, job.document))
    here = where(job.kind)
    if old == new or here.in_spec:
        return
    for key, task in parts(job.document, here):
        kept = _named_by(metadata_of(mapping(task.get("template"))))
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

"""Rules for prerequisites, for all kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from jobgate.jobs.binding import looks_up
from jobgate.jobs.context import Context
from jobgate.jobs.job import Job, computed_once
from jobgate.jobs.prerequisites import (
    UNKNOWN_ITEMS,
    USE,
    WATCHED,
    ResolvedTask,
    asked_of,
    items_of,
    not_checked,
    refusal,
    resolved_tasks,
    sources_of,
)
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, RECORD, RESOURCES, WORD, TaskReferences, named_in, read_record
from jobgate.rules.templates import built_pods
from webhook import Cause, Draft, Forbidden, Invalid, NotFound, Notice, Operation, Path, Rule, rule
from webhook.text import short
from webhook.values import mapping, metadata_of, parts

if TYPE_CHECKING:
    from jobgate.prerequisites.resolve import Instance

_RECORD: Final = (Path("metadata") / "annotations").key(RECORD)


@computed_once
def _resolved(job: Job[Any], context: Context) -> list[ResolvedTask]:
    """Return the resolved prerequisites of a job's tasks.

    Without `context.access` there is no cluster: unknown items are left out then.
    """
    return resolved_tasks(asked_of(job), context.objects, context.namespace, partial=context.access is None)


@rule()
@looks_up(*WATCHED)
def prerequisites_resolve(job: Job[Any], context: Context) -> Iterator[Cause | Notice]:
    """No pods could be created if an item is missing, lacks a value or does not fit the pod."""
    yield from _misplaced(job)
    if not asked_of(job):
        return
    try:
        tasks, hidden = _resolved(job, context), _hidden(job, context)
    except LookupError:
        place = next(task.place(0) for task in asked_of(job) if task.references)
        yield Forbidden(place, UNKNOWN_ITEMS)
        return
    reported: set[Cause | Notice] = set()
    start = f"{job.kind.kind} {context.name or context.generate_name}"
    pods = {built.task.template_path.steps: built.pod for built in built_pods(job, context)} if tasks else {}
    for resolved in tasks:
        findings = [*_reference_findings(resolved)]
        if hidden.isdisjoint(resolved.resolution.items):
            pod = pods.get(resolved.asked.template.steps)
            findings += _findings(context, resolved, start, pod, built_in=job.kind.resource is not None)
        for finding in findings:
            if finding not in reported:
                reported.add(finding)
                yield finding


def _misplaced(job: Job[Any]) -> Iterator[Cause]:
    """Yield the annotations that are ignored, because the kind has a field for prerequisites."""
    fields = job.kind.reference_fields
    if not fields.in_spec:
        return
    places = []
    if _has_annotation(job.document.get("metadata")):
        places.append(Path("metadata"))
    for key, task in parts(job.document, fields.tasks):
        if _has_annotation(mapping(task.get("template")).get("metadata")):
            places.append(fields.path(key) / "template" / "metadata")
    for place in places:
        detail = f"a {job.kind.kind} names its prerequisites in spec.{WORD} and in {WORD} of its tasks"
        yield Forbidden((place / "annotations").key(ANNOTATION), detail)


def _has_annotation(metadata: Any) -> bool:
    return bool(metadata) and ANNOTATION in mapping(mapping(metadata).get("annotations"))


def _hidden(job: Job[Any], context: Context) -> set[str]:
    """Return the items of a job, by kind and name, that the user may not use: messages must not describe them.

    The object before an UPDATE has none: its faults are not enforced, whoever changes it.

    Raises:
        LookupError: the items are not known.
    """
    if context.operation is Operation.UPDATE and context.old is None:
        return set()
    return {instance.item.source for _, instance, _ in _refused(job, _resolved(job, context), context)}


def _reference_findings(resolved: ResolvedTask) -> Iterator[Cause | Notice]:
    """Yield the findings in the references of a task, which do not depend on the content of items."""
    task = resolved.asked
    if task.unreadable is not None:
        path, value, why = task.unreadable
        yield Invalid(path, value, why)
    for place in resolved.resolution.repeated:
        yield Notice(task.place(place), f"{task.references[place].shown} is already listed, with the same values")
    for item, place in resolved.resolution.unknown:
        yield Notice(task.place(place), not_checked(item))


def _findings(
    context: Context, resolved: ResolvedTask, start: str, pod: dict[str, Any] | None, *, built_in: bool
) -> Iterator[Cause | Notice]:
    """Yield the findings in the items of a task. Operators of kinds that are not built in may set a command."""
    task, offered = resolved.asked, context.settings.offered if built_in else ()
    for problem in resolved.problems:
        yield _cause(problem, task, start)
    if resolved.problems:
        return
    from jobgate.prerequisites.inject import inject  # noqa: PLC0415 - most jobs have no prerequisites

    for name in resolved.content.plugins:
        if name not in offered:
            detail = f"plugin {name} is not offered here; available plugins: {', '.join(offered) or '(none)'}"
            yield _cause(PrerequisiteProblem(ProblemReason.UNSUPPORTED_PLUGIN, (), detail), task, start)
    if pod is not None and isinstance(mapping(pod).get("spec"), dict) and _is_injectable(pod["spec"]):
        for problem in inject(Draft(pod), resolved.content, task.container):
            if built_in or problem.reason is not ProblemReason.COMMAND_REQUIRED:
                yield _cause(problem, task, start)


def _is_injectable(spec: Mapping[str, Any]) -> bool:
    """Return whether the fields that items are injected into have valid types; the schema reports the others."""
    lists = [spec.get("volumes"), spec.get("containers")]
    for container in spec.get("containers") or () if isinstance(spec.get("containers"), list) else ():
        lists += [mapping(container).get(key) for key in ("env", "volumeMounts")]
        if not all(isinstance(mapping(container).get(key), list | None) for key in ("command", "args")):
            return False
    return all(
        values is None or (isinstance(values, list) and all(isinstance(value, dict) for value in values))
        for values in lists
    )


def _cause(problem: PrerequisiteProblem, task: TaskReferences, start: str) -> Cause:
    if problem.place is None:
        cause = Cause(task.task, f"Invalid value: {problem.message(start)}")
        cause.value = [problem.reason]
        return cause
    cause_type = NotFound if problem.reason is ProblemReason.UNKNOWN_REFERENCE else Invalid
    reference = task.references[problem.place]
    return cause_type(task.place(problem.place), reference.name, problem.message(start))


@rule()
@looks_up(*WATCHED)
def prerequisites_may_be_used(job: Job[Any], context: Context) -> Iterator[Cause]:
    """Users need the verb `use` on all items of their jobs, because items run commands and mount data."""
    if context.access is None or not asked_of(job):
        return
    try:
        tasks, before = _resolved(job, context), _before(job, context)
    except LookupError:
        named_before = set() if context.old is None else {*_sources(job.kind.asked(context.old))}
        yield from _unchecked(asked_of(job), named_before, context)
        return
    yield from _unchecked((task.asked for task in tasks if task.resolution.problems), before, context)
    for task, instance, allowed in _refused(job, tasks, context):
        chain = (f"{job.kind.kind} {context.name or context.generate_name}", *instance.chain)
        detail = refusal(context.user, instance.item, chain, allowed)
        yield Forbidden(task.asked.place(instance.place), detail, instance.item.source)


@computed_once
def _before(job: Job[Any], context: Context) -> set[str]:
    """Return the items of a job before an UPDATE, by kind and name.

    Raises:
        LookupError: the items are not known.
    """
    named = set() if context.old is None else {*_sources(job.kind.asked(context.old))}
    return named | sources_of(job.kind, context.old, context.objects, context.namespace)


def _refused(
    job: Job[Any], tasks: Iterable[ResolvedTask], context: Context
) -> Iterator[tuple[ResolvedTask, Instance, bool | None]]:
    """Yield each new item that the user may not use, once, with False; with None if that is unknown.

    Raises:
        LookupError: the items are not known.
    """
    if context.access is None:
        return
    checked = {*_before(job, context)}
    for task in tasks:
        for instance in task.resolution.instances:
            item = instance.item
            if item.source in checked:
                continue
            checked.add(item.source)
            allowed = context.access.may(context.user, USE, RESOURCES[item.kind], item.name, context.namespace)
            if not allowed:
                yield task, instance, allowed


def _unchecked(tasks: Iterable[TaskReferences], before: set[str], context: Context) -> Iterator[Cause]:
    """Yield the references that an update adds to tasks with items that cannot be resolved.

    The reason may be a stored fault, which is not enforced. It must not hide items that the user may not use.
    """
    for task in tasks if context.old is not None else ():
        for place, (source, reference) in enumerate(zip(_sources([task]), task.references, strict=True)):
            if source not in before:
                detail = (
                    f"what {reference.shown} brings cannot be checked now: correct the other faults, or retry later"
                )
                yield Forbidden(task.place(place), detail, source)


def _sources(tasks: Iterable[TaskReferences]) -> Iterator[str]:
    """Yield the items that tasks name themselves, by kind and name."""
    return (f"{reference.kind}/{reference.name}" for task in tasks for reference in task.references)


@rule(f"annotations.{RECORD}", updates=True)
@looks_up(*WATCHED)
def prerequisites_have_changed_since(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A stored job records the items that it was checked with, but new pods get the current items."""
    record = read_record(mapping(metadata_of(job.document).get("annotations")).get(RECORD))
    if not record:
        return
    try:
        tasks = _resolved(job, context)
    except LookupError:
        return
    for source, item in items_of(tasks).items():
        if (recorded := record.get(source)) is not None and recorded["hash"] != item.hash:
            yield Notice(
                _RECORD,
                f"{item.shown} is at generation {item.generation}, and the job was stored with generation "
                f"{recorded['generation']}: new pods get generation {item.generation}",
            )


@rule(updates=True)
def templates_keep_their_prerequisites(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A new annotation of the job does not override that of a template: mutation overrides nothing."""
    old, new = (named_in(document) for document in (context.old or {}, job.document))
    fields = job.kind.reference_fields
    if old == new or fields.in_spec:
        return
    for key, task in parts(job.document, fields.tasks):
        kept = named_in(mapping(task.get("template")))
        if kept is not None and kept != new:
            place = (fields.path(key) / "template" / "metadata" / "annotations").key(ANNOTATION)
            yield Notice(place, f"stays {short(str(kept))}: change it here, the job's annotation does not override it")


#: The rules, in the order of the documentation.
prerequisite_rules: tuple[Rule, ...] = (
    prerequisites_resolve,
    prerequisites_may_be_used,
    prerequisites_have_changed_since,
    templates_keep_their_prerequisites,
)

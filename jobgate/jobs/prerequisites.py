"""Prerequisites of a job: the references of its tasks, the items that they resolve to, and the default that uses them.

Some kinds have a field `prerequisites` in spec and tasks; for the others, an annotation of the pod template names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job, computed_once
from jobgate.jobs.kind import JobKind
from jobgate.jobs.twins import Need, Place, says
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import (
    ANNOTATION,
    RECORD,
    RESOURCES,
    WORD,
    Reference,
    ReferenceFields,
    TaskReferences,
    annotate,
    asked,
    named_in,
    read_record,
    recorded,
)
from webhook import Default, Draft, Objects, Request, User
from webhook.review import is_unchanged
from webhook.values import mapping, metadata_of, parts

if TYPE_CHECKING:
    from jobgate.prerequisites.content import Injection
    from jobgate.prerequisites.item import Item
    from jobgate.prerequisites.resolve import Resolution

#: The resources that the rules look up.
WATCHED: Final = tuple(RESOURCES.values())

#: The RBAC verb that a user needs to name an item.
USE: Final = "use"

#: Maximum number of items of all tasks of a job together, to limit the time of a review; equal lists count once.
JOB_INSTANCES: Final = 4096

_TOO_MANY: Final = PrerequisiteProblem(
    ProblemReason.TOO_LARGE,
    (),
    f"the tasks of the job have more than {JOB_INSTANCES} items: use the same in several tasks",
)

#: The reason for denying references before the items of the cluster are known.
UNKNOWN_ITEMS: Final = "the prerequisites of the cluster are not known yet: retry in 1s"


@computed_once
def asked_of(job: Job[Any]) -> list[TaskReferences]:
    """Return the references of a job's tasks."""
    return list(job.kind.asked(job.document))


def prerequisites_are_ready(*tasks: str | tuple[str, ...], in_spec: bool = False) -> Default:
    """Return the default that prepares a job for its prerequisites.

    `tasks` is the path of the list or map of tasks, or ends with a tuple that names the fields that are the tasks;
    `in_spec`: whether job and tasks have a field `prerequisites`.
    """
    fields = ReferenceFields(tasks, in_spec)

    in_job, in_task = f"has(object.spec.{WORD})", f"has(task.{WORD})"
    if not in_spec:
        here = f"?metadata.?annotations[?'{ANNOTATION}'].hasValue()"
        in_job, in_task = f"object.{here}", f"task.?template.{here}"

    @says(Need(Place.JOB, in_job), Need(Place.TASK, in_task))
    def prerequisites_are_ready(job: Draft, context: Context) -> None:
        """The job's annotation is copied to its templates, items are recorded, and their plugins are requested."""
        if not context.is_stored:
            _copy_annotation(job, fields)
        references = list(asked(job.value, fields))
        if not references:
            return
        try:
            tasks = resolved_tasks(references, context.objects, context.namespace)
        except LookupError:
            return
        plugins = {name: arguments for task in tasks for name, arguments in task.content.plugins.items()}
        if plugins and (spec := job.at("spec")) is not None:
            spec.setdefault("plugins", {})
            if (requested := job.at("spec", "plugins")) is not None:
                for name, arguments in plugins.items():
                    requested.setdefault(name, [] if arguments is None else arguments)
        _record(job, items_of(tasks))

    return prerequisites_are_ready


def _copy_annotation(job: Draft, fields: ReferenceFields) -> None:
    """Copy the job's annotation to templates without one, because only templates reach pods.

    This is done only for the writes of users. For stored jobs, the templates already contain what admission approved.
    """
    if fields.in_spec:
        return
    text = named_in(job.value)
    if not isinstance(text, str):
        return
    for key, task in parts(job.value, fields.tasks):
        template = task.get("template")
        if isinstance(template, dict) and named_in(template) is None:
            annotate(job.below((*fields.path(key).steps, "template"), template), ANNOTATION, text)


def _record(job: Draft, items: Mapping[str, Item]) -> None:
    """Record the items that are not recorded yet, and drop those that are no longer used."""
    known = read_record(mapping(metadata_of(job.value).get("annotations")).get(RECORD))
    if items and known.keys() != items.keys():
        annotate(job, RECORD, recorded(items.values(), known))


class ResolvedTask(Struct, frozen=True):
    """The resolved prerequisites of a task."""

    asked: TaskReferences
    resolution: Resolution
    content: Injection
    problems: tuple[PrerequisiteProblem, ...]


def resolved_tasks(
    tasks: Iterable[TaskReferences], objects: Objects, namespace: str, *, partial: bool = False
) -> list[ResolvedTask]:
    """Resolve the references of tasks; equal lists are resolved once.

    Raises:
        LookupError: the items are not known, and `partial` is false.
    """
    # Most jobs have no prerequisites.
    from jobgate.prerequisites.content import content_of  # noqa: PLC0415
    from jobgate.prerequisites.resolve import Resolution, finder, resolve  # noqa: PLC0415

    find = finder(objects, namespace)
    done: dict[tuple[Reference, ...], tuple[Resolution, Injection, tuple[PrerequisiteProblem, ...]]] = {}
    resolved, left = [], JOB_INSTANCES
    for task in tasks:
        if task.references not in done:
            too_many = Resolution(problems=(_TOO_MANY,))
            resolution = resolve(task.references, find, partial=partial) if left > 0 else too_many
            content, conflicts = content_of(resolution)
            left -= resolution.cost
            done[task.references] = resolution, content, (*resolution.problems, *conflicts)
        resolved.append(ResolvedTask(task, *done[task.references]))
    return resolved


def items_of(tasks: Iterable[ResolvedTask]) -> dict[str, Item]:
    """Return the items of tasks, by kind and name; tasks with equal references share a resolution."""
    resolutions = {id(task.resolution): task.resolution for task in tasks}
    return {source: item for resolution in resolutions.values() for source, item in resolution.items.items()}


def not_checked(item: str) -> str:
    """Return the warning about an unknown item in a review without a cluster."""
    return f"{item} is not known here and was not checked: pass the file that has it to `jobgate review`, too"


def refusal(user: User, item: Item, chain: tuple[str, ...], allowed: bool | None) -> str:
    """Return why a user cannot name an item: `allowed` is None if the permission is unknown."""
    start = " → ".join(chain)
    if allowed is None:
        return f"{start}: whether user {user.name!r} may use {item.shown} cannot be checked now: retry in 1s"
    resource = RESOURCES[item.kind].partition(".")[0]
    return f"{start}: user {user.name!r} cannot use {item.shown}: ask for the verb {USE} on {resource} {item.name}"


def sources_of(kind: JobKind, job: Mapping[str, Any] | None, objects: Objects, namespace: str) -> set[str]:
    """Return the items that a job uses, by kind and name."""
    tasks = [] if job is None else resolved_tasks(kind.asked(job), objects, namespace)
    return {*items_of(tasks)}


def wanted(kind: JobKind, request: Request, objects: Objects) -> list[tuple[str, str]]:
    """Return the items, as resource and name, that a request adds to its job.

    The server asks for the permission to use them before the review.

    Raises:
        LookupError: the items are not known yet.
    """
    document = request.document
    if not isinstance(document, dict):
        return []
    draft = Draft(document)
    if not kind.schema.crowded(document):
        _copy_annotation(draft, kind.reference_fields)
    references, old = list(kind.asked(draft.value)), request.old_document
    if not references or (isinstance(old, dict) and is_unchanged(kind, document, old)):
        return []
    tasks = resolved_tasks(references, objects, request.namespace)
    before = sources_of(kind, old if isinstance(old, dict) else None, objects, request.namespace)
    items = (item for source, item in items_of(tasks).items() if source not in before)
    return [(RESOURCES[item.kind], item.name) for item in items]

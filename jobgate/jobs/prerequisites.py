"""Prerequisites of a job: what its tasks name, what that resolves to, and what mutation adds for it.

A kind whose tasks have a field `prerequisites` has it in its spec; on all others an annotation of the pod template
names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.prerequisites.content import Injection, content_of
from jobgate.prerequisites.inject import annotate
from jobgate.prerequisites.item import RECORD, Item, read_record, recorded
from jobgate.prerequisites.models import RESOURCES
from jobgate.prerequisites.problem import PrerequisiteProblem, ProblemReason
from jobgate.prerequisites.reference import ANNOTATION, WORD, Reference, ReferenceFields, TaskReferences, asked
from jobgate.prerequisites.resolve import Resolution, finder, resolve
from webhook import Default, Draft, Objects, Request, User
from webhook.review import is_unchanged
from webhook.values import mapping, metadata_of, parts

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


def where(kind: JobKind) -> ReferenceFields:
    """Return where the jobs of a kind name prerequisites."""
    return ReferenceFields(kind.task_fields, in_spec=bool(kind.field(WORD).attributes))


def asked_of(job: Job[Any]) -> list[TaskReferences]:
    """Return which prerequisites a job's tasks name, read for the first rule that asks."""
    if asked not in job.shared:
        job.shared[asked] = list(asked(job.document, where(job.kind)))
    found: list[TaskReferences] = job.shared[asked]
    return found


def prerequisites_are_ready(*tasks: str | tuple[str, ...], in_spec: bool = False) -> Default:
    """Return the default by which a job has what its prerequisites need of it.

    `tasks` are the fields that lead to the list, or map, of tasks, or a tuple at the end that names the fields that are
    the tasks; `in_spec`: job and tasks have `prerequisites`.
    """
    here = ReferenceFields(tasks, in_spec)

    def prerequisites_are_ready(job: Draft, context: Context) -> None:
        """The job's annotation is copied to its templates, items are recorded, and plugins that they need asked for."""
        if not context.stored:
            _spread(job, here)
        found = list(asked(job.value, here))
        if not found:
            return
        try:
            tasks = resolved_tasks(found, context.objects, context.namespace)
        except LookupError:
            return
        plugins = {name: said for task in tasks for name, said in task.content.plugins.items()}
        if plugins and (spec := job.at("spec")) is not None:
            spec.setdefault("plugins", {})
            if (there := job.at("spec", "plugins")) is not None:
                for name, said in plugins.items():
                    there.setdefault(name, [] if said is None else said)
        _note(job, items_of(tasks))

    return prerequisites_are_ready


def _spread(job: Draft, here: ReferenceFields) -> None:
    """Copy the job's annotation to the templates that have none: only what is in templates reaches pods.

    It is done where a user's write is reviewed, not where a stored job is read: what is in templates is the user's own.
    """
    if here.in_spec:
        return
    text = named_by(metadata_of(job.value))
    if not isinstance(text, str):
        return
    for key, task in parts(job.value, here.tasks):
        template = task.get("template")
        if not isinstance(template, dict):
            continue
        if named_by(metadata_of(template)) is None:
            annotate(job.below((*here.path(key).steps, "template"), template), ANNOTATION, text)


def _note(job: Draft, items: Mapping[str, Item]) -> None:
    """Record the items that are not recorded yet, and drop those that are no longer used."""
    known = read_record(mapping(metadata_of(job.value).get("annotations")).get(RECORD))
    if items and known.keys() != items.keys():
        annotate(job, RECORD, recorded(items.values(), known))


@dataclass(frozen=True, slots=True)
class ResolvedTask:
    """What a task names, resolved."""

    asked: TaskReferences
    resolution: Resolution
    content: Injection
    problems: tuple[PrerequisiteProblem, ...]


def resolved_tasks(
    found: Iterable[TaskReferences], objects: Objects, namespace: str, *, partial: bool = False
) -> list[ResolvedTask]:
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
        tasks.append(ResolvedTask(one, *done[one.references]))
    return tasks


def items_of(tasks: Iterable[ResolvedTask]) -> dict[str, Item]:
    """Return the items that tasks bring, by kind and name; tasks that name the same share a resolution."""
    resolutions = {id(task.resolution): task.resolution for task in tasks}
    return {source: item for one in resolutions.values() for source, item in one.items.items()}


def not_checked(item: str) -> str:
    """Return the warning about an item that is named where there is no cluster."""
    return f"{item} is not known here and was not checked: pass the file that has it to `jobgate review`, too"


def named_by(metadata: Mapping[str, Any]) -> Any:
    """Return the annotation by which metadata names prerequisites; None where there is none."""
    return mapping(metadata.get("annotations")).get(ANNOTATION)


def refusal(user: User, item: Item, chain: tuple[str, ...], may: bool | None) -> str:
    """Return why a user cannot name an item."""
    start = " → ".join(chain)
    if may is None:
        return f"{start}: whether user {user.name!r} may use {item.shown} cannot be checked now: retry in 1s"
    resource = RESOURCES[item.kind].partition(".")[0]
    return f"{start}: user {user.name!r} cannot use {item.shown}: ask for the verb {USE} on {resource} {item.name}"


def sources_of(kind: JobKind, job: Mapping[str, Any] | None, objects: Objects, namespace: str) -> set[str]:
    """Return the items that a job brings."""
    tasks = [] if job is None else resolved_tasks(asked(job, where(kind)), objects, namespace)
    return {*items_of(tasks)}


def wanted(kind: JobKind, request: Request, objects: Objects) -> list[tuple[str, str]]:
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
    tasks = resolved_tasks(found, objects, request.namespace)
    before = sources_of(kind, old if isinstance(old, dict) else None, objects, request.namespace)
    items = (item for source, item in items_of(tasks).items() if source not in before)
    return [(RESOURCES[item.kind], item.name) for item in items]

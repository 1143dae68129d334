"""The pods of an object, and the other objects of a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from jobgate.jobs.crew import crew_of, written_plugins
from jobgate.jobs.job import Job, job_of
from jobgate.jobs.kind import JobKind
from jobgate.jobs.operator import Operator, operator_of
from jobgate.jobs.status import is_run, taken_over
from jobgate.jobs.task import Task
from jobgate.jobs.wiring import WORKLOADS
from jobgate.offline.files import is_item
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.offline.parts import Location, Row, Step, command_rows, containers_of, rows
from jobgate.offline.versions import served
from jobgate.plugins import Crew, Member, Part, Pod, carried_out, wire
from jobgate.plugins.env import Run
from jobgate.pods.shape import fault
from jobgate.prerequisites.content import Injection, content_of
from jobgate.prerequisites.inject import inject, target
from jobgate.prerequisites.problem import PrerequisiteProblem
from jobgate.prerequisites.reference import ANNOTATION, InvalidReference, Reference, annotated, named_in, template_of
from jobgate.prerequisites.resolve import Resolution, finder, resolve
from webhook import Draft, Objects
from webhook.values import mapping, metadata_of, objects, spec_of, text


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of a task; the first one is shown.

    Attributes:
        task: name of the task; empty without tasks.
        count: number of pods.
        name: name of the first pod.
        parts: parts of the first pod, by place.
        hosts: host names of the pods.
        items: the prerequisites, in the order in which they apply.
        notes: what is wrong or unknown.
    """

    task: str
    count: int
    name: str
    parts: Mapping[Location, Sequence[Row]]
    hosts: Sequence[Row] = ()
    items: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The pods of an object, or why it has none.

    Attributes:
        pods: the pods of each task; none if the object would be denied.
        beside: other objects of the job.
        notes: what is wrong with the object, or not shown.
        denied: whether it would be denied.
    """

    pods: Sequence[Pods] = ()
    beside: Sequence[Row] = ()
    notes: Sequence[str] = ()
    denied: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, in which a place is two fields."""
        pods = [
            {
                **{key: value for key, value in asdict(task).items() if key != "parts"},
                "parts": [
                    {"container": place[0], "field": place[1], **asdict(row)}
                    for place, rows in task.parts.items()
                    for row in rows
                ],
            }
            for task in self.pods
        ]
        beside = [asdict(row) for row in self.beside]
        return {"denied": self.denied, "notes": list(self.notes), "pods": pods, "beside": beside}


@dataclass(frozen=True, slots=True)
class TaskPrerequisites:
    """The resolved prerequisites of a task, with the content that they add to pods, and its conflicts.

    `container_name` is the container that the job names for them, or empty.
    """

    resolution: Resolution
    content: Injection
    conflicts: Sequence[PrerequisiteProblem] = ()
    container_name: str = ""

    def put(self, pod: Draft) -> list[PrerequisiteProblem]:
        """Add the content to a pod, and return problems."""
        return inject(pod, self.content, self.container_name)

    def steps(self) -> Iterator[Step]:
        """Yield one step for each item."""
        for instance in self.resolution.instances:
            content, _ = content_of(Resolution((instance,)))
            yield Step(instance.item.source, partial(inject, content=content, container_name=self.container_name))

    def items(self) -> Iterator[str]:
        """Yield the items in their order, with values."""
        for instance in self.resolution.instances:
            values = ", ".join(f"{name}={value}" for name, value in instance.values.items())
            yield f"{instance.item.source}{f' ({values})' if values else ''}"

    def notes(self) -> Iterator[str]:
        """Yield a note about unknown items, which are not shown."""
        if missing := ", ".join(dict.fromkeys(item for item, _ in self.resolution.unknown)):
            yield f"not among the files, so not shown: {missing}; name the files that have them, too"

    def wanted_plugin(self, name: str) -> str | None:
        """Return the item that requests a plugin, or None."""
        uses = ((instance.item.spec.plugin, instance.item.source) for instance in self.resolution.instances)
        return next((source for use, source in uses if use is not None and use.name == name), None)


def prerequisites_of(
    references: Sequence[Reference], known: Objects, namespace: str, container_name: str = ""
) -> TaskPrerequisites:
    """Return the prerequisites that a task names."""
    resolution = resolve(references, finder(known, namespace), partial=True)
    return TaskPrerequisites(resolution, *content_of(resolution), container_name)


def explain(document: dict[str, Any], options: ReviewOptions) -> Explanation | None:
    """Return the explanation of an object; None if it has no pods."""
    version = served(document, options.kinds)
    kind = version.kind if version is not None else None
    namespace = text(metadata_of(document).get("namespace")) or options.namespace
    builtin = kind is None or (kind.group, kind.kind) in WORKLOADS
    workload = _workload(document, namespace, options.objects) if builtin else None
    if (workload is not None and kind is None) or is_item(document):
        return workload
    # An unknown kind is denied if it is a retired version or probably misspelt.
    verdict = judge(document, options)
    if verdict.status is not None:
        causes = verdict.status["details"]["causes"]
        return Explanation(notes=[f"{cause['field']}: {cause['message']}" for cause in causes], denied=True)
    if version is None or workload is not None or not verdict.reviewed:
        return workload
    kind = version.kind
    if not isinstance(kind, JobKind):
        return Explanation(notes=[f"a {kind.kind} has no pods"])
    job_kind = kind.creates or kind
    if job_kind.spec is not kind.spec:
        return None  # its objects have no pods
    return _job(job_kind, version.up(document), version.up(verdict.document), namespace, options)


def _job(
    kind: JobKind, written: Mapping[str, Any], document: dict[str, Any], namespace: str, options: ReviewOptions
) -> Explanation:
    """Explain an allowed job: `written` by its author, and the `document` with defaults."""
    if kind.qualified_plural in options.settings.runs or is_run(written):
        document = taken_over(document)
    job = job_of(kind, document)
    operator, settings = operator_of(job), options.settings
    name = text(metadata_of(document).get("name")) or f"{text(metadata_of(document).get('generateName'))}…"
    crew = crew_of(job, namespace, name, domain=settings.domain, imposed=settings.plugins, plugins=settings.offered)
    own = written_plugins(kind, written)
    tasks = {operator.task_name(task): task for task in job.tasks}
    given = {
        part.name: prerequisites_of(part.prerequisites, options.objects, namespace, part.container)
        for part in crew.parts
    }
    sources = {plugin: _plugin_source(plugin, own, given.values()) for plugin in crew.plugins}
    maker = "the runner" if is_run(document) else operator.name
    runs = is_run(document)
    what = "adds to pod templates is not shown: see jobgate render" if runs else "itself adds to pods is not shown"
    notes = [f"what {maker} {what}"]
    notes += [
        f"{sources[plugin]}: not shown, as {maker} carries it out itself"
        for plugin in crew.plugins
        if plugin in crew.provided
    ]
    return Explanation(
        pods=[
            replace(
                _pods(job, operator, tasks[part.name], Member(crew, part, 0), given[part.name], sources),
                hosts=list(_hosts(crew, part, maker, sources)),
            )
            for part in crew.parts
        ],
        beside=list(_beside(crew, maker, sources)),
        notes=notes,
    )


def _plugin_source(name: str, own: Mapping[str, Any], given: Any) -> str:
    """Return the source of a plugin: the job or the installation, or a prerequisite."""
    if name == Run.name:
        return "the runner"
    item = (
        None
        if name in own
        else next((source for prerequisites in given if (source := prerequisites.wanted_plugin(name))), None)
    )
    return f"plugin {name}" if item is None else f"plugin {name} of {item}"


def _pods(
    job: Job[Any], operator: Operator, task: Task, member: Member, given: TaskPrerequisites, sources: Mapping[str, str]
) -> Pods:
    crew, part = member.crew, member.part
    pod = operator.known(operator.pod(job, task))

    def wired(draft: Draft) -> None:
        """Wire the pod as the pod webhook does. It does not mark pods of jobs without plugins."""
        if crew.ours:
            wire(Pod(draft, member))

    def final(draft: Draft) -> None:
        wired(draft)
        given.put(draft)

    steps = [Step(sources[plugin.name], _alone(plugin, member, arguments)) for plugin, arguments in carried_out(crew)]
    return Pods(
        task=part.name,
        count=part.replicas,
        name=crew.pod_name(part, 0),
        parts=_with_commands(pod, given, rows(pod, [*steps, *given.steps(), Step("jobgate", wired)], final)),
        items=list(given.items()),
        notes=list(given.notes()),
    )


def _alone(plugin: Any, member: Member, arguments: Any) -> Any:
    """Return a function that applies a single plugin."""

    def put(draft: Draft) -> None:
        pod = Pod(draft, member)
        plugin.wire(pod, member, arguments)
        pod.write()

    return put


def _with_commands(
    pod: Mapping[str, Any], given: TaskPrerequisites, parts: Mapping[Location, Sequence[Row]]
) -> Mapping[Location, Sequence[Row]]:
    """Add the commands of all containers."""
    by_place: dict[Location, Sequence[Row]] = {place: entries for place, entries in parts.items() if not place[0]}
    chosen = target(pod, given.container_name) if given.resolution.instances else ""
    for title, container in containers_of(pod):
        hooks = given.content.hooks if title == f"container {chosen}" else ()
        by_place[title, "command"] = list(command_rows(container, hooks))
        by_place |= {place: entries for place, entries in parts.items() if place[0] == title}
    return by_place


def _hosts(crew: Crew, part: Part, maker: str, sources: Mapping[str, str]) -> Iterator[Row]:
    """Yield the host names of a task's pods, if there is a Service."""
    if not part.replicas or not (crew.service_made or "svc" in crew.plugins):
        return
    count = crew.count_hosts(part)
    last = f" … {crew.host(part, (part.indices or range(part.replicas))[-1])} ({count})" if count > 1 else ""
    yield Row(f"{crew.host(part, 0)}{last}", maker if crew.service_made else sources["svc"])


def _beside(crew: Crew, maker: str, sources: Mapping[str, str]) -> Iterator[Row]:
    if crew.service_made:
        yield Row(f"Service {crew.service}", maker)
    for plugin, arguments in carried_out(crew):
        for declared in plugin.objects(crew, arguments):
            manifest = declared.manifest
            yield Row(f"{manifest['kind']} {manifest['metadata']['name']}", sources[plugin.name])


def _workload(document: Mapping[str, Any], namespace: str, known: Objects) -> Explanation | None:
    """Explain a Pod, or a workload with a pod template. Only prerequisites add something to it."""
    template, spec = template_of(document), mapping(document.get("spec"))
    spec = mapping(mapping(spec.get("jobTemplate")).get("spec")) or spec
    count = next((spec[key] for key in ("replicas", "completions") if isinstance(spec.get(key), int)), 1)
    pod = {"metadata": mapping(template.get("metadata")), "spec": mapping(template.get("spec"))}
    if not any(objects(spec_of(pod).get("containers"))):
        return None
    if wrong := fault(pod):
        return Explanation(notes=[str(wrong)], denied=True)
    annotation = named_in(pod)
    try:
        references = () if annotation is None else annotated(annotation)
    except InvalidReference as error:
        return Explanation(notes=[f"metadata.annotations[{ANNOTATION}]: {error}"], denied=True)
    given = prerequisites_of(references, known, namespace)
    if problems := [*given.resolution.problems, *given.conflicts, *given.put(Draft(pod))]:
        return Explanation(notes=[problem.message() for problem in problems], denied=True)
    name = text(metadata_of(document).get("name")) or text(metadata_of(document).get("generateName"))
    parts = _with_commands(pod, given, rows(pod, list(given.steps()), given.put))
    return Explanation(pods=[Pods("", count, name, parts, items=list(given.items()), notes=list(given.notes()))])

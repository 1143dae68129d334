"""What the pods of an object will be, and what will be beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jobgate.explain.pod import Place, Row, Step, command_rows, containers_of, rows
from jobgate.explain.prerequisites import Brought, brought
from jobgate.kinds.common.crew import crew_of, written_plugins
from jobgate.kinds.common.operator import Operator, operator_of
from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of, text
from jobgate.kinds.common.runner import is_run
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.plugins import Crew, Member, Part, Pod, carried_out, wire
from jobgate.pods.shape import fault
from jobgate.prerequisites.reference import ANNOTATION, InvalidReference, annotated
from webhook import Draft, Job, Kind, Objects, Task
from webhook.view import view


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of one task; the first of them is shown.

    Attributes:
        task: its name; empty where there are no tasks.
        count: of pods.
        name: of the first.
        parts: of the first, by place.
        hosts: the names that the pods are found by.
        items: the prerequisites, in the order in which they apply.
        notes: what is wrong, or not known.
    """

    task: str
    count: int
    name: str
    parts: Mapping[Place, Sequence[Row]]
    hosts: Sequence[Row] = ()
    items: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What becomes of one object.

    Attributes:
        pods: of each task.
        beside: objects that will be beside the pods.
        notes: what is wrong with the object, or not shown.
        denied: whether it would be denied: there are no pods then.
    """

    pods: Sequence[Pods] = ()
    beside: Sequence[Row] = ()
    notes: Sequence[str] = ()
    denied: bool = False


def explain(document: dict[str, Any], options: ReviewOptions) -> Explanation | None:
    """Return what becomes of an object; None of one that makes no pods."""
    kind = options.kinds.get(str(document.get("apiVersion")), str(document.get("kind")))
    namespace = text(metadata_of(document).get("namespace")) or options.namespace
    if kind is None:
        return _workload(document, namespace, options.objects)
    verdict = judge(document, options)
    if verdict.status is not None:
        causes = verdict.status["details"]["causes"]
        return Explanation(notes=[f"{one['field']}: {one['message']}" for one in causes], denied=True)
    return _job(kind, document, dict(verdict.document), namespace, options)


@dataclass(frozen=True, slots=True)
class _Origin:
    """Who makes a job's pods, and where its plugins come from, by their names."""

    maker: str
    plugins: Mapping[str, str]

    def of(self, plugin: str) -> str:
        """Return where a plugin comes from."""
        return self.plugins.get(plugin, f"plugin {plugin}")


def _job(
    kind: Kind, written: Mapping[str, Any], document: dict[str, Any], namespace: str, options: ReviewOptions
) -> Explanation:
    """Explain a job that is allowed.

    Args:
        kind: of the job.
        written: the job as its author wrote it.
        document: the same with defaults.
        namespace: that it is in.
        options: of the review.
    """
    job = Job(kind, document, view(kind.spec, document.get("spec"))[0])
    operator, settings = operator_of(job), options.settings
    name = text(metadata_of(document).get("name")) or f"{text(metadata_of(document).get('generateName'))}…"
    crew = crew_of(job, namespace, name, domain=settings.domain, imposed=settings.plugins)
    own = written_plugins(kind, written)
    tasks = {operator.task_name(task): task for task in job.tasks}
    given = {part.name: brought(part.prerequisites, options.objects, namespace, part.container) for part in crew.parts}
    sources = {plugin: _plugin_source(plugin, own, given.values()) for plugin in crew.plugins}
    maker = "the runner" if is_run(document) else operator.name
    origin = _Origin(maker, sources)
    notes = [f"what {maker} itself adds to pods is not shown"]
    notes += [
        f"{sources[one]}: not shown, as {maker} carries it out itself" for one in crew.plugins if one in crew.provided
    ]
    return Explanation(
        pods=[
            _pods(job, operator, tasks[part.name], Member(crew, part, 0), given[part.name], origin)
            for part in crew.parts
        ],
        beside=list(_beside(crew, origin)),
        notes=notes,
    )


def _plugin_source(name: str, own: Mapping[str, Any], given: Any) -> str:
    """Return where a plugin comes from: the job, an item, or the installation."""
    item = None if name in own else next((found for one in given if (found := one.wanted_plugin(name))), None)
    return f"plugin {name}" if item is None else f"plugin {name} of {item}"


def _pods(job: Job[Any], operator: Operator, task: Task, member: Member, given: Brought, origin: _Origin) -> Pods:
    crew, part = member.crew, member.part
    pod = operator.known(operator.pod(job, task))

    def wired(draft: Draft) -> None:
        """Do as the pod webhook does: where the job has no plugins, nothing is marked either."""
        if crew.ours:
            wire(Pod(draft, member))

    def final(draft: Draft) -> None:
        wired(draft)
        given.put(draft)

    steps = [Step(origin.of(plugin.name), _alone(plugin, member, said)) for plugin, said in carried_out(crew)]
    return Pods(
        task=part.name,
        count=part.replicas,
        name=crew.pod_name(part, 0),
        parts=_with_commands(pod, given, rows(pod, [*steps, *given.steps, Step("jobgate", wired)], final)),
        hosts=list(_hosts(crew, part, origin)),
        items=list(_items(given)),
        notes=given.missing,
    )


def _alone(plugin: Any, member: Member, arguments: Any) -> Any:
    """Return a step that carries out one plugin."""

    def put(draft: Draft) -> None:
        pod = Pod(draft, member)
        plugin.wire(pod, member, arguments)
        pod.write()

    return put


def _with_commands(
    pod: Mapping[str, Any], given: Brought, parts: Mapping[Place, Sequence[Row]]
) -> Mapping[Place, Sequence[Row]]:
    """Add what containers run; of those without anything else too."""
    found: dict[Place, Sequence[Row]] = {place: one for place, one in parts.items() if not place[0]}
    chosen = given.container(pod) if given.items else ""
    for title, container in containers_of(pod):
        hooks = given.content.hooks if title == f"container {chosen}" else ()
        found[title, "command"] = list(command_rows(container, hooks))
        found |= {place: one for place, one in parts.items() if place[0] == title}
    return found


def _items(given: Brought) -> Iterator[str]:
    for one in given.items:
        values = ", ".join(f"{name}={value}" for name, value in one.values.items())
        yield f"{one.item.source}{f' ({values})' if values else ''}"


def _hosts(crew: Crew, part: Part, origin: _Origin) -> Iterator[Row]:
    """Yield the names that a task's pods are found by, where there is a Service."""
    if not part.replicas or not (crew.service_made or "svc" in crew.plugins):
        return
    count = crew.count_hosts(part)
    last = f" … {crew.hosts(part)[-1]} ({count})" if count > 1 else ""
    yield Row(f"{crew.host(part, 0)}{last}", origin.maker if crew.service_made else origin.of("svc"))


def _beside(crew: Crew, origin: _Origin) -> Iterator[Row]:
    if crew.service_made:
        yield Row(f"Service {crew.service}", origin.maker)
    for plugin, arguments in carried_out(crew):
        for declared in plugin.objects(crew, arguments):
            manifest = declared.manifest
            yield Row(f"{manifest['kind']} {manifest['metadata']['name']}", origin.of(plugin.name))


def _workload(document: Mapping[str, Any], namespace: str, known: Objects) -> Explanation | None:
    """Explain a Pod, or what has the template of pods: nothing but prerequisites is put into them."""
    spec = mapping(document.get("spec"))
    if document.get("kind") == "Pod":
        template, count = document, 1
    else:
        inner = mapping(mapping(spec.get("jobTemplate")).get("spec")) or spec
        template = mapping(inner.get("template"))
        count = next((inner[key] for key in ("replicas", "completions") if isinstance(inner.get(key), int)), 1)
    pod = {"metadata": mapping(template.get("metadata")), "spec": mapping(template.get("spec"))}
    if not _has_containers(pod):
        return None
    if wrong := fault(pod):
        return Explanation(notes=[str(wrong)], denied=True)
    said = mapping(metadata_of(pod).get("annotations")).get(ANNOTATION)
    try:
        references = () if said is None else annotated(said)
    except InvalidReference as error:
        return Explanation(notes=[f"metadata.annotations[{ANNOTATION}]: {error}"], denied=True)
    given = brought(references, known, namespace)
    if problems := given.problems(pod):
        return Explanation(notes=problems, denied=True)
    name = text(metadata_of(document).get("name")) or text(metadata_of(document).get("generateName"))
    parts = _with_commands(pod, given, rows(pod, given.steps, given.put))
    return Explanation(pods=[Pods("", count, name, parts, items=list(_items(given)), notes=given.missing)])


def _has_containers(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod has a container: else it is none."""
    return any(True for _ in objects(spec_of(pod).get("containers")))

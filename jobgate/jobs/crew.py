"""The crew of a job: what plugins know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from sys import intern
from typing import Any, Final, TypeVar

from jobgate.jobs.context import Context
from jobgate.jobs.job import Job
from jobgate.jobs.kind import JobKind
from jobgate.jobs.operator import Operator, operator_of
from jobgate.jobs.prerequisites import asked_of
from jobgate.jobs.runner import runner_of
from jobgate.jobs.status import is_run
from jobgate.names import DOMAIN
from jobgate.plugins import Crew, CrewContainer, Part, Plugin, installed, parse
from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, RUN_LABEL
from jobgate.plugins.env import Run
from webhook import Cause, Path
from webhook.values import mapping, objects, spec_of, text, whole

#: What must fit the schema of a task for its pods to be wired.
_NEEDED: Final = frozenset({"name", "replicas", "template"})

T = TypeVar("T")

#: Python makes a new empty set each time, of 200 bytes; jobs have many, and there may be 50,000 jobs.
_NOTHING: frozenset[str] = frozenset()


def crew_of(
    job: Job[Any],
    namespace: str,
    name: str,
    uid: str = "",
    *,
    domain: str = DOMAIN,
    imposed: Mapping[str, Any] | None = None,
    plugins: Mapping[str, Plugin[Any]] | None = None,
) -> Crew:
    """Return what plugins know of a job, without its broken parts and plugins.

    `imposed` are the plugins that the installation asks for, with their arguments; `plugins` those that jobs may ask
    for, by default all that are installed.
    """
    job = job.tolerant()
    operator = operator_of(job)
    members = operator.members
    runner = runner_of(job.kind) if is_run(job.document) else None
    labels = {
        key: pattern.format(job=name, namespace=namespace)
        for key, pattern in (members.labels if members and not runner else {}).items()
    }
    facts = dict(members.facts(job)) if members else {}
    if runner:
        facts[RUN_LABEL] = uid
    contract = runner.variables if runner else members.contract if members else None
    return Crew(
        api_version=intern(job.kind.gvk.api_version),
        kind=job.kind.kind,
        plural=intern(job.kind.qualified_plural),
        namespace=namespace,
        name=name,
        uid=uid,
        parts=tuple(_parts(job, operator, run=runner is not None)),
        volumes=frozenset(_names(operator.volumes_of(job))) or _NOTHING,
        plugins={
            **requested(job, plugins)[0],
            **(imposed or {}),
            **({Run.name: NoArguments()} if runner else {}),
        },
        provided=members.provides if members and not runner else _NOTHING,
        pod=operator.pod_pattern(job).replace("{job}", name),
        service=operator.service_name.format(job=name) if operator.service_name else name,
        service_made=bool(operator.service_name),
        labels=labels or {KIND_LABEL: job.kind.qualified_plural, JOB_LABEL: name},
        marked=not labels,
        domain=domain,
        facts=facts,
        contract=contract or (lambda _: ()),
        marks=runner.pod_metadata if runner else lambda _: {},
        least=whole(job.get("min_available")),
        queue=text(job.get("queue")),
        priority_class=text(job.get("priority_class_name")),
        scheduler=runner.scheduler(job) if runner else text(job.get("scheduler_name")),
    )


def plugins_of(context: Context) -> Mapping[str, Plugin[Any]]:
    """Return the plugins that jobs may ask for, from the context of a rule."""
    return context.settings.offered


def requested(job: Job[Any], plugins: Mapping[str, Plugin[Any]] | None = None) -> tuple[Mapping[str, Any], list[Cause]]:
    """Return the plugins that a job asks for, each with its arguments, and what is wrong with these.

    Plugins that are not known are left out of both.
    """
    written = mapping(job.get("plugins"))
    place: Path = job.at("plugins")
    asked: dict[str, Any] = {}
    faults: list[Cause] = []
    for name, plugin in (installed() if plugins is None else plugins).items():
        if name not in written or plugin.imposed:
            continue
        arguments, causes = parse(plugin.arguments, name, written[name], place.key(name))
        faults += causes
        if arguments is not None:
            asked[name] = arguments
    return asked, faults


def written_plugins(kind: JobKind, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the plugins that a job of a kind asks for, as it says them: those too that are not known or understood."""
    value: Any = document
    for step in kind.field("plugins").path.steps:
        value = mapping(value).get(str(step))
    return mapping(value)


def _parts(job: Job[Any], operator: Operator, *, run: bool) -> Iterator[Part]:
    """Yield the parts of a job. What is equal in them is one object: many tasks often share one template."""
    # The pods of an Indexed Job have host names of their own, whatever the template says.
    replaced = {*operator.replaces, *(("hostname",) if run else ())}
    corrects = operator.members.corrects if operator.members else frozenset()
    seen: dict[Any, Any] = {}

    def alike(value: T) -> T:
        found: T = seen.setdefault(value, value)
        return found

    named = {one.task.steps: one for one in asked_of(job)}
    for task in job.all_tasks if job.has_readable_tasks else ():
        broken = task.broken
        if not broken.isdisjoint(_NEEDED) or not task.name:
            continue
        min_available, role = (None if field in broken else task.get(field) for field in ("min_available", "type"))
        spec = spec_of(task.template)
        hostname, subdomain = (
            "" if name in replaced else alike(text(spec.get(name))) for name in ("hostname", "subdomain")
        )
        yield Part(
            name=operator.task_name(task),
            type=alike(text(role)),
            replicas=max(task.replicas or 0, 0),
            least=whole(min_available),
            containers=alike(tuple(_containers(spec, corrects, alike))),
            scheduler=alike(text(spec.get("schedulerName"))),
            volumes=alike(frozenset(_names(spec.get("volumes"))) or _NOTHING),
            fs_group=whole(mapping(spec.get("securityContext")).get("fsGroup")),
            prerequisites=alike(one.references) if (one := named.get(task.path.steps) if named else None) else (),
            container=alike(one.container) if one else "",
            hostname=hostname,
            subdomain=subdomain,
        )


def _containers(
    spec: Mapping[str, Any], corrects: frozenset[str], alike: Callable[[CrewContainer], CrewContainer]
) -> Iterator[CrewContainer]:
    for field, init in (("containers", False), ("initContainers", True)):
        for _, one in objects(spec.get(field)):
            if isinstance(name := one.get("name"), str):
                users = (variable.get("name") for _, variable in objects(one.get("env")))
                mounts = (mount.get("mountPath") for _, mount in objects(one.get("volumeMounts")))
                container = CrewContainer(
                    name,
                    init,
                    frozenset(user for user in users if user in corrects) or _NOTHING,
                    tuple(mount for mount in mounts if isinstance(mount, str)),
                    _runs_as_root(one, spec),
                )
                yield alike(container)


def _runs_as_root(container: Mapping[str, Any], spec: Mapping[str, Any]) -> bool | None:
    """Return whether a container runs as root: its own setting takes precedence over the pod's. None: not set."""
    own, pods = mapping(container.get("securityContext")), mapping(spec.get("securityContext"))

    def said(word: str) -> Any:
        return pods.get(word) if own.get(word) is None else own[word]

    if (number := whole(said("runAsUser"))) is not None:
        return number == 0
    return False if said("runAsNonRoot") is True else None


def _names(value: Any) -> Iterator[str]:
    return (one["name"] for _, one in objects(value) if isinstance(one.get("name"), str))

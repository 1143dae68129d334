"""Creates the crew of a job: the view that plugins get."""

from __future__ import annotations

import json
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
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, RUN_LABEL, no_marks, no_variables
from jobgate.plugins.env import Run
from webhook import Cause, Path
from webhook.values import mapping, objects, spec_of, text, value_at, whole

#: Fields of a task that must fit the schema for its pods to be wired.
_NEEDED: Final = frozenset({"name", "replicas", "template"})

#: The annotation with the plugins of a job whose kind has no field for them.
PLUGINS: Final = "jobgate.dev/plugins"

T = TypeVar("T")

#: One shared empty set: each new one would take 200 bytes, and the server may remember 50,000 jobs with many of them.
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
    """Return the view of a job for plugins, without its invalid tasks and plugins.

    `imposed` are the plugins that the installation requests, with their arguments; `plugins` are those that jobs can
    request, by default all installed plugins.
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
        contract=contract or no_variables,
        marks=runner.pod_metadata if runner else no_marks,
        least=whole(job.get("min_available")),
        queue=text(job.get("queue")),
        priority_class=text(job.get("priority_class_name")),
        scheduler=runner.scheduler(job) if runner else text(job.get("scheduler_name")),
    )


def plugins_of(context: Context) -> Mapping[str, Plugin[Any]]:
    """Return the plugins that jobs may request, from the context of a rule."""
    return context.settings.offered


def requested(job: Job[Any], plugins: Mapping[str, Plugin[Any]] | None = None) -> tuple[Mapping[str, Any], list[Cause]]:
    """Return the plugins that a job requests, with their arguments, and the faults of the arguments.

    Unknown plugins are left out.
    """
    written = mapping(job.get("plugins"))
    path: Path = job.at("plugins")
    valid: dict[str, Any] = {}
    faults: list[Cause] = []
    for name, plugin in (installed() if plugins is None else plugins).items():
        if name not in written or plugin.imposed:
            continue
        arguments, causes = parse(plugin.arguments, name, written[name], path.key(name))
        faults += causes
        if arguments is not None:
            valid[name] = arguments
    return valid, faults


def written_plugins(kind: JobKind, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the plugins of a job as they are written, including unknown and invalid ones."""
    return mapping(annotated_plugins(value_at(document, kind.field("plugins").path.steps)))


def annotated_plugins(value: Any) -> Any:
    """Return the plugins of an annotation: names, or JSON with their arguments; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip().startswith("{") else dict.fromkeys(_names_in(value))
    except (ValueError, RecursionError):
        return value


def _names_in(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _parts(job: Job[Any], operator: Operator, *, run: bool) -> Iterator[Part]:
    """Yield the parts of a job. Equal values are shared objects, because many tasks often have the same template."""
    # Kubernetes sets the host names in pods of an Indexed Job.
    replaced = {*operator.replaces, *(("hostname",) if run else ())}
    corrects = operator.members.corrects if operator.members else frozenset()
    seen: dict[Any, Any] = {}

    def shared(value: T) -> T:
        first: T = seen.setdefault(value, value)
        return first

    references = {each.template.steps: each for each in asked_of(job)}
    for task in job.all_tasks if job.has_readable_tasks else ():
        broken = task.broken
        if not broken.isdisjoint(_NEEDED) or not task.name:
            continue
        min_available, role = (None if field in broken else task.get(field) for field in ("min_available", "type"))
        spec = spec_of(task.template)
        hostname, subdomain = (
            "" if name in replaced else shared(text(spec.get(name))) for name in ("hostname", "subdomain")
        )
        own = references.get(task.template_path.steps) if references else None
        yield Part(
            name=operator.task_name(task),
            type=shared(text(role)),
            replicas=max(task.replicas or 0, 0),
            least=whole(min_available),
            containers=shared(tuple(_containers(spec, corrects, shared))),
            scheduler=shared(text(spec.get("schedulerName"))),
            volumes=shared(frozenset(_names(spec.get("volumes"))) or _NOTHING),
            fs_group=whole(mapping(spec.get("securityContext")).get("fsGroup")),
            prerequisites=shared(own.references) if own else (),
            container=shared(own.container) if own else "",
            hostname=hostname,
            subdomain=subdomain,
        )


def _containers(
    spec: Mapping[str, Any], corrects: frozenset[str], shared: Callable[[CrewContainer], CrewContainer]
) -> Iterator[CrewContainer]:
    for field, init in (("containers", False), ("initContainers", True)):
        for _, container in objects(spec.get(field)):
            if isinstance(name := container.get("name"), str):
                variables = (variable.get("name") for _, variable in objects(container.get("env")))
                mounts = (mount.get("mountPath") for _, mount in objects(container.get("volumeMounts")))
                yield shared(
                    CrewContainer(
                        name,
                        init,
                        frozenset(variable for variable in variables if variable in corrects) or _NOTHING,
                        tuple(mount for mount in mounts if isinstance(mount, str)),
                        _runs_as_root(container, spec),
                    )
                )


def _runs_as_root(container: Mapping[str, Any], spec: Mapping[str, Any]) -> bool | None:
    """Return whether a container runs as root; None if neither the container nor the pod sets that."""
    own, pods = mapping(container.get("securityContext")), mapping(spec.get("securityContext"))

    def setting(field: str) -> Any:
        return pods.get(field) if own.get(field) is None else own[field]

    if (user := whole(setting("runAsUser"))) is not None:
        return user == 0
    return False if setting("runAsNonRoot") is True else None


def _names(value: Any) -> Iterator[str]:
    return (item["name"] for _, item in objects(value) if isinstance(item.get("name"), str))

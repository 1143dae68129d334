"""Rules that only configured kinds have; they share all others."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, cast

from msgspec.structs import replace

from jobgate.configured.entry import PLACEHOLDERS, DerivedName, Entry
from jobgate.configured.kind import PREREQUISITES, ConfiguredKind
from jobgate.configured.tasks import located
from jobgate.jobs.binding import looks_up
from jobgate.jobs.context import Context
from jobgate.jobs.crew import PLUGINS
from jobgate.jobs.job import Job, computed_once, own_priority_class
from jobgate.jobs.task import Task
from jobgate.names import dns_1035_label, dns_label, dns_subdomain
from jobgate.podchecks.quantity import parse
from jobgate.podchecks.resources import totals
from jobgate.prerequisites.reference import ANNOTATION
from jobgate.rules.tasks import GENERATED_SUFFIX, expected_name, name_path
from webhook import Cause, Forbidden, Invalid, Notice, NotSupported, Path, Required, Rule, TooLong, rule
from webhook.values import mapping, spec_of, text, value_at

PRIORITY_CLASSES: Final = "priorityclasses.v1.scheduling.k8s.io"
QUOTAS: Final = "resourcequotas.v1."
QUEUES: Final = {
    "kueue": "localqueues.v1beta1.kueue.x-k8s.io",
    "volcano": "queues.v1beta1.scheduling.volcano.sh",
}
#: Resources that the server may not read: only commands with the rights of their user look them up.
CLAIMS, CONFIG_MAPS, SECRETS = "persistentvolumeclaims.v1.", "configmaps.v1.", "secrets.v1."
#: Fields of pods that name such an object.
_REFERENCES: Final[Mapping[Any, str]] = {
    "persistentVolumeClaim": CLAIMS,
    **dict.fromkeys(("configMap", "configMapKeyRef", "configMapRef"), CONFIG_MAPS),
    **dict.fromkeys(("secret", "secretKeyRef", "secretRef"), SECRETS),
}

_FORMATS: Final = {"label": dns_label, "dns1035": dns_1035_label, "subdomain": dns_subdomain}
#: Resources of a quota that are requests without saying so.
_REQUESTS: Final = ("cpu", "memory", "ephemeral-storage")


def _entry(job: Job[Any]) -> Entry:
    return cast("ConfiguredKind", job.kind).entry


@rule()
def derived_names_are_valid(job: Job[Any], context: Context) -> Iterator[Cause]:
    """The operator appends to the job's name: the pods' names, and those of Services, must still be valid.

    If a name is too long, the longer of job name and task name is reported, with its smallest limit.
    """
    name, entry = expected_name(context), _entry(job)
    tightest: dict[str, tuple[int, Cause]] = {}
    for derived in entry.names if name else ():
        tasks: Iterable[Task | None] = (None,)
        if derived.task or "{task}" in derived.pattern or "{index}" in derived.pattern:
            tasks = [task for task in job.tasks if derived.task in ("", task.name)]
        for task in tasks:
            for room, cause in _name_causes(derived, name, task, context, entry.operator.name):
                if room < tightest.get(str(cause.path), (room + 1,))[0]:
                    tightest[str(cause.path)] = room, cause
    yield from (cause for _, cause in tightest.values())


def _name_causes(
    derived: DerivedName, name: str, task: Task | None, context: Context, operator: str
) -> Iterator[tuple[int, Cause]]:
    """Yield the faults of a name, each with the number of characters that its field may have."""
    task_name = (task.name if task else "") or ""
    count = task.get("count") if task else 1
    pods = max(task.replicas // max(count, 1), 1) if task else 1
    rest = {"index": str(max(count - 1, 0)), "inner": str(pods - 1), "random": GENERATED_SUFFIX, "hash": "x" * 10}
    full = derived.pattern.format(job=name, task=task_name, **rest)
    shown = derived.pattern.format_map({part: f"<{part}>" for part in PLACEHOLDERS})
    detail = f"{operator} uses {shown} for {derived.of}, which may have at most {derived.most} characters"
    excess = len(full) - derived.most
    if excess > 0 and task is not None and len(task_name) > len(name) and "{task}" in derived.pattern:
        room = max(len(task_name) - excess, 0)
        yield room, TooLong(task.at("name"), task_name, room, detail)
    elif excess > 0:
        room = max(len(name) - excess - (0 if context.name else len(GENERATED_SUFFIX)), 0)
        yield room, TooLong(name_path(context), context.name or context.generate_name, room, detail)
    # A task's name is reported by a rule of its own.
    own = derived.pattern.format(job=name, task="x", **rest)
    if fault := _FORMATS[derived.format](own[: derived.most].rstrip("-.") or own[:1]):
        yield derived.most, Invalid(name_path(context), context.name or context.generate_name, f"{fault}: {detail}")


@rule()
def counts_are_within_their_bounds(job: Job[Any], _: Context) -> Iterator[Cause]:
    """A task has at least its lower bound of replicas, and at most its upper bound."""
    for task in job.tasks:
        count, least, most = (task.get(name) for name in ("count", "least", "most"))
        if count < 0:
            yield Invalid(task.at("replicas"), count, "must be at least 0")
        elif least is not None and most is not None and least > most:
            yield Invalid(task.at("least"), least, f"must be at most {task.at('most')}, which is {most}")
        elif least is not None and count < least and _is_written(job, task):
            yield Invalid(task.at("replicas"), count, f"must be at least {task.at('least')}, which is {least}")
        elif most is not None and count > most and _is_written(job, task):
            yield Invalid(task.at("replicas"), count, f"must be at most {task.at('most')}, which is {most}")


def _is_written(job: Job[Any], task: Task) -> bool:
    return value_at(job.document, task.at("replicas").steps) is not None


@rule()
def restart_policies_are_allowed(job: Job[Any], _: Context) -> Iterator[Cause]:
    """Some operators create pods only with certain restart policies."""
    policies = _entry(job).operator.restart_policy
    for task in job.tasks if policies else ():
        value, path = spec_of(task.template).get("restartPolicy"), task.template_path / "spec" / "restartPolicy"
        if policies and not value and policies.default not in policies.allowed:
            allowed = " or ".join(policies.allowed)
            yield Required(path, f"must be {allowed}: {policies.default}, the default, is not allowed")
        elif policies and value and value not in policies.allowed:
            yield NotSupported(path, value, policies.allowed)


@rule()
@looks_up(PRIORITY_CLASSES)
def priority_classes_exist(job: Job[Any], context: Context) -> Iterator[Notice]:
    """The API server rejects pods with an unknown priority class; it may have been created a moment ago."""
    names = [(task, own_priority_class(task)) for task in job.tasks]
    for task, name in ((None, text(job.get("priority_class_name"))), *names):
        if name and _is_absent(context, PRIORITY_CLASSES, name):
            path = task.template_path / "spec" / "priorityClassName" if task else job.at("priority_class_name")
            yield Notice(path, f"there is no PriorityClass {name}: the API server rejects the pods until it exists")


def _is_absent(context: Context, resource: str, name: str, namespace: str = "") -> bool:
    """Return whether an object surely does not exist."""
    try:
        return context.objects.get(resource, name, namespace) is None
    except LookupError:
        return False


def _queue_rule(kind: str) -> Rule:
    resource, namespaced = QUEUES[kind], kind == "kueue"

    @rule("queue")
    @looks_up(resource)
    def queues_exist(job: Job[Any], context: Context) -> Iterator[Notice]:
        """A job in a queue that does not exist never starts."""
        name = text(job.get("queue"))
        if name and _is_absent(context, resource, name, context.namespace if namespaced else ""):
            what = f"namespace {context.namespace} has no LocalQueue" if namespaced else "there is no Queue"
            yield Notice(job.at("queue"), f"{what} {name}: the job waits until it exists")

    return queues_exist


@rule()
@looks_up(QUOTAS)
def quotas_can_hold_the_job(job: Job[Any], context: Context) -> Iterator[Cause]:
    """A job whose pods request more than a quota of the namespace allows in all never runs completely."""
    # Objects of a cluster, unlike those of files, have all names of a namespace.
    names_of: Callable[[str, str], Iterable[str]] | None = getattr(context.objects, "names", None)
    try:
        names = names_of(QUOTAS, context.namespace) if names_of else ()
        quotas = {name: spec_of(context.objects.get(QUOTAS, name, context.namespace) or {}) for name in names}
    except LookupError:
        return
    largest = max(job.tasks, key=lambda task: task.replicas, default=None)
    for name, quota in quotas.items():
        if largest is None or quota.get("scopes") or quota.get("scopeSelector"):
            continue
        for resource, limit in mapping(quota.get("hard")).items():
            needed = _needed(job, resource)
            if needed > parse(limit):
                detail = (
                    f"the pods need {needed.normalize():f} {resource} at the same time, but ResourceQuota {name} of "
                    f"namespace {context.namespace} allows {limit} in all: use fewer or smaller pods"
                )
                yield Forbidden(largest.at("replicas"), detail, str(needed))


def _needed(job: Job[Any], resource: str) -> Decimal:
    """Return what the pods of a job need at the same time of a resource, as quotas name it."""
    side, _, name = (f"requests.{resource}" if resource in _REQUESTS else resource).partition(".")
    amounts = [Decimal(0)]
    for task in job.tasks:
        pod = {"pods": Decimal(1)} if side == "pods" else {}
        pod = totals(task.template, side) if side in {"requests", "limits"} else pod
        amounts.append(max(task.replicas, 0) * pod.get(name or side, Decimal(0)))
    waits = any(task.get("depends_on") is not None for task in job.tasks)
    return sum(amounts, Decimal(0)) if _entry(job).together and not waits else max(amounts)


@rule()
def named_objects_exist(job: Job[Any], context: Context) -> Iterator[Notice]:
    """A pod waits until the claims, ConfigMaps and Secrets that it names exist; looked up if the user may read them."""
    known = isinstance(context.objects, Container) and CONFIG_MAPS in context.objects
    for task in job.tasks if known else ():
        for path, resource, name in _named(spec_of(task.template), task.template_path / "spec"):
            if _is_absent(context, resource, name, context.namespace):
                what = resource.partition(".")[0].removesuffix("s")
                yield Notice(path, f"namespace {context.namespace} has no {what} {name}: pods wait until it exists")


def _named(value: Any, path: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the objects that a part of a pod needs: path, resource and name."""
    for step, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if step in _REFERENCES and isinstance(part, dict):
            field = next((field for field in ("claimName", "secretName", "name") if part.get(field)), "")
            if field and not part.get("optional"):
                yield path / step / field, _REFERENCES[step], text(part[field])
        yield from _named(part, path / step)


@rule(f"annotations.{PLUGINS}")
def plugins_reach_pods(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Pods get plugins only if the entry says which job, task and index they have."""
    path = (Path("metadata") / "annotations").key(PLUGINS)
    yield Notice(path, f"has no effect: the description of {job.kind.kind} lacks members.index")


@rule(f"annotations.{ANNOTATION}")
def prerequisites_are_named_by_templates(job: Job[Any], _: Context) -> Iterator[Notice]:
    """Pods get the prerequisites of their job only if the entry says which job and task they have."""
    detail = f"has no effect: the description of {job.kind.kind} lacks members: annotate its pod templates instead"
    yield Notice(PREREQUISITES, detail)


def own_rules(entry: Entry) -> tuple[Rule, ...]:
    """Return the rules that only configured kinds have, for an entry."""
    rules = [counts_are_within_their_bounds, priority_classes_exist, quotas_can_hold_the_job, named_objects_exist]
    rules += [] if entry.members else [prerequisites_are_named_by_templates]
    rules += [] if entry.has_plugins else [plugins_reach_pods]
    rules += [restart_policies_are_allowed] if entry.operator.restart_policy else []
    return (*rules, *([_queue_rule(entry.queue_of)] if entry.fields_.queue else []))


def with_places(checked: Rule) -> Rule:
    """Return a rule whose findings in assembled pods have the places of the object, each once.

    Findings in values that the entry's placeholder fills in later are left out.
    """

    def check(job: Job[Any], context: Context) -> Iterator[Notice]:
        findings = [_placed(finding, job) for finding in checked.check(job, context)]
        yield from filter(None, dict.fromkeys(findings))

    return replace(checked, check=check)


@computed_once
def _assembled(job: Job[Any]) -> Mapping[tuple[str | int, ...], Any]:
    """Return the tasks whose pods have parts of other places, by the steps of their templates."""
    return {part.built.path.steps: part.built for part in job.spec.tasks if part.built.origins}


def _placed(finding: Notice, job: Job[Any]) -> Notice | None:
    steps = finding.path.steps
    built = next((built for length in range(len(steps)) if (built := _assembled(job).get(steps[:length]))), None)
    path = finding.path if built is None else located(finding.path, built)
    if path is None:
        return None
    value, placeholder = value_at(job.document, path.steps), _entry(job).placeholder
    value = getattr(finding, "value", None) if isinstance(value, dict | list) else value
    return None if placeholder and placeholder in str(value) else finding.at(path)

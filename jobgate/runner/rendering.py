"""What a job is made of: an Indexed Job a task, the Services of its kind, and groups where pods start together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jobgate.jobs.policies import LifecycleEvent
from jobgate.jobs.runner import Retry, TaskProgress, taken_over
from jobgate.names import MANAGED_BY
from jobgate.plugins.crew import ATTEMPT_LABEL, JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL
from jobgate.plugins.queueing import Grouping
from jobgate.runner.gangs import Gang, gangs, in_gang
from jobgate.runner.policies import fatal_codes, staying_codes, takes_the_job
from jobgate.runner.subject import Subject, read
from webhook import Kind
from webhook.values import mapping, metadata_of, text

#: The labels by which a batch Job knows its pods; the API server rejects a template that has others of these keys.
_BATCH_LABELS: Final = ("job-name", "controller-uid")
_BATCH_PREFIX: Final = "batch.kubernetes.io/"

#: What a batch Job takes for no limit: the largest number that it holds.
_NO_LIMIT: Final = 2**31 - 1


def rendered(
    kind: Kind, document: Mapping[str, Any], namespace: str, domain: str, groups: Grouping | None = None
) -> list[dict[str, Any]]:
    """Return what the runner would make of a job in a file: Services, PodGroups, claims and batch Jobs.

    The job has its defaults; `namespace` is for one that names none.
    """
    placed = {**document, "metadata": {"namespace": namespace, **document["metadata"]}}
    subject = read(kind, taken_over(placed), domain, groups)
    if subject is None:
        return []
    services, pod_groups, gang_of = beside(subject)
    # Of no task a pod runs yet.
    begun = {name: TaskProgress(name, 1, 1) for name in subject.tasks}
    jobs = [
        batch_job(subject, name, gang_of.get(name), suspend=not subject.runner.waits(subject.job, task).over(begun))
        for name, task in subject.tasks.items()
        if name and subject.replicas(name) > 0
    ]
    return [*services.values(), *pod_groups.values(), *claims(subject), *jobs]


def beside(subject: Subject) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]], dict[str, Gang]]:
    """Return what a job is made of beside batch Jobs: Services and groups, and the gang of each task."""
    services = [
        _marked(subject, {"apiVersion": "v1", "kind": "Service", **service})
        for service in subject.runner.services(subject.job, subject.crew)
    ]
    found, grouping = gangs(subject), subject.groups
    groups = [
        _marked(subject, gang.group.manifest(grouping.system, grouping.api_version))
        for gang in found
        if grouping and grouping.api_version
    ]
    return _named(services), _named(groups), {task: gang for gang in found for task in gang.tasks}


def batch_job(subject: Subject, name: str, gang: Gang | None = None, *, suspend: bool = False) -> dict[str, Any]:
    """Return the Indexed Job of a task, whose pods are in a gang where one is given."""
    task, runner = subject.tasks[name], subject.runner
    retry = runner.retry(subject.job, task)
    replicas = subject.replicas(name)
    template = _template(subject, name, retry)
    if gang is not None and subject.groups is not None:
        template = in_gang(gang, subject.groups, template)
    spec = {
        "completionMode": "Indexed",
        "completions": replicas,
        "parallelism": replicas,
        "podReplacementPolicy": "Failed",
        **failures(subject, name),
        "suspend": suspend,
        "template": template,
    }
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": subject.batch_name(name)}, "spec": spec}
    return _marked(subject, manifest, name)


def claims(subject: Subject) -> list[dict[str, Any]]:
    """Return the PersistentVolumeClaims that are created for a job."""
    found = subject.runner.claims(subject.job) if subject.runner.claims else {}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return [
        _marked(subject, {**claim, "metadata": {"name": name}, "spec": spec})
        for name, spec in found.items()
        if spec is not None
    ]


def _template(subject: Subject, name: str, retry: Retry) -> dict[str, Any]:
    job, task = subject.job, subject.tasks[name]
    spec = dict(mapping(subject.operator.pod(job, task).get("spec")))
    for field, value in (
        ("schedulerName", subject.crew.scheduler),
        ("priorityClassName", subject.crew.priority_class),
    ):
        if not spec.get(field) and value:
            spec[field] = value
    spec["restartPolicy"] = retry.restart_policy
    metadata = metadata_of(task.template)
    own = {
        key: value
        for key, value in mapping(metadata.get("labels")).items()
        if key not in _BATCH_LABELS and not key.startswith(_BATCH_PREFIX)
    }
    made = subject.runner.metadata(job, task)
    annotations = {**mapping(metadata.get("annotations")), **made.get("annotations", {})}
    return {
        "metadata": {
            "labels": {**own, **made.get("labels", {}), **labels(subject, name)},
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": subject.runner.pod(job, task, subject.crew, spec),
    }


def failures(subject: Subject, name: str) -> dict[str, Any]:
    """Return what a batch Job does after failures.

    A failure by which a policy acts on the task or the job is left as it is: the runner acts then.
    """
    task = subject.tasks[name]
    retry = subject.runner.retry(subject.job, task)
    left = takes_the_job(subject.job, task, LifecycleEvent.POD_FAILED)
    limit = _NO_LIMIT if retry.limit is None else retry.limit
    if retry.restart_policy != "Never":
        # The API server takes neither there: containers are restarted in their pods.
        return {"backoffLimit": limit}
    made: dict[str, Any] = {"backoffLimitPerIndex": 0} if left else {"backoffLimit": limit}
    rules: list[dict[str, Any]] = []
    if (not left or retry.stays) and not takes_the_job(subject.job, task, LifecycleEvent.POD_EVICTED):
        rules.append({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]})
    if retry.stays:
        which, staying = staying_codes(subject.job, task)
        if staying:
            rules.append({"action": "FailIndex", "onExitCodes": {"operator": which, "values": staying}})
        return {"backoffLimitPerIndex": _NO_LIMIT, **({"podFailurePolicy": {"rules": rules}} if rules else {})}
    container = {"containerName": retry.container} if retry.container else {}
    fatal = [("In", codes)] if (codes := fatal_codes(subject.job, task)) else []
    for operator, values in (*fatal, *([retry.fatal] if retry.fatal else [])):
        codes_of = {**container, "operator": operator, "values": sorted(values)}
        rules.append({"action": "FailJob", "onExitCodes": codes_of})
    return {**made, **({"podFailurePolicy": {"rules": rules}} if rules else {})}


def labels(subject: Subject, name: str = "") -> dict[str, str]:
    """Return the labels of what is made for a job, or for one of its tasks."""
    crew, uid = subject.crew, subject.crew.uid
    attempt = subject.state.label(name)
    return {
        KIND_LABEL: crew.plural,
        JOB_LABEL: crew.name,
        **({TASK_LABEL: name} if name else {}),
        ATTEMPT_LABEL: attempt,
        **({RUN_LABEL: uid} if uid else {}),
    }


def _marked(subject: Subject, manifest: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Return an object with our labels, owned by the job."""
    crew = subject.crew
    owner = {
        "apiVersion": crew.api_version,
        "kind": crew.kind,
        "name": crew.name,
        "uid": crew.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    key, value = MANAGED_BY
    metadata = {
        **manifest["metadata"],
        **({"namespace": crew.namespace} if crew.namespace else {}),
        # The companion controller deletes what has its own mark and no plugin declares.
        "labels": {key: f"{value}-runner", **labels(subject, name)},
        **({"ownerReferences": [owner]} if crew.uid else {}),
    }
    return {**manifest, "metadata": metadata}


def _named(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {text(one["metadata"]["name"]): one for one in manifests}

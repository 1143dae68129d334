"""The objects of a job: an Indexed Job per task, the Services of its kind, claims, and PodGroups for its gangs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from jobgate.jobs.kind import JobKind
from jobgate.jobs.progress import TaskProgress
from jobgate.jobs.status import taken_over
from jobgate.ownership import MANAGED_BY
from jobgate.plugins.crew import ATTEMPT_LABEL, JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL, TEMPLATE
from jobgate.plugins.queueing import Grouping
from jobgate.runner.failures import batch_job_fields
from jobgate.runner.gangs import Gang, gangs, in_gang
from jobgate.runner.state import annotations_of
from jobgate.runner.subject import Subject, TaskSeen, read
from webhook.values import mapping, metadata_of, text

#: The labels that batch Jobs set on their pods. The API server rejects a template that has them with other values.
_BATCH_LABELS: Final = ("job-name", "controller-uid")
_BATCH_PREFIX: Final = "batch.kubernetes.io/"


def rendered(
    kind: JobKind, document: Mapping[str, Any], namespace: str, domain: str, groups: Grouping | None = None
) -> list[dict[str, Any]]:
    """Return the objects that the runner would create for a job in a file.

    The job has its defaults. `namespace` applies if it names none.
    """
    placed = {**document, "metadata": {"namespace": namespace, **document["metadata"]}}
    subject = read(kind, taken_over(placed), domain, groups)
    if subject is None:
        return []
    services, pod_groups, gang_of = beside(subject)
    # No pod of any task runs yet.
    tasks = {name: TaskProgress(name, 1, 1) for name in subject.tasks}
    waits = {name: not subject.start_condition(name).is_met(tasks) for name in subject.tasks}
    jobs = [
        batch_job(subject, name, gang_of.get(name), suspend=waits[name])
        for name in subject.tasks
        if name and subject.replicas(name) > 0
    ]
    return [*services.values(), *pod_groups.values(), *claims(subject), *jobs]


def beside(subject: Subject) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]], dict[str, Gang]]:
    """Return the Services and PodGroups of a job by name, and the gangs by task."""
    services = [
        _marked(subject, {"apiVersion": "v1", "kind": "Service", **service})
        for service in subject.runner.services(subject.job, subject.crew)
    ]
    all_gangs, grouping = gangs(subject), subject.groups
    groups = [
        _marked(subject, gang.group.manifest(grouping.system, grouping.api_version))
        for gang in all_gangs
        if grouping and grouping.api_version
    ]
    return _named(services), _named(groups), {task: gang for gang in all_gangs for task in gang.tasks}


def batch_job(subject: Subject, name: str, gang: Gang | None = None, *, suspend: bool = False) -> dict[str, Any]:
    """Return the Indexed Job of a task. If a gang is given, its pods belong to that."""
    replicas = subject.replicas(name)
    template, prefix = _template(subject, name), subject.runner.server
    if subject.server and prefix:
        template = subject.server.added(template, prefix)
    if gang is not None and subject.groups is not None:
        template = in_gang(gang, subject.groups, template)
    spec = {
        "completionMode": "Indexed",
        "completions": replicas,
        "parallelism": replicas,
        "podReplacementPolicy": "Failed",
        **batch_job_fields(subject, name),
        "suspend": suspend,
        "template": template,
    }
    metadata = {"name": subject.batch_name(name), "annotations": {TEMPLATE: template_digest(subject, name)}}
    return _marked(subject, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}, name)


def template_digest(subject: Subject, name: str) -> str:
    """Return the digest of what cannot be changed in the batch Job of a task: the template, and what failures do.

    Access to the server of jobs does not count: a new certificate is no change of the job.
    """
    fields = {key: value for key, value in batch_job_fields(subject, name).items() if key != "backoffLimit"}
    written = msgspec.json.encode([_template(subject, name), fields], order="deterministic")
    return hashlib.sha256(written).hexdigest()[:16]


def is_outdated(subject: Subject, seen: TaskSeen) -> bool:
    """Return whether the batch Job of a task has a former template. Of an earlier version's, that is not known."""
    digest = annotations_of(seen.batch or {}).get(TEMPLATE)
    return digest is not None and digest != template_digest(subject, seen.name)


def claims(subject: Subject) -> list[dict[str, Any]]:
    """Return the PersistentVolumeClaims that are created for a job."""
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return [
        _marked(subject, {**claim, "metadata": {"name": name}, "spec": spec})
        for name, spec in subject.runner.claims(subject.job).items()
        if spec is not None
    ]


def _template(subject: Subject, name: str) -> dict[str, Any]:
    job, task, runner = subject.job, subject.tasks[name], subject.runner
    spec = dict(mapping(subject.operator.pod(job, task).get("spec")))
    for field, value in (
        ("schedulerName", subject.crew.scheduler),
        ("priorityClassName", subject.crew.priority_class),
    ):
        if not spec.get(field) and value:
            spec[field] = value
    spec["restartPolicy"] = runner.retry(job, task).restart_policy
    metadata = metadata_of(task.template)
    own = {
        key: value
        for key, value in mapping(metadata.get("labels")).items()
        if key not in _BATCH_LABELS and not key.startswith(_BATCH_PREFIX)
    }
    added = runner.task_metadata(job, task)
    annotations = {**mapping(metadata.get("annotations")), **added.get("annotations", {})}
    return {
        "metadata": {
            "labels": {**own, **added.get("labels", {}), **labels(subject, name)},
            **({"annotations": annotations} if annotations else {}),
        },
        "spec": runner.pod_spec(job, task, subject.crew, spec),
    }


def labels(subject: Subject, name: str = "") -> dict[str, str]:
    """Return the labels of the objects of a job, or of one of its tasks."""
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
        # Not the label of the controller, which deletes objects with its label that no plugin declares.
        "labels": {key: f"{value}-runner", **labels(subject, name)},
        **({"ownerReferences": [owner]} if crew.uid else {}),
    }
    return {**manifest, "metadata": metadata}


def _named(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {text(manifest["metadata"]["name"]): manifest for manifest in manifests}

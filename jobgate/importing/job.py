"""Imports a job of OpenPAI, protocol version 2, as one Job of Kubernetes per task role, or as a DIJob."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from jobgate.importing.item import NAMESPACED, prerequisite
from jobgate.importing.notes import Notes, listed, mapped, word
from jobgate.importing.template import storages_of, template
from jobgate.names import LABEL_LIMIT
from jobgate.prerequisites.reference import ANNOTATION
from webhook.text import short

#: Maximum length of a name: the API server's limit for indexed Jobs, which DI-orchestrator accepts for DIJobs, too.
_JOB_NAME: Final = 52
_DIJOB: Final = ("diengine.opendilab.org/v2alpha1", "DIJob")
#: The fields that are imported, of a job and of a task role.
_READ: Final = frozenset(
    {"name", "type", "protocol_version", "version", "contributor", "description", "prerequisites", "parameters"}
    | {"task_roles", "job_retry_count", "defaults", "extras"}
)
_READ_OF_ROLE: Final = frozenset(
    {"instances", "docker_image", "resource_per_instance", "commands", "prerequisites", "extra_container_options"}
)

_READ_OF_IMAGE: Final = frozenset({"name", "type", "uri", "protocol_version", "version", "contributor", "description"})


class ImportedKind(StrEnum):
    """The kind that a job is imported as."""

    JOB = "Job"
    DIJOB = "DIJob"


class _JobPrerequisites(NamedTuple):
    """The prerequisites that a job defines, by name: URIs of images, and Prerequisites; `known` lists the names."""

    images: dict[str, str]
    objects: dict[str, dict[str, Any]]
    known: str


def jobs(job: Mapping[str, Any], name: str, target: ImportedKind | None, notes: Notes) -> Iterator[dict[str, Any]]:
    """Yield the Prerequisites of a job of protocol version 2, then its Jobs or its DIJob.

    `name` is for a job without a name. By default a job with one task role becomes a Job, any other job a DIJob.
    """
    roles = mapped(word(job, "task_roles"), "taskRoles", notes)
    if not roles:
        notes.fault("taskRoles", "must have at least one task role")
        return
    if not job.get("name"):
        notes.change(f"the job has no name, and gets that of its file: {name}")
    name = notes.name(job.get("name") or name, "name", _JOB_NAME)
    own = _own(job, name, notes)
    notes.unread(job, _READ, "the job")
    notes.unread(mapped(job.get("extras"), "extras", notes), {"reference_prerequisites", "storages"}, "extras")
    notes.unread(mapped(job.get("defaults"), "defaults", notes), {"virtual_cluster"}, "defaults")
    storages = storages_of(job, notes)
    kind = target or (ImportedKind.JOB if len(roles) == 1 else ImportedKind.DIJOB)
    tasks = []
    for key, value in roles.items():
        path = f"taskRoles.{short(key)}"
        role = mapped(value, path, notes)
        pod = template(role, job, storages, own.images.get(str(word(role, "docker_image"))), path, notes)
        references = list(_references(role, own, path, notes))
        notes.unread(role, _READ_OF_ROLE, path)
        instances = notes.whole(role.get("instances", 1), f"{path}.instances", least=1)
        tasks.append((notes.name(key, path, LABEL_LIMIT), instances, pod, references))
    yield from own.objects.values()
    retries = notes.whole(word(job, "job_retry_count") or 0, "jobRetryCount")
    if kind is ImportedKind.JOB:
        for task, instances, pod, references in tasks:
            job_name = name if len(tasks) == 1 else notes.name(f"{name}-{task}", "name", LABEL_LIMIT)
            yield _job(job_name, instances, pod, references, retries)
    else:
        yield _dijob(job, name, tasks, retries, notes)
    if kind is ImportedKind.JOB and len(tasks) > 1:
        notes.change("each task role is a Job of its own: they start, fail and end by themselves")


def _job(name: str, instances: int, pod: dict[str, Any], references: list[str], retries: int) -> dict[str, Any]:
    metadata = {"metadata": {"annotations": {ANNOTATION: ", ".join(references)}}} if references else {}
    spec = {"backoffLimit": retries, "completions": instances, "parallelism": instances, "completionMode": "Indexed"}
    return _object("batch/v1", "Job", name, {**spec, "template": {**metadata, **pod}})


def _dijob(job: Mapping[str, Any], name: str, tasks: list[Any], retries: int, notes: Notes) -> dict[str, Any]:
    """Return the DIJob. Its tasks have type none, because the other types are for DI-engine."""
    virtual_cluster = word(mapped(job.get("defaults"), "defaults", notes), "virtual_cluster")
    queue = {}
    if virtual_cluster and virtual_cluster != "default":
        queue = {"queue": notes.name(virtual_cluster, "defaults.virtualCluster")}
    parts = [
        {"name": task, "type": "none", "replicas": instances, "template": pod}
        | ({"prerequisites": [{"name": reference} for reference in references]} if references else {})
        for task, instances, pod, references in tasks
    ]
    return _object(*_DIJOB, name, {"backoffLimit": retries, **queue, "tasks": parts})


def _own(job: Mapping[str, Any], name: str, notes: Notes) -> _JobPrerequisites:
    """Read the prerequisites of a job, in `prerequisites` and in `extras.reference_prerequisites`."""
    images: dict[str, str] = {}
    names = set[str]()
    extras = mapped(job.get("extras"), "extras", notes)
    places = (("prerequisites", job), ("reference_prerequisites", extras))
    own = []
    for key, fields in places:
        path = key if fields is job else f"extras.{key}"
        for place, value in enumerate(listed(word(fields, key), path, notes)):
            entry, at = mapped(value, f"{path}[{place}]", notes), f"{path}[{place}]"
            written = str(entry.get("name"))
            if written in names:
                notes.fault(f"{at}.name", f"{short(written)} is defined twice; in OpenPAI the last one won silently")
            names.add(written)
            if entry.get("type") == "dockerimage":
                images[written] = str(entry.get("uri"))
                notes.unread(entry, _READ_OF_IMAGE, at)
            else:
                own.append((written, entry, at))
    object_names = {written: notes.name(f"{name}-{written}", at) for written, _, at in own}

    def local(written: str) -> Mapping[str, str] | None:
        return {"kind": NAMESPACED, "name": object_names[written]} if written in object_names else None

    objects = {}
    for written, entry, at in own:
        objects[written] = prerequisite(entry, NAMESPACED, object_names[written], at, notes, local)
    if object_names:
        notes.change(f"prerequisites of the job's own are Prerequisites of its namespace, called {name}-…")
    return _JobPrerequisites(images, objects, short(", ".join(objects)) or "none")


def _references(role: Mapping[str, Any], own: _JobPrerequisites, path: str, notes: Notes) -> Iterator[str]:
    """Yield the names of the Prerequisites that a role uses, each once."""
    at = f"{path}.prerequisites"
    seen = set()
    for place, entry in enumerate(listed(role.get("prerequisites"), at, notes)):
        written = str(entry)
        if written in own.images:
            notes.change(f"{at}[{place}]: {short(written)} is an image, which has no effect here, as in OpenPAI")
        elif written not in own.objects:
            notes.fault(f"{at}[{place}]", f"the job defines no prerequisite {short(written)}; it has: {own.known}")
        elif written in seen:
            notes.change(f"{at}[{place}]: {short(written)} is named twice, and runs once")
        else:
            seen.add(written)
            name = str(own.objects[written]["metadata"]["name"])
            notes.budget.spend(len(name))
            yield name


def _object(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}

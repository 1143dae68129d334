"""Caches of the objects of all jobs: batch Jobs, Pods, Services, PodGroups and Volcano's Commands, by uid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Final

from jobgate.cluster import IncompleteError, Informer, Resource
from jobgate.controller.owned import JobIndex
from jobgate.jobs.kind import JobKind
from jobgate.plugins.crew import ATTEMPT_LABEL, COMPLETION_INDEX, JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL, TEMPLATE
from jobgate.plugins.queueing import KUEUE_COUNT, KUEUE_GROUP, KUEUE_QUEUE, KUEUE_RETRIABLE
from jobgate.room import Room, Shape, project
from jobgate.runner.lost import SHARES, shares_volume
from jobgate.runner.placement import amounts_of
from jobgate.runner.queues.demand import ASKS, written_amounts
from jobgate.runner.subject import Observed
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

JOBS: Final = Resource("jobs", "v1", "batch")
PODS: Final = Resource("pods", "v1", "")
SERVICES: Final = Resource("services", "v1", "")
#: Created or read, but not watched.
CLAIMS: Final = Resource("persistentvolumeclaims", "v1", "")
#: Created by `vcctl job suspend` and `resume` to request an action on a job.
COMMANDS: Final = Resource("commands", "v1alpha1", "bus.volcano.sh")

#: A job: its kind as `<plural>.<group>`, its namespace and its name.
JobKey = tuple[str, str, str]

_METADATA: Final = {
    **dict.fromkeys(("name", "namespace", "uid", "resourceVersion"), ...),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"), ...),
    "finalizers": [...],
    "labels": dict.fromkeys(
        (RUN_LABEL, KIND_LABEL, JOB_LABEL, TASK_LABEL, ATTEMPT_LABEL, COMPLETION_INDEX, KUEUE_GROUP, KUEUE_QUEUE), ...
    ),
    "annotations": dict.fromkeys((KUEUE_COUNT, KUEUE_RETRIABLE, TEMPLATE), ...),
}
_CONDITIONS: Final = [dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), ...)]
_ENDED: Final = dict.fromkeys(("exitCode", "finishedAt", "reason"), ...)
_CONTAINERS: Final = [
    {
        **dict.fromkeys(("name", "image", "ready", "restartCount"), ...),
        "state": {"running": {"startedAt": ...}, "terminated": _ENDED, "waiting": {"reason": ..., "message": ...}},
        "lastState": {"terminated": _ENDED},
    },
]
_INDICES: Final = ("failedIndexes", "completedIndexes")
_COUNTS: Final = ("active", "succeeded", "failed", "terminating", *_INDICES, "startTime", "completionTime")
#: The fields that are read of each kind, beside metadata.
_READ: Final[Mapping[str, Shape]] = {
    "Pod": {
        "spec": {"nodeName": ..., "schedulingGates": [{"name": ...}]},
        "status": {
            **dict.fromkeys(("phase", "reason", "nominatedNodeName"), ...),
            "conditions": _CONDITIONS,
            "containerStatuses": _CONTAINERS,
            "initContainerStatuses": _CONTAINERS,
        },
    },
    "Job": {
        "spec": dict.fromkeys(("suspend", "completions", "parallelism", "backoffLimit", "backoffLimitPerIndex"), ...),
        "status": {**dict.fromkeys(_COUNTS, ...), "conditions": _CONDITIONS},
    },
    "Service": {},
    "PodGroup": {
        "spec": {
            **dict.fromkeys(("minMember", "queue", "priorityClassName"), ...),
            "schedulingPolicy": {"gang": {"minCount": ...}},
        },
        "status": {"phase": ..., "conditions": _CONDITIONS},
    },
    "Command": {"action": ..., "target": dict.fromkeys(("kind", "name", "uid"), ...)},
}


def keep_object(kind: str, resource: Resource) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that reduces an object to the fields that the plan reads, without templates."""
    api_version = f"{resource.group}/{resource.version}".removeprefix("/")

    def keep(document: dict[str, Any]) -> dict[str, Any]:
        metadata, references = project(document["metadata"], _METADATA), document["metadata"].get("ownerReferences")
        owners = (owner for _, owner in objects(references) if owner.get("controller") is True)
        metadata["ownerReferences"] = [project(owner, {"uid": ..., "controller": ...}) for owner in islice(owners, 1)]
        kept = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **project(document, _READ[kind])}
        if kind == "Pod" and shares_volume(spec_of(document)):
            kept[SHARES] = True
        if kind == "Job":
            kept[ASKS] = written_amounts(amounts_of(mapping(spec_of(document).get("template"))))
            if policy := spec_of(document).get("podFailurePolicy"):
                # The whole: the API server allows more exit codes than `project` keeps of a list.
                kept["spec"]["podFailurePolicy"] = policy
        return kept

    return keep


def controllers_of(document: Mapping[str, Any]) -> set[str]:
    """Return the uids of the controllers of an object; the API server allows at most one."""
    references = objects(metadata_of(document).get("ownerReferences"))
    return {text(owner.get("uid")) for _, owner in references if owner.get("controller") is True}


class Seen:
    """Caches the objects that belong to jobs, and the Commands for them.

    Run the informers with a client that selects our label, except that of Commands, which have no label.
    """

    def __init__(
        self,
        changed: Callable[[JobKey], None],
        groups: Resource | None = None,
        commanded: JobKind | None = None,
        room: Room | None = None,
    ) -> None:
        """Create empty caches. `changed` is called with each job that has a new, changed or deleted object.

        `groups` is the resource of PodGroups to watch, `commanded` the kind whose jobs Commands are for, and `room` the
        memory for all objects.
        """
        self._index = JobIndex(changed)
        self._groups = groups
        self._commanded = commanded
        self._kinds = {JOBS: "Job", PODS: "Pod", SERVICES: "Service"}
        self._kinds |= {groups: "PodGroup"} if groups else {}
        self._kinds |= {COMMANDS: "Command"} if commanded else {}
        self.informers = {
            resource: Informer(
                resource, keep=keep_object(kind, resource), changed=partial(self._take, resource), room=room
            )
            for resource, kind in self._kinds.items()
        }

    def observed(self, uid: str, namespace: str, now: datetime) -> Observed:
        """Return the objects of a job.

        Anyone can write a label. An object counts if it is in the job's namespace, and is owned by the job or, if it is
        a pod, by one of its batch Jobs.

        Raises:
            LookupError: the objects of a resource are not known. PodGroups, which only some jobs need, are then
                `unknown_groups`. If Commands are not installed, there are none.
            IncompleteError: the cache has no room for all objects of the namespace.
        """
        unknown: dict[Resource, str] = {}
        for resource, informer in self.informers.items():
            try:
                informer.check(namespace)
            except IncompleteError:
                raise
            except LookupError as error:
                if resource not in {self._groups, COMMANDS}:
                    raise
                unknown[resource] = str(error)
        by_kind: dict[str, list[Mapping[str, Any]]] = {
            kind: [] for kind in (*self._kinds.values(), "PodGroup", "Command")
        }
        for resource, inside, name in self._index.places(uid):
            if inside != namespace or resource in unknown:
                continue
            if document := self.informers[resource].get(name, inside):
                by_kind[self._kinds[resource]].append(document)
        jobs, services, groups = (
            [document for document in by_kind[kind] if uid in controllers_of(document)]
            for kind in ("Job", "Service", "PodGroup")
        )
        batches = {text(batch["metadata"].get("uid")) for batch in jobs}
        pods = [pod for pod in by_kind["Pod"] if batches.intersection(controllers_of(pod))]
        commands = sorted(by_kind["Command"], key=lambda command: text(command["metadata"].get("creationTimestamp")))
        unknown_groups = unknown.get(self._groups, "") if self._groups else ""
        return Observed(now, jobs, pods, services, groups, unknown_groups, commands=commands)

    def batches(self, uid: str, namespace: str) -> list[Mapping[str, Any]]:
        """Return the batch Jobs of a job.

        Raises:
            LookupError: the batch Jobs are not known.
        """
        informer = self.informers[JOBS]
        informer.check(namespace)
        places = (name for resource, inside, name in self._index.places(uid) if (resource, inside) == (JOBS, namespace))
        batches = filter(None, (informer.get(name, namespace) for name in places))
        return [batch for batch in batches if uid in controllers_of(batch)]

    def pods_of_others(self, key: JobKey, uid: str) -> list[Mapping[str, Any]]:
        """Return the pods of jobs with a key, except those of one job: of deleted jobs, by the labels of the pods."""
        informer, others = self.informers[PODS], [other for other in self._index.uids(key) if other != uid]
        places = (place for other in others for place in self._index.places(other))
        pods = (informer.peek(name, namespace) for resource, namespace, name in places if resource == PODS)
        return [pod for pod in pods if pod is not None]

    def resource(self, kind: str) -> Resource:
        """Return the resource of a kind."""
        return next((resource for resource, name in self._kinds.items() if name == kind), CLAIMS)

    def _take(self, resource: Resource, key: tuple[str, str]) -> None:
        """Index an object that has changed by its job, which its labels name, or the target of a Command."""
        namespace, name = key
        document = self.informers[resource].peek(name, namespace)
        jobs: dict[str, JobKey] = {}
        if document is not None and resource == COMMANDS:
            target, kind = mapping(document.get("target")), self._commanded
            if kind is not None and target.get("kind") == kind.kind:
                jobs[text(target.get("uid"))] = (kind.qualified_plural, namespace, text(target.get("name")))
        elif document is not None:
            labels = labels_of(document)
            jobs[text(labels.get(RUN_LABEL))] = (
                text(labels.get(KIND_LABEL)),
                namespace,
                text(labels.get(JOB_LABEL)),
            )
        self._index.put((resource, namespace, name), jobs)

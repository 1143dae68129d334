"""What is there of all jobs that are run: batch Jobs, Pods, Services, PodGroups and Volcano's Commands, by uid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, Final

from jobgate.cluster import IncompleteError, Informer, Resource
from jobgate.controller.owned import JobIndex
from jobgate.jobs.kind import JobKind
from jobgate.plugins.crew import ATTEMPT_LABEL, COMPLETION_INDEX, JOB_LABEL, KIND_LABEL, RUN_LABEL, TASK_LABEL
from jobgate.plugins.queueing import KUEUE_COUNT, KUEUE_GROUP, KUEUE_RETRIABLE
from jobgate.room import Room, Shape, project
from jobgate.runner.queues.demand import ASKS, amounts_of, written_amounts
from jobgate.runner.subject import Observed
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

JOBS: Final = Resource("jobs", "v1", "batch")
PODS: Final = Resource("pods", "v1", "")
SERVICES: Final = Resource("services", "v1", "")
#: Made, or looked for, and not followed.
CLAIMS: Final = Resource("persistentvolumeclaims", "v1", "")
#: By these, `vcctl job suspend` and `resume` ask for an action on a job.
COMMANDS: Final = Resource("commands", "v1alpha1", "bus.volcano.sh")

#: Of which job something is: its kind as `<plural>.<group>`, its namespace and its name.
JobKey = tuple[str, str, str]

_METADATA: Final = {
    **dict.fromkeys(("name", "namespace", "uid", "resourceVersion"), ...),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"), ...),
    "finalizers": [...],
    "labels": dict.fromkeys(
        (RUN_LABEL, KIND_LABEL, JOB_LABEL, TASK_LABEL, ATTEMPT_LABEL, COMPLETION_INDEX, KUEUE_GROUP), ...
    ),
    "annotations": dict.fromkeys((KUEUE_COUNT, KUEUE_RETRIABLE), ...),
}
_CONDITIONS: Final = [dict.fromkeys(("type", "status", "reason", "message", "lastTransitionTime"), ...)]
_CONTAINERS: Final = [
    {"name": ..., "ready": ..., "restartCount": ..., "state": {"terminated": {"exitCode": ..., "finishedAt": ...}}},
]
_COUNTS: Final = ("active", "succeeded", "failed", "terminating", "failedIndexes", "startTime", "completionTime")
#: The fields that are read of each kind, beside metadata.
_READ: Final[Mapping[str, Shape]] = {
    "Pod": {
        "spec": {"nodeName": ...},
        "status": {
            "phase": ...,
            "reason": ...,
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
    """Return what makes of an object what is remembered: what the plan reads, without templates and specs."""
    api_version = f"{resource.group}/{resource.version}".removeprefix("/")

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        metadata = project(found["metadata"], _METADATA)
        owners = (one for _, one in objects(found["metadata"].get("ownerReferences")) if one.get("controller") is True)
        metadata["ownerReferences"] = [project(one, {"uid": ..., "controller": ...}) for one in islice(owners, 1)]
        kept = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **project(found, _READ[kind])}
        if kind == "Job":
            kept[ASKS] = written_amounts(amounts_of(mapping(spec_of(found).get("template"))))
        return kept

    return keep


def controllers_of(found: Mapping[str, Any]) -> set[str]:
    """Return the uids of the controllers of an object; the API server lets it have one."""
    references = objects(metadata_of(found).get("ownerReferences"))
    return {text(one.get("uid")) for _, one in references if one.get("controller") is True}


class Seen:
    """All that is made for jobs, and the Commands for them.

    The informers are to be run with a client that sees our label only, except that of Commands, which have none.
    """

    def __init__(
        self,
        changed: Callable[[JobKey], None],
        groups: Resource | None = None,
        commanded: JobKind | None = None,
        room: Room | None = None,
    ) -> None:
        """Know nothing yet. `changed` is called with each job of which something came, went or changed.

        `groups` are the PodGroups that are followed, `commanded` is the kind whose jobs Commands are for, `room` is for
        all that is there.
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
        """Return what is there of a job now.

        Anyone can write a label: what counts is in the job's namespace, and is owned by the job or, of pods, by one
        of its batch Jobs.

        Raises:
            LookupError: what there is of a resource is not known, which is not the same as nothing. PodGroups, which
                only some jobs need, are then `unknown_groups`. Where Commands are not installed, there are none.
            IncompleteError: there is no room for all that is there of the namespace.
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
        found: dict[str, list[Mapping[str, Any]]] = {
            kind: [] for kind in (*self._kinds.values(), "PodGroup", "Command")
        }
        for resource, inside, name in self._index.places(uid):
            if inside == namespace and resource not in unknown and (one := self.informers[resource].get(name, inside)):
                found[self._kinds[resource]].append(one)
        jobs, services, groups = (
            [one for one in found[kind] if uid in controllers_of(one)] for kind in ("Job", "Service", "PodGroup")
        )
        batches = {text(one["metadata"].get("uid")) for one in jobs}
        pods = [one for one in found["Pod"] if batches.intersection(controllers_of(one))]
        commands = sorted(found["Command"], key=lambda one: text(one["metadata"].get("creationTimestamp")))
        unknown_groups = unknown.get(self._groups, "") if self._groups else ""
        return Observed(now, jobs, pods, services, groups, unknown_groups, commands=commands)

    def batches(self, uid: str, namespace: str) -> list[Mapping[str, Any]]:
        """Return the batch Jobs of a job.

        Raises:
            LookupError: they are not known.
        """
        informer = self.informers[JOBS]
        informer.check(namespace)
        places = (name for resource, inside, name in self._index.places(uid) if (resource, inside) == (JOBS, namespace))
        found = filter(None, (informer.get(name, namespace) for name in places))
        return [one for one in found if uid in controllers_of(one)]

    def pods_of_others(self, key: JobKey, uid: str) -> list[Mapping[str, Any]]:
        """Return the pods of jobs with a key, except those of one job: of deleted jobs, by the labels of the pods."""
        informer, others = self.informers[PODS], [other for other in self._index.uids(key) if other != uid]
        places = (place for other in others for place in self._index.places(other))
        pods = (informer.peek(name, namespace) for resource, namespace, name in places if resource == PODS)
        return [pod for pod in pods if pod is not None]

    def resource(self, kind: str) -> Resource:
        """Return the resource of a kind of these objects."""
        return next((resource for resource, name in self._kinds.items() if name == kind), CLAIMS)

    def _take(self, resource: Resource, key: tuple[str, str]) -> None:
        """Update whose an object that has changed is, by its labels, or by the target of a Command."""
        namespace, name = key
        found = self.informers[resource].peek(name, namespace)
        jobs: dict[str, JobKey] = {}
        if found is not None and resource == COMMANDS:
            target, kind = mapping(found.get("target")), self._commanded
            if kind is not None and target.get("kind") == kind.kind:
                jobs[text(target.get("uid"))] = (kind.qualified_plural, namespace, text(target.get("name")))
        elif found is not None:
            labels = labels_of(found)
            jobs[text(labels.get(RUN_LABEL))] = (
                text(labels.get(KIND_LABEL)),
                namespace,
                text(labels.get(JOB_LABEL)),
            )
        self._index.put((resource, namespace, name), jobs)

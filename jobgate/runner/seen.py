"""What is there of all jobs that are run: batch Jobs, Pods, Services and PodGroups, by the uid of their job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from jobgate.cluster import Informer, Resource
from jobgate.controller.owned import JobIndex
from jobgate.kinds.common.members import labels_of
from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, text
from jobgate.plugins.crew import JOB_LABEL, KIND_LABEL, RUN_LABEL
from jobgate.runner.subject import Observed

JOBS: Final = Resource("jobs", "v1", "batch")
PODS: Final = Resource("pods", "v1", "")
SERVICES: Final = Resource("services", "v1", "")
#: Made, or looked for, and not followed.
CLAIMS: Final = Resource("persistentvolumeclaims", "v1", "")
#: Volcano's, and not made here: `commands` follows them.
COMMANDS: Final = Resource("commands", "v1alpha1", "bus.volcano.sh")
_OTHERS: Final = {"PersistentVolumeClaim": CLAIMS, "Command": COMMANDS}

#: Of which job something is: its kind as `<plural>.<group>`, its namespace and its name.
JobKey = tuple[str, str, str]

_METADATA: Final = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "ownerReferences",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_POD_STATUS: Final = ("phase", "reason", "conditions", "containerStatuses", "initContainerStatuses")
_JOB_SPEC: Final = ("suspend", "completions", "parallelism", "backoffLimit")


def keep_object(kind: str, api_version: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return what makes of an object what is remembered: what the plan reads, without templates and specs."""

    def keep(found: dict[str, Any]) -> dict[str, Any]:
        metadata = {key: found["metadata"][key] for key in _METADATA if key in found["metadata"]}
        slim: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
        if kind == "Pod":
            status = mapping(found.get("status"))
            slim["status"] = {key: status[key] for key in _POD_STATUS if key in status}
        elif kind == "Job":
            spec = mapping(found.get("spec"))
            slim |= {"spec": {key: spec[key] for key in _JOB_SPEC if key in spec}, "status": found.get("status")}
        elif kind == "PodGroup":
            slim |= {"spec": found.get("spec"), "status": found.get("status")}
        return slim

    return keep


def controllers_of(found: Mapping[str, Any]) -> set[str]:
    """Return the uids of the controllers of an object; the API server lets it have one."""
    references = objects(metadata_of(found).get("ownerReferences"))
    return {text(one.get("uid")) for _, one in references if one.get("controller") is True}


class Seen:
    """All that is made for jobs. The informers are to be run with a client that sees our label only."""

    def __init__(self, changed: Callable[[JobKey], None], groups: Resource | None) -> None:
        """Know nothing yet.

        Args:
            changed: called with each job of which something came, went or changed.
            groups: the PodGroups that are followed, or None.
        """
        self._index = JobIndex(changed)
        self._groups = groups
        kinds = {JOBS: ("Job", "batch/v1"), PODS: ("Pod", "v1"), SERVICES: ("Service", "v1")}
        if groups is not None:
            kinds[groups] = ("PodGroup", f"{groups.group}/{groups.version}")
        self._kinds = kinds
        self.informers = {
            resource: Informer(resource, keep=keep_object(*kind), changed=partial(self._take, resource))
            for resource, kind in kinds.items()
        }

    def observed(self, uid: str, namespace: str, now: datetime) -> Observed:
        """Return what is there of a job now.

        Anyone can write a label: what counts is in the job's namespace, and is owned by the job or, of pods, by one
        of its batch Jobs.

        Raises:
            LookupError: what there is of a resource is not known, which is not the same as nothing. PodGroups, which
                only some jobs need, are then `unknown_groups`.
        """
        unknown_groups = ""
        for resource, informer in self.informers.items():
            try:
                informer.get("")
            except LookupError as error:
                if resource != self._groups:
                    raise
                unknown_groups = str(error)
        found: dict[str, list[Mapping[str, Any]]] = {"Job": [], "Pod": [], "Service": [], "PodGroup": []}
        for resource, one in self._of(uid, namespace, without=self._groups if unknown_groups else None):
            found[self._kinds[resource][0]].append(one)
        for kind in ("Job", "Service", "PodGroup"):
            found[kind] = [one for one in found[kind] if uid in controllers_of(one)]
        batches = {text(one["metadata"].get("uid")) for one in found["Job"]}
        found["Pod"] = [one for one in found["Pod"] if batches.intersection(controllers_of(one))]
        return Observed(now, found["Job"], found["Pod"], found["Service"], found["PodGroup"], unknown_groups)

    def resource(self, kind: str) -> Resource:
        """Return the resource of a kind of these objects."""
        if kind in _OTHERS:
            return _OTHERS[kind]
        return next(resource for resource, (name, _) in self._kinds.items() if name == kind)

    def _of(self, uid: str, inside: str, without: Resource | None) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
        for resource, namespace, name in self._index.places(uid):
            if namespace != inside or resource == without:
                continue
            if found := self.informers[resource].get(name, namespace):
                yield resource, found

    def _take(self, resource: Resource, key: tuple[str, str]) -> None:
        """Update whose an object that has changed is, by its labels."""
        namespace, name = key
        found = self.informers[resource].get(name, namespace)
        jobs: dict[str, JobKey] = {}
        if found is not None:
            labels = labels_of(found)
            jobs[text(labels.get(RUN_LABEL))] = (
                text(labels.get(KIND_LABEL)),
                namespace,
                text(labels.get(JOB_LABEL)),
            )
        self._index.put((resource, namespace, name), jobs)

"""What all operators do: see what a job's objects should be, make those that are missing, delete those too many."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from controlplane.client import JSON_PATCH, ClusterApi
from controlplane.operators.resources import Child, Object, Resource, is_terminating, owner_uids

# What of a job is there already, by resource; what is being deleted is left out.
Present = Mapping[Resource, Sequence[Object]]

# As often does Kubernetes' Go client repeat a request that is answered by "too many requests, try again".
_MOST_RETRIES = 10


@dataclass
class SyncReport:
    """What a sync did. Objects are called as kubectl calls them: `pods/walker-learner-0`."""

    created: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    # What the API server rejected, or the operator gave up, and why.
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.created or self.deleted or self.rewritten or self.refused)


class Operator(ABC):
    """Makes the objects of all jobs of one kind.

    A sync does what the original does in one pass over each job. It does not wait: what one pass deletes, a later pass
    creates again.
    """

    jobs: ClassVar[Resource]
    # What it makes, in the order in which it does.
    makes: tuple[Resource, ...]
    # A label that all of it has: others too may make objects that the job owns.
    mark: ClassVar[str] = ""
    # Of what resources it follows the `data` that it wants.
    rewrites: ClassVar[tuple[Resource, ...]] = ()

    def __init__(self, api: ClusterApi, namespace: str = "", *, sleep: Callable[[float], None] = time.sleep) -> None:
        """It acts with the rights of `api`, in one namespace, or in all."""
        self.api = api
        self.namespace = namespace
        self._sleep = sleep

    @abstractmethod
    def wanted(self, job: Object, present: Present) -> Iterable[Child]:
        """All objects that the job should have, those that it has included."""

    def take_up(self, job: Object, report: SyncReport) -> Object | None:
        """Write to the job itself; return the job to continue with, or None to stop."""
        return job

    def is_of(self, job: Object, stored: Object) -> bool:
        """Whether a stored object is one that this operator made for the job."""
        is_marked = not self.mark or self.mark in (stored["metadata"].get("labels") or {})
        return is_marked and job["metadata"]["uid"] in owner_uids(stored)

    def failed(self, job: Object, pods: Sequence[Object]) -> Sequence[Object]:
        """Those of the job's pods that are deleted so that others take their places."""
        return ()

    def surplus(
        self, job: Object, resource: Resource, present: Sequence[Object], names: Collection[str]
    ) -> Sequence[Object]:
        """Those that are there and too many: whose names it does not want."""
        return [one for one in present if one["metadata"]["name"] not in names]

    def sync(self) -> SyncReport:
        """Do all that there is to do now for every job."""
        report = SyncReport()
        for job in self.items(self.jobs, self.namespace):
            if not is_terminating(job) and (taken := self.take_up(job, report)) is not None:
                self._reconcile(taken, report)
        return report

    async def run(self, every: float = 0.5) -> None:
        """Sync again and again, seconds apart, until cancelled."""
        while True:
            sync = asyncio.ensure_future(asyncio.to_thread(self.sync))
            try:
                await asyncio.shield(sync)
            except asyncio.CancelledError:
                # A thread cannot be cancelled, and whoever cancels us may close its connection next.
                await sync
                raise
            await asyncio.sleep(every)

    def items(self, resource: Resource, namespace: str = "") -> list[Object]:
        """All objects of the resource."""
        status, answer = self.api.get(resource.path(namespace))
        if status != 200:
            raise RuntimeError(f"{resource.plural}: {answer.get('message', answer)}")
        items: list[Object] = answer["items"]
        return items

    def create(self, child: Child, report: SyncReport) -> None:
        """Make it. An answer that asks for patience is waited out, as the Go client does without a word."""
        name = f"{child.resource.plural}/{child.name}"
        path = child.resource.path(child.body["metadata"]["namespace"])
        for _ in range(_MOST_RETRIES):
            status, answer = self.api.post(path, child.body)
            if status != 429:
                break
            self._sleep(float((answer.get("details") or {}).get("retryAfterSeconds", 1)))
        if status == 201:
            report.created.append(name)
        else:
            report.refused[name] = str(answer.get("message", answer))

    def delete(self, resource: Resource, stored: Object, report: SyncReport) -> None:
        """Delete it, with all that is its."""
        metadata = stored["metadata"]
        path = resource.path(metadata["namespace"], metadata["name"])
        status, answer = self.api.delete(path, {"propagationPolicy": "Background"})
        if status in {200, 202}:
            report.deleted.append(f"{resource.plural}/{metadata['name']}")
        elif status != 404:
            report.refused[f"{resource.plural}/{metadata['name']}"] = str(answer.get("message", answer))

    def _reconcile(self, job: Object, report: SyncReport) -> None:
        namespace = job["metadata"]["namespace"]
        stored = {
            resource: [one for one in self.items(resource, namespace) if self.is_of(job, one)]
            for resource in self.makes
        }
        present = {resource: [one for one in all_ if not is_terminating(one)] for resource, all_ in stored.items()}
        wanted = list(self.wanted(job, present))
        names = {resource: {one.name for one in wanted if one.resource == resource} for resource in self.makes}
        for resource in self.makes:
            too_many = self.surplus(job, resource, present[resource], names[resource])
            for one in [*too_many, *self._to_replace(job, resource, present, too_many)]:
                self.delete(resource, one, report)
        for child in wanted:
            old = next((one for one in stored[child.resource] if one["metadata"]["name"] == child.name), None)
            if old is None:
                self.create(child, report)
            elif child.resource in self.rewrites and old.get("data") != child.body["data"]:
                self._rewrite(child, report)

    def _rewrite(self, child: Child, report: SyncReport) -> None:
        name = f"{child.resource.plural}/{child.name}"
        path = child.resource.path(child.body["metadata"]["namespace"], child.name)
        place = [{"op": "replace", "path": "/data", "value": child.body["data"]}]
        status, answer = self.api.patch(path, place, content_type=JSON_PATCH)
        if status == 200:
            report.rewritten.append(name)
        else:
            report.refused[name] = str(answer.get("message", answer))

    def _to_replace(
        self, job: Object, resource: Resource, present: Present, too_many: Sequence[Object]
    ) -> Sequence[Object]:
        if resource.kind != "Pod":
            return ()
        return [one for one in self.failed(job, present[resource]) if one not in too_many]


def appended(containers: Iterable[Mapping[str, Any]], env: Sequence[Mapping[str, Any]]) -> list[Object]:
    """The containers, each with these variables after its own, whatever they are called."""
    return [{**container, "env": [*(container.get("env") or ()), *env]} for container in containers]


def variable(name: str, value: object) -> Object:
    """An environment variable."""
    return {"name": name, "value": str(value)}

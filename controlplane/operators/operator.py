"""The base of all operators: create the missing objects of a job, and delete its surplus objects."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from controlplane.client import JSON_PATCH, ClusterApi
from controlplane.operators.resources import Child, Object, Resource, is_terminating, owner_uids

# The existing objects of a job, by resource, except objects that are being deleted.
Present = Mapping[Resource, Sequence[Object]]

# How often Kubernetes' Go client repeats a request that gets 429 (Too Many Requests).
_MOST_RETRIES = 10


@dataclass
class SyncReport:
    """The changes of a sync. Objects are named as kubectl names them: `pods/walker-learner-0`."""

    created: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    # Objects that the API server rejected, or the operator cannot run, and why.
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.created or self.deleted or self.rewritten or self.refused)


class Operator(ABC):
    """Creates and deletes the objects of all jobs of one kind.

    A sync does what the original operator does in one pass over each job. It does not wait: a later pass creates again
    what this pass deletes.
    """

    jobs: ClassVar[Resource]
    # The resources that it creates, in this order.
    creates: tuple[Resource, ...]
    # A label of all objects that it creates: a job may own objects of other programs.
    mark: ClassVar[str] = ""
    # Resources of which it updates `data`.
    rewrites: ClassVar[tuple[Resource, ...]] = ()

    def __init__(self, api: ClusterApi, namespace: str = "", *, sleep: Callable[[float], None] = time.sleep) -> None:
        """Act with the rights of `api`, in one namespace, or in all."""
        self.api = api
        self.namespace = namespace
        self._sleep = sleep

    @abstractmethod
    def wanted(self, job: Object, present: Present) -> Iterable[Child]:
        """Return all objects that the job should have, existing ones included."""

    def prepare(self, job: Object, report: SyncReport) -> Object | None:
        """Update the job itself; return the job to continue with, or None to skip it."""
        return job

    def belongs_to(self, job: Object, stored: Object) -> bool:
        """Whether this operator created the stored object for the job."""
        is_marked = not self.mark or self.mark in (stored["metadata"].get("labels") or {})
        return is_marked and job["metadata"]["uid"] in owner_uids(stored)

    def failed(self, job: Object, pods: Sequence[Object]) -> Sequence[Object]:
        """Return the pods of the job to delete, so that they are replaced."""
        return ()

    def surplus(
        self, job: Object, resource: Resource, present: Sequence[Object], names: Collection[str]
    ) -> Sequence[Object]:
        """Return the existing objects that the job should not have, by their names."""
        return [each for each in present if each["metadata"]["name"] not in names]

    def sync(self) -> SyncReport:
        """Do one pass over every job."""
        report = SyncReport()
        for job in self.items(self.jobs, self.namespace):
            if not is_terminating(job) and (prepared := self.prepare(job, report)) is not None:
                self._reconcile(prepared, report)
        return report

    async def run(self, every: float = 0.5) -> None:
        """Sync every few seconds, until cancelled."""
        while True:
            sync = asyncio.ensure_future(asyncio.to_thread(self.sync))
            try:
                await asyncio.shield(sync)
            except asyncio.CancelledError:
                # A thread cannot be cancelled, and the caller may close the connection next.
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
        """Create it. After 429 (Too Many Requests) wait and try again, as the Go client does."""
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
        """Delete it, and its dependents."""
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
            resource: [each for each in self.items(resource, namespace) if self.belongs_to(job, each)]
            for resource in self.creates
        }
        present = {resource: [each for each in all_ if not is_terminating(each)] for resource, all_ in stored.items()}
        wanted = list(self.wanted(job, present))
        names = {resource: {each.name for each in wanted if each.resource == resource} for resource in self.creates}
        for resource in self.creates:
            too_many = self.surplus(job, resource, present[resource], names[resource])
            for each in [*too_many, *self._to_replace(job, resource, present, too_many)]:
                self.delete(resource, each, report)
        for child in wanted:
            old = next((each for each in stored[child.resource] if each["metadata"]["name"] == child.name), None)
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
        self, job: Object, resource: Resource, present: Present, surplus: Sequence[Object]
    ) -> Sequence[Object]:
        if resource.kind != "Pod":
            return ()
        return [pod for pod in self.failed(job, present[resource]) if pod not in surplus]


def appended(containers: Iterable[Mapping[str, Any]], env: Sequence[Mapping[str, Any]]) -> list[Object]:
    """The containers with these variables appended, even if a container has variables of the same names."""
    return [{**container, "env": [*(container.get("env") or ()), *env]} for container in containers]


def variable(name: str, value: object) -> Object:
    """An environment variable."""
    return {"name": name, "value": str(value)}

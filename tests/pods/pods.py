"""Jobs, their pods as operators make them, and what is known of them: small makers for tests."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.vcjob import VCJOB
from jobgate.plugins import Member, Pod, wire
from jobgate.pods import Digest, Lookup, PodReviewer, Read, digest_of
from jobgate.pods.budget import Budget
from tests.kinds.dijob import jobs
from webhook import Draft, Operation, Phase, Request, Response

NAMESPACE, UID = "team", "11111111-2222-4333-8444-555555555555"
OTHER_UID = "99999999-2222-4333-8444-555555555555"
KINDS = (DIJOB, VCJOB)


def job(
    *tasks: dict[str, Any], uid: str = UID, name: str = "train", plugins: Any = None, **spec: Any
) -> dict[str, Any]:
    """Return a stored DIJob with a task `work` of two pods, which asks for env."""
    given = tasks or (jobs.task(name="work", replicas=2),)
    metadata = {"name": name, "namespace": NAMESPACE, "uid": uid, "resourceVersion": "1"}
    asked = {"env": []} if plugins is None else plugins
    return jobs.job(*given, metadata=metadata, plugins=asked, **spec)


def owner(uid: str = UID, name: str = "train") -> dict[str, Any]:
    """Return the owner reference of a DIJob."""
    words = {"kind": "DIJob", "name": name, "uid": uid, "controller": True}
    return {"apiVersion": "diengine.opendilab.org/v2alpha1", **words}


def pod(
    index: int | str = 0, *, task: str = "work", name: str = "train", uid: str | None = UID, **spec: Any
) -> dict[str, Any]:
    """Return a pod as DI-orchestrator makes it; with no owner where the uid is None."""
    labels = {"diengine/operator": "di-operator", "diengine/job": name, "diengine/task-name": task}
    metadata: dict[str, Any] = {"name": f"{name}-{task}-{index}", "namespace": NAMESPACE, "labels": labels}
    if uid is not None:
        metadata["ownerReferences"] = [owner(uid, name)]
    container = {"name": "main", "image": "ding", "env": [{"name": "MINE", "value": "$(VC_TASK_INDEX)"}]}
    sidecar = {"name": "proxy", "image": "proxy"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container, sidecar], "restartPolicy": "Never", **spec},
    }


def marked_pod(index: str = "0", *, kind: str = "dijobs.diengine.opendilab.org", **labels: str) -> dict[str, Any]:
    """Return a plain pod with our labels."""
    result = pod(uid=None)
    words = {"kind": kind, "job": "train", "task": "work", "index": index, **labels}
    result["metadata"]["labels"] = {f"jobgate.dev/{key}": value for key, value in words.items()}
    return result


def patch(document: dict[str, Any], member: Member) -> Sequence[Mapping[str, Any]]:
    """Return the RFC 6902 operations that wire a pod."""
    draft = Draft(document)
    wire(Pod(draft, member))
    return draft.patch


class Known:
    """A cache that holds what it is given; `lost`, it knows nothing."""

    def __init__(self, *documents: Mapping[str, Any], lost: bool = False) -> None:
        self.digests = {document["metadata"]["name"]: digest_of(DIJOB, dict(document)) for document in documents}
        self.lost = lost

    def get(self, name: str, namespace: str = "") -> Digest | None:
        if self.lost:
            raise LookupError(name)
        return self.digests.get(name) if namespace == NAMESPACE else None


class Cluster:
    """An API server that answers with what it is given, and counts; `slow`, it waits for the word."""

    def __init__(
        self, *documents: Mapping[str, Any], fails: Exception | None = None, slow: asyncio.Event | None = None
    ) -> None:
        self.documents = {document["metadata"]["name"]: dict(document) for document in documents}
        self.fails = fails
        self.slow = slow
        self.asked: list[str] = []

    async def fetch(self, name: str, namespace: str) -> Read | None:
        self.asked.append(f"{namespace}/{name}")
        if self.slow is not None:
            await self.slow.wait()
        if self.fails is not None:
            raise self.fails
        result = self.documents.get(name)
        return None if result is None else digest_of(DIJOB, result)


class Clock:
    """A clock that goes when it is reported to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def lookup(known: Known, cluster: Cluster, clock: Clock | None = None, **budget: float) -> Lookup:
    """Return a lookup of DIJobs over these."""
    clock = clock or Clock()
    return Lookup("DIJob", known, cluster.fetch, Budget(clock, **budget), clock)


def reviewer(known: Known | None = None, cluster: Cluster | None = None, *, enforces: bool = True) -> PodReviewer:
    """Return a reviewer of the pods of DIJobs; without more, one of a job `train` that is known."""
    return PodReviewer([(DIJOB, lookup(known or Known(job()), cluster or Cluster()))], enforces=enforces)


def request(document: Any, **fields: Any) -> Request:
    """Return the request to create a pod."""
    words = {"uid": "1", "api_version": "v1", "kind": "Pod", "operation": Operation.CREATE, "namespace": NAMESPACE}
    return Request(**(words | {"document": document} | fields))


async def answer(found: PodReviewer, document: Any, phase: Phase = Phase.MUTATE, **fields: Any) -> Response | None:
    """Return the answer for a pod."""
    return await found.review(request(document, **fields), phase)

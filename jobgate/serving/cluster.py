"""The server's view of its cluster: objects that rules look up, and jobs that pods belong to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jobgate.cluster import Backoff, Cache, Informer, Resource
from jobgate.cluster.access import is_allowed
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import CustomKind, JobKind
from jobgate.jobs.prerequisites import UNKNOWN_ITEMS, USE, WATCHED, wanted
from jobgate.jobs.scale import SCALE, scalable, scale_path
from jobgate.jobs.wiring import ITEMS_PATH, PATHS, WORKLOADS_PATH, followed, jobs_of
from jobgate.pods import Digests, ItemReviewer, PermissionCache, PodReviewer, Prerequisites, Read, WorkloadReviewer
from jobgate.pods.access import Question
from jobgate.pods.digest import ENTRIES_ROOM, ROOM
from jobgate.prerequisites.reference import RESOURCES
from jobgate.prerequisites.stored import ItemStore
from jobgate.room import Room
from jobgate.serving.certificate import connected
from jobgate.serving.metrics import CountedLookup, ServingMetrics
from jobgate.serving.scale import ScaleReviewer
from webhook import Kind, Phase, Registry, Request, Response, User
from webhook.server import Endpoint, Route

#: Requests wait for jobs and items to be known: the backoff bounds how long a newly installed kind stays unknown.
BACKOFF = Backoff(first=1.0, most=10.0)


class ClusterView:
    """The caches of a server, and the reviewers that use them."""

    def __init__(
        self,
        kinds: Registry[CustomKind],
        settings: Settings | None = None,
        *,
        reached: bool,
        kubeconfig: Path | None = None,
        metrics: ServingMetrics | None = None,
    ) -> None:
        """Create an empty view; `run` fills it.

        If no cluster is `reached`, nothing waits for caches, and pods of jobs are denied, because they might lack
        what their job requests. Without a kubeconfig, the pod's service account is used.
        """
        metrics = metrics or ServingMetrics()
        resources = sorted({*WATCHED, *(resource for kind in kinds for resource in kind.watches)})
        stored = ItemStore()
        self.cache = Cache(
            resources, BACKOFF, keeps=dict.fromkeys(RESOURCES.values(), stored.keep), relist=stored.has_room
        )
        self.access = PermissionCache(self._may, time.monotonic)
        self.reached = reached
        self._kubeconfig = kubeconfig
        #: The client of the API server; None while there is none.
        self.client: Any = None
        room, entries = Room(ROOM), Room(ENTRIES_ROOM)
        self._jobs = [
            (
                kind,
                digests,
                Informer(Resource.parse(jobs_of(kind)), BACKOFF, keep=digests.of, room=entries, weigh=lambda _: 0),
            )
            for kind in followed(kinds)
            for digests in (Digests(kind, settings, room),)
        ]
        pods = [
            (kind, CountedLookup(kind, known, partial(self._fetch, kind, digests), metrics))
            for kind, digests, known in self._jobs
        ]
        self.enforces = settings is None or settings.enforces
        prerequisites = Prerequisites(self.cache, self.access, settings.runs if settings else ())
        self.pods = PodReviewer(pods, prerequisites, enforces=self.enforces, lacking=kinds.lacking)
        self.workloads = WorkloadReviewer(prerequisites, pods, enforces=self.enforces)
        asks = (self.cache, self.access) if reached else (None, None)
        self.items = ItemReviewer(*asks, enforces=self.enforces)
        self.scales = [
            ScaleReviewer(
                kind,
                kinds,
                partial(self._job, kind) if reached else None,
                lambda: settings or Settings(),
                self.cache,
                access=self.access if reached else None,
            )
            for kind in scalable(kinds)
        ]
        if reached:
            for resource, known in self.cache.informers.items():
                metrics.watch_age(resource, known)
            for kind, _, jobs in self._jobs:
                metrics.watch_age(jobs_of(kind), jobs)

    def serve(self, endpoint: Endpoint[Settings]) -> None:
        """Make an endpoint wait for the caches and, with a cluster, check permissions; apply its limits to scale."""
        endpoint.waits_for = self.waits_for
        for scale in self.scales:
            scale.limits, scale.review_thread = endpoint.limits, endpoint.review_thread
            scale.settings = lambda: endpoint.settings
        endpoint.needs = self.needs
        if self.reached:
            endpoint.access = self.access

    def waits_for(self) -> str:
        """Return the resources to list before jobs and pods can be reviewed; empty when all are listed.

        Permissions to use prerequisites cannot be checked without them, so their list must succeed. Objects of other
        resources are looked up one by one, or checked by the API server too.
        """
        if not self.reached:
            return ""
        jobs = [kind.qualified_plural for kind, _, jobs in self._jobs if not jobs.settled]
        unlisted = [
            resource
            for resource, known in self.cache.informers.items()
            if not (known.learned if resource in WATCHED else known.settled)
        ]
        return ", ".join([*jobs, *unlisted])

    async def run(self) -> None:
        """Keep everything up to date, until cancelled."""
        if not self.reached:
            return
        self.client = await connected(self._kubeconfig)
        async with self.client as client, asyncio.TaskGroup() as group:
            group.create_task(self.cache.run(client))
            for _, _, jobs in self._jobs:
                group.create_task(jobs.run(client))

    def needs(self, kind: Kind, request: Request) -> Response | Awaitable[Response | None] | None:
        """Return an awaitable that looks up the permissions that a review needs; None if all are known.

        If they cannot be known now, return a response that asks the client to retry.
        """
        if not isinstance(kind, JobKind):
            return None
        try:
            items = wanted(kind, request, self.cache)
        except LookupError:
            return Response(request.uid, later=UNKNOWN_ITEMS)
        questions = [(request.user, USE, resource, name, request.namespace) for resource, name in items]
        return self._learn(request, questions) if self.access.lacks(questions) else None

    async def _learn(self, request: Request, questions: Sequence[Question]) -> Response | None:
        await self.access.learn(questions)
        answers = {self.access.may(*question) for question in questions}
        if None not in answers or False in answers:
            return None
        return Response(
            request.uid, later=f"what user {request.user.name!r} may use cannot be checked now: retry in 1s"
        )

    async def _may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool:
        """Return whether a user may do something with an object, by a SubjectAccessReview."""
        if self.client is None:
            raise LookupError("not connected to a cluster")
        path, _, group = resource.split(".", 2)
        plural, _, subresource = path.partition("/")
        attributes = {"verb": verb, "group": group, "resource": plural, "subresource": subresource}
        return await is_allowed(self.client, user.name, user.groups, **attributes, name=name, namespace=namespace)

    async def _fetch(self, kind: JobKind, digests: Digests, name: str, namespace: str) -> Read | None:
        """Read one job."""
        job = await self._job(kind, name, namespace)
        return None if job is None else digests.read(job)

    async def _job(self, kind: CustomKind, name: str, namespace: str) -> dict[str, Any] | None:
        """Read one job, as it is stored."""
        if self.client is None:
            raise LookupError("not connected to a cluster")
        job: dict[str, Any] | None = await self.client.get(Resource.parse(jobs_of(kind)), name, namespace)
        return job


def routes(cluster: ClusterView) -> Mapping[str, Route]:
    """Return the routes of pods, workloads, prerequisites and scale subresources."""
    return {
        **{
            scale_path(scale.kind): Route(f"{scale.kind.qualified_plural}/{SCALE}", Phase.VALIDATE, scale.review)
            for scale in cluster.scales
        },
        **{path: Route("pods", phase, partial(cluster.pods.review, phase=phase)) for phase, path in PATHS.items()},
        WORKLOADS_PATH: Route("workloads", Phase.VALIDATE, cluster.workloads.review),
        ITEMS_PATH: Route("prerequisites", Phase.VALIDATE, cluster.items.review),
    }

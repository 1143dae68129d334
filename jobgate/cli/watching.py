"""Knowing the cluster beside serving: what rules look up, and the jobs whose pods are wired, in the background."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import time
from collections.abc import Awaitable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jobgate.cli.extras import NotInstalled
from jobgate.cli.gauges import CountedLookup, pod_lookups, watch_age
from jobgate.cluster import Backoff, Cache, Informer, Pages, Resource
from jobgate.kinds.common.prerequisites import USE, WATCHED, wanted
from jobgate.kinds.common.wiring import ITEMS_PATH, PATHS, WORKLOADS_PATH, followed, jobs_of
from jobgate.pods import Access, Digests, ItemReviewer, PodReviewer, Prerequisites, Read, Room, WorkloadReviewer
from webhook import Kind, Phase, Registry, Request, Settings, User
from webhook.server import Endpoint, Route
from webhook.server.metrics import Metrics

#: Between two attempts to get at the cluster, in seconds.
AGAIN = 30.0
#: Jobs are waited for by their pods: a kind that is installed anew is known after so many seconds at most.
SOON = Backoff(first=1.0, most=10.0)
#: Of the reviews of rights.
_REVIEWS = Resource("subjectaccessreviews", "v1", "authorization.k8s.io")

_logger = logging.getLogger("jobgate")


class Cluster:
    """What a server knows of its cluster.

    Attributes:
        cache: what rules look up.
        pods: answers for pods.
        workloads: answers for workloads whose pods name prerequisites.
        access: who may use which prerequisite.
        reached: whether there is a cluster to ask.
    """

    def __init__(
        self,
        kinds: Registry,
        settings: Settings | None = None,
        *,
        reached: bool,
        kubeconfig: Path | None = None,
        metrics: Metrics | None = None,
        pages: Pages | None = None,
    ) -> None:
        """Know nothing yet.

        Args:
            kinds: that are served.
            settings: what the installation asks for, for every job.
            reached: whether there is a cluster to ask. Where there is none, nothing is waited for, and no pod that
                belongs to a job can be let through: it might lack what the job asks for.
            kubeconfig: the credentials, or None for those of a pod.
            metrics: told how old what is known is, and what becomes of pods; None where nobody reads any.
            pages: how much of a list of jobs is read at once.
        """
        metrics = metrics or Metrics()
        self.cache = Cache(sorted({*WATCHED, *(resource for kind in kinds for resource in kind.watches)}))
        self.access = Access(self._may, time.monotonic)
        self.reached = reached
        self._kubeconfig = kubeconfig
        self._pages = pages
        self._client: Any = None
        room = Room()
        self._jobs = [
            (kind, digests, Informer(Resource.parse(jobs_of(kind)), SOON, keep=digests.of))
            for kind in followed(kinds)
            for digests in (Digests(kind, settings, room),)
        ]
        lookups = pod_lookups(metrics)
        pods = [
            (
                kind,
                CountedLookup(
                    kind.kind,
                    known,
                    partial(self._fetch, kind, digests),
                    counted=partial(lookups.labels, kind.qualified_plural),
                ),
            )
            for kind, digests, known in self._jobs
        ]
        self.enforces = settings is None or settings.enforces
        prerequisites = Prerequisites(self.cache, self.access)
        self.pods = PodReviewer(pods, prerequisites, enforces=self.enforces)
        self.workloads = WorkloadReviewer(prerequisites, pods, enforces=self.enforces)
        asks = (self.cache, self.access) if reached else (None, None)
        self.items = ItemReviewer(*asks, enforces=self.enforces)
        if reached:
            for resource, known in self.cache.informers.items():
                watch_age(metrics, resource, known)
            for kind, _, jobs in self._jobs:
                watch_age(metrics, jobs_of(kind), jobs)

    def serve(self, endpoint: Endpoint) -> None:
        """Have an endpoint wait for what is known here, and ask for rights; without a cluster there are none to ask."""
        endpoint.waits_for = self.waits_for
        if self.reached:
            endpoint.access, endpoint.needs = self.access, self.needs

    def waits_for(self) -> str:
        """Return what is still to be read before pods can be answered for, in words; empty once all is."""
        return ", ".join(kind.qualified_plural for kind, _, jobs in self._jobs if self.reached and not jobs.settled)

    async def run(self) -> None:
        """Keep everything up to date, for ever.

        The client takes seconds to import: in a thread, so that the server serves meanwhile.
        """
        while self.reached:
            try:
                module = await asyncio.to_thread(importlib.import_module, "jobgate.cluster.writer")
                client = await module.Writer.connect(self._kubeconfig, self._pages)
            except Exception as error:  # noqa: BLE001  # of many packages; none may end the server
                reason = f"{type(error).__qualname__}: {error}"
                _logger.error("cluster not watched", extra={"fields": {"reason": reason}})  # noqa: TRY400
                await asyncio.sleep(AGAIN)
                continue
            async with client, asyncio.TaskGroup() as group:
                self._client = client
                group.create_task(self.cache.run(client))
                for _, _, jobs in self._jobs:
                    group.create_task(jobs.run(client))

    def needs(self, kind: Kind, request: Request) -> Awaitable[None] | None:
        """Return what asks for the rights that the review of a job needs, and that are not known; None for nothing."""
        items = wanted(kind, request, self.cache) if self.reached else []
        questions = [(request.user, USE, resource, name, request.namespace) for resource, name in items]
        return self.access.learn(questions) if self.access.lacks(questions) else None

    async def _may(self, user: User, verb: str, resource: str, name: str, namespace: str) -> bool:
        """Ask the cluster whether a user may do something with an object.

        A resource of the cluster is asked for with the namespace too: so a RoleBinding grants the right there.

        Raises:
            Exception: of the client; or there is no way to the cluster yet.
        """
        if self._client is None:
            raise LookupError("no cluster is known")
        plural, _, group = resource.split(".", 2)
        attributes = {"verb": verb, "group": group, "resource": plural, "name": name, "namespace": namespace}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {},
            "spec": {"user": user.name, "groups": list(user.groups), "resourceAttributes": attributes},
        }
        answer = await self._client.create(_REVIEWS, review)
        return answer["status"].get("allowed") is True

    async def _fetch(self, kind: Kind, digests: Digests, name: str, namespace: str) -> Read | None:
        """Ask the cluster for one job.

        Raises:
            Exception: of the client; or there is no cluster, or no way to it yet.
        """
        if self._client is None:
            raise LookupError("no cluster is known")
        found = await self._client.get(Resource.parse(jobs_of(kind)), name, namespace)
        return None if found is None else digests.read(found)


def reached(*, wanted: bool | None, kubeconfig: Path | None) -> bool:
    """Tell whether there is a cluster to ask.

    Args:
        wanted: whether it is to be asked; None where nobody said: then where credentials for it are at hand.
        kubeconfig: the credentials, or None for those of a pod.

    Raises:
        click.ClickException: a cluster is wanted, and there is no client for it.
    """
    at_hand = kubeconfig is not None or "KUBERNETES_SERVICE_HOST" in os.environ
    if wanted is False or not (wanted or at_hand):
        return False
    if find_spec("kubernetes") is None:
        if wanted or kubeconfig is not None:
            raise NotInstalled("kubernetes", "cluster")
        _logger.warning("cluster not watched", extra={"fields": {"reason": "jobgate[cluster] is not installed"}})
        return False
    return True


def routes(cluster: Cluster) -> Mapping[str, Route]:
    """Return who answers on the paths of pods."""
    return {
        **{path: Route("pods", phase, partial(cluster.pods.review, phase=phase)) for phase, path in PATHS.items()},
        WORKLOADS_PATH: Route("workloads", Phase.VALIDATE, cluster.workloads.review),
        ITEMS_PATH: Route("prerequisites", Phase.VALIDATE, cluster.items.review),
    }

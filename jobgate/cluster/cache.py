"""The cache that rules look into."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from jobgate.cluster.informer import Api, Backoff, Informer, slim
from jobgate.cluster.resource import Resource


class Cache:
    """A `webhook.Objects` of several resources, each kept by an informer of its own."""

    def __init__(self, resources: Iterable[str], backoff: Backoff | None = None) -> None:
        self.informers: Mapping[str, Informer[dict[str, Any]]] = {
            name: Informer(Resource.parse(name), backoff, keep=slim) for name in resources
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None where there is none.

        Raises:
            LookupError: nothing is known of the resource.
        """
        return self.informers[resource].get(name, namespace)

    async def run(self, api: Api) -> None:
        """Keep everything up to date, for ever."""
        async with asyncio.TaskGroup() as group:
            for informer in self.informers.values():
                group.create_task(informer.run(api))

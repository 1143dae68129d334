"""A cache of several resources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jobgate.cluster.informer import Api, Backoff, Informer, Key, labels, slim
from jobgate.cluster.resource import Resource

#: There may be thousands, some with kilobytes of annotations; only their labels are read.
_NAMESPACES = Resource("namespaces", "v1", "")


class Cache:
    """A `webhook.Objects` of several resources, each kept by an informer of its own."""

    def __init__(
        self,
        resources: Iterable[str],
        backoff: Backoff | None = None,
        keeps: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
        again: Callable[[Iterable[Mapping[str, Any]]], bool] | None = None,
        changed: Callable[[Key], None] | None = None,
    ) -> None:
        """Create a cache that knows nothing of these resources (`<plural>.<version>.<group>`).

        `keeps` has the `keep` of informers by resource, for which `again` is asked, too; without one, it is `slim`.
        """
        keeps = keeps or {}
        self.informers: Mapping[str, Informer[dict[str, Any]]] = {
            name: Informer(
                resource,
                backoff,
                keep=labels if resource == _NAMESPACES else keeps.get(name, slim),
                again=again if name in keeps else None,
                changed=changed,
            )
            for name in resources
            for resource in (Resource.parse(name),)
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None; raises LookupError if the resource is unknown."""
        return self.informers[resource].get(name, namespace)

    async def run(self, api: Api) -> None:
        """Keep everything up to date, for ever."""
        async with asyncio.TaskGroup() as group:
            for informer in self.informers.values():
                group.create_task(informer.run(api))

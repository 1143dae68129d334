"""A cache of several resources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final

from jobgate.cluster.informer import Api, Backoff, Informer, Key, slim
from jobgate.cluster.resource import Resource
from jobgate.room import LIST_LIMIT, Room, weight_of

_NAMESPACES = Resource("namespaces", "v1", "")
_POD_SECURITY: Final = "pod-security.kubernetes.io/"
#: Memory for objects that rules look up, in bytes. For resources with a `keep` of their own, only entries count.
ROOM: Final = 32 * 1024 * 1024


class Cache:
    """A `webhook.Objects` of several resources, each kept by an informer of its own."""

    def __init__(
        self,
        resources: Iterable[str],
        backoff: Backoff | None = None,
        keeps: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None,
        relist: Callable[[Iterable[Mapping[str, Any]]], bool] | None = None,
        changed: Callable[[Key], None] | None = None,
    ) -> None:
        """Create an empty cache of these resources (`<plural>.<version>.<group>`).

        `keeps` has the argument `keep` of informers, by resource; the default is `slim`. Only these informers get
        `relist`.
        """
        keeps, room = keeps or {}, Room(ROOM)
        self.informers: Mapping[str, Informer[dict[str, Any]]] = {
            name: Informer(
                resource,
                backoff,
                keep=_namespace if resource == _NAMESPACES else keeps.get(name, slim),
                relist=relist if name in keeps else None,
                changed=changed,
                room=None if resource == _NAMESPACES else room,
                weigh=(lambda _: 0) if name in keeps else weight_of,
            )
            for name in resources
            for resource in (Resource.parse(name),)
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None; raises LookupError if the resource is unknown."""
        return self.informers[resource].get(name, namespace)

    def __contains__(self, resource: object) -> bool:
        return resource in self.informers

    def names(self, resource: str, namespace: str = "") -> list[str]:
        """Return the names of the objects in a namespace; raises LookupError if the resource is unknown."""
        informer = self.informers[resource]
        informer.check(namespace)
        return [name for of, name in [*informer.keys()] if of == namespace]

    async def run(self, api: Api) -> None:
        """Keep everything up to date, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self.informers.values():
                group.create_task(informer.run(api))


def _namespace(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return a namespace with its labels only, those of Pod Security first; there may be thousands of namespaces."""
    labels = namespace["metadata"].get("labels") or {}
    first = sorted(labels, key=lambda key: not key.startswith(_POD_SECURITY))
    return {"metadata": {"labels": {key: labels[key] for key in islice(first, LIST_LIMIT)}}}

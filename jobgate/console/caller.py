"""The API server as who asks sees it: all that is read is read, or checked, with the caller's own rights."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from itertools import compress
from typing import TypeAlias

from jobgate.cluster.access import may
from jobgate.cluster.client import Client
from jobgate.pods.budget import AnswerCache

#: Seconds for which an answer holds, and most questions at once.
HOLDS, CONCURRENCY = 30.0, 8
#: The group and the plural of a resource, and a namespace.
Place: TypeAlias = tuple[str, str, str]


class Caller:
    """Who asks: a client with their rights."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._known = AnswerCache[bool](time.monotonic)
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def may_list(self, group: str, plural: str, namespace: str = "") -> bool:
        """Return whether the caller may list the objects of a resource in a namespace, or in all.

        Raises:
            ApiError: with code 401, if the token is not valid.
        """
        place = (group, plural, namespace)
        if (known := self._known.get(place)) is None:
            async with self._slots:
                known = await may(self.client, verb="list", group=group, resource=plural, namespace=namespace)
            self._known.keep(place, known, HOLDS)
        return known

    async def visible(self, places: Iterable[Place]) -> set[Place]:
        """Return the places whose objects the caller may list."""
        wanted = set(places)
        everywhere = {each for each in {place[:2] for place in wanted} if await self.may_list(*each)}
        rest = [place for place in wanted if place[2] and place[:2] not in everywhere]
        own = await asyncio.gather(*(self.may_list(*place) for place in rest))
        return {place for place in wanted if place[:2] in everywhere}.union(compress(rest, own))

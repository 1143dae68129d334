"""The API server as who asks sees it: all that is read is read, or checked, with the caller's own rights."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from jobgate.cluster.access import may
from jobgate.cluster.client import Client
from jobgate.pods.budget import AnswerCache

#: Seconds for which an answer holds, and most questions at once.
HOLDS, CONCURRENCY = 30.0, 8


class Caller:
    """Who asks: a client with their rights."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._known = AnswerCache[bool](time.monotonic)
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def may(self, verb: str, group: str, plural: str, namespace: str = "") -> bool:
        """Return whether the caller may do something with all objects of a resource in a namespace, or in all.

        Raises:
            ApiError: with code 401, if the token is not valid.
        """
        question = (verb, group, plural, namespace)
        if (known := self._known.get(question)) is not None:
            return known
        async with self._slots:
            allowed = await may(self.client, verb=verb, group=group, resource=plural, namespace=namespace)
        self._known.keep(question, allowed, HOLDS)
        return allowed

    async def visible(self, places: Iterable[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
        """Return the places, each a group, a plural and a namespace, whose objects the caller may list."""
        wanted = set(places)
        resources = {(group, plural) for group, plural, _ in wanted}
        everywhere = {each for each in resources if await self.may("list", *each)}
        rest = [place for place in wanted if place[:2] not in everywhere]
        allowed = await asyncio.gather(*(self.may("list", *place) for place in rest if place[2]))
        named = [place for place in rest if place[2]]
        own = {place for place, is_allowed in zip(named, allowed, strict=True) if is_allowed}
        return {place for place in wanted if place[:2] in everywhere} | own

"""Who asks, and the API server as they see it: all that is read is read, or checked, with their own rights."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Iterable
from itertools import compress
from typing import TypeAlias

from aiohttp import web

from jobgate.cluster import ApiError
from jobgate.cluster.access import may
from jobgate.cluster.client import Client
from jobgate.pods.budget import AnswerCache, Budget
from webhook.text import bearer

#: Seconds for which an answer holds, and most questions at once.
HOLDS, CONCURRENCY = 30.0, 8
#: In a cluster: seconds for which a caller is known, most callers; unknown tokens of an address per second, at once.
REMEMBERED, CALLERS, RATE = 300.0, 100, (2.0, 20.0)
#: The group and the plural of a resource, and a namespace.
Place: TypeAlias = tuple[str, str, str]


class Caller:
    """Who asks: a client with their rights."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._known = AnswerCache[bool](time.monotonic)
        self._slots = asyncio.Semaphore(CONCURRENCY)

    async def may_list(self, group: str, plural: str, namespace: str = "") -> bool:
        """Return whether the caller may list a resource in a namespace, or in all; 401 if the token is not valid."""
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


class Callers:
    """Finds who asks by their token: with a token of the page, its user, or else who has the token in the cluster."""

    def __init__(self, client: Client, token: str) -> None:
        self._user, self._token = Caller(client), token
        self._known = AnswerCache[Caller](time.monotonic, CALLERS)
        self._unknown = Budget(time.monotonic, *RATE)

    async def of(self, request: web.Request) -> Caller:
        """Return who asks.

        Raises:
            web.HTTPException: the token is missing or not valid, or too many tokens are tried.
        """
        token = bearer(request.headers.get("Authorization", ""))
        if not token or not (token.isascii() and token.isprintable()):
            raise web.HTTPUnauthorized(text="a token is required, as Authorization: Bearer TOKEN")
        if self._token:
            if not hmac.compare_digest(token, self._token):
                raise web.HTTPUnauthorized(text="this is not the token that jobgate console printed")
            return self._user
        key = hashlib.sha256(token.encode()).digest()
        if (caller := self._known.get(key)) is None:
            if not self._unknown.take(request.remote or ""):
                raise web.HTTPTooManyRequests(text="too many tokens", headers={"Retry-After": "1"})
            caller = Caller(self._user.client.acting_as(token))
            try:
                await caller.may_list("", "pods")
            except ApiError as error:
                if error.code == web.HTTPUnauthorized.status_code:
                    raise web.HTTPUnauthorized(text="the API server does not accept this token") from None
                raise
            self._known.keep(key, caller, REMEMBERED)
        return caller

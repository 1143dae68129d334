"""The API server as who asks sees it: all that is read is read, or checked, with the caller's own rights."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.client import Client
from jobgate.pods.budget import AnswerCache
from webhook.values import mapping

_REVIEWS: Final = Resource("selfsubjectaccessreviews", "v1", "authorization.k8s.io")
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
        attributes = {"verb": verb, "group": group, "resource": plural, "namespace": namespace}
        manifest: dict[str, Any] = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "metadata": {},
            "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
        }
        async with self._slots:
            answer = await self.client.create(_REVIEWS, manifest)
        allowed = mapping(answer.get("status")).get("allowed") is True
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

"""Which tokens may read the reviews that a server keeps: RBAC must allow `get` of the path `/reviews`.

The token must be issued for this audience. The plain port is not encrypted: a token for the API server itself would be
worth stealing there, and this one is good for nothing else.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from jobgate.cluster import Resource
from jobgate.cluster.access import is_allowed
from jobgate.cluster.objects import ObjectClient
from jobgate.pods.budget import AnswerCache, Budget
from webhook.server.offer import PATH
from webhook.values import items, mapping, text

#: Audience of the tokens.
AUDIENCE: Final = "jobgate-reviews"
TOKENS: Final = Resource("tokenreviews", "v1", "authentication.k8s.io")
#: Seconds for which an answer holds, and most answers that are remembered.
HOLDS, MOST = 60.0, 100
#: Tokens per second, and at once, that the API server is asked about.
RATE: Final = (2.0, 20.0)


class Readers:
    """Answers whether a token may read reviews."""

    def __init__(self, client: Callable[[], ObjectClient | None], now: Callable[[], float] = time.monotonic) -> None:
        """`client` returns the client of the API server, or None while there is none."""
        self._client = client
        self._budget = Budget(now, *RATE)
        self._known = AnswerCache[int](now, MOST)

    async def may_read(self, token: str) -> int:
        """Return the HTTP status for a token: OK if who has it may read."""
        key, client = hashlib.sha256(token.encode("utf-8", "replace")).digest(), self._client()
        if (status := self._known.get(key)) is not None:
            return status
        if client is None:
            return HTTPStatus.SERVICE_UNAVAILABLE
        if not self._budget.take(""):
            return HTTPStatus.TOO_MANY_REQUESTS
        status = await _ask(client, token)
        self._known.keep(key, status, HOLDS)
        return status


async def _ask(client: ObjectClient, token: str) -> int:
    spec = {"token": token, "audiences": [AUDIENCE]}
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": spec}
    status = mapping((await client.create(TOKENS, review)).get("status"))
    user = mapping(status.get("user"))
    if status.get("authenticated") is not True or AUDIENCE not in items(status.get("audiences")):
        return HTTPStatus.UNAUTHORIZED
    name, groups = text(user.get("username")), items(user.get("groups"))
    allowed = await is_allowed(client, name, groups, verb="get", path=PATH)
    return HTTPStatus.OK if allowed else HTTPStatus.FORBIDDEN

"""Which tokens may read the reviews that a server keeps: RBAC must allow `get` of the path `/reviews`.

The plain port is not encrypted, so a token must be for this audience alone: it is good for nothing else.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from jobgate.cluster.access import is_allowed, user_of
from jobgate.cluster.objects import ObjectClient
from jobgate.pods.budget import AnswerCache, Budget
from webhook.server.offer import PATH
from webhook.values import items, text

AUDIENCE: Final = "jobgate-reviews"
#: Seconds for which an answer holds, most that are kept, and unknown tokens of an address per second, and at once.
HOLDS, MOST, RATE = 60.0, 1000, (2.0, 20.0)


class Readers:
    """Answers whether a token may read reviews. `client` returns the client of the API server, once there is one."""

    def __init__(self, client: Callable[[], ObjectClient | None], now: Callable[[], float] = time.monotonic) -> None:
        self._client, self._unknown, self._known = client, Budget(now, *RATE), AnswerCache[int](now, MOST)

    async def may_read(self, token: str, address: str) -> int:
        """Return the HTTP status for a token that an address sends: OK if who has it may read."""
        key, client = hashlib.sha256(token.encode("utf-8", "replace")).digest(), self._client()
        if (status := self._known.get(key)) is not None:
            return status
        if client is None or not self._unknown.take(address):
            return HTTPStatus.SERVICE_UNAVAILABLE if client is None else HTTPStatus.TOO_MANY_REQUESTS
        user, status = await user_of(client, token, AUDIENCE), HTTPStatus.UNAUTHORIZED
        if name := text(user.get("username")):
            allowed = await is_allowed(client, name, items(user.get("groups")), verb="get", path=PATH)
            status = HTTPStatus.OK if allowed else HTTPStatus.FORBIDDEN
        self._known.keep(key, status, HOLDS)
        return status

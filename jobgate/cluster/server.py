"""The API server itself: its version and its time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import orjson
from aiohttp import ClientResponse, ClientTimeout

from certs import Reading, Refusal, Unavailable
from jobgate.cluster.client import GET, Client
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.resource import Resource

#: Every account may read it.
_VERSION: Final = "/version"


class Server(Client):
    """The API server itself, which is a `certs.places.Clock`. It uses another client's connection, and closes with it.

    What asks the server raises `Refusal` and `Unavailable`.
    """

    def __init__(self, client: Client) -> None:
        super().__init__(client._api)

    async def version(self) -> str:
        """Return its version, as `v1.36.3`."""
        _, text = await self._asked()
        try:
            return str(orjson.loads(text)["gitVersion"])
        except (ValueError, KeyError, TypeError):
            raise Refusal("the API server reports no version") from None

    async def read(self) -> Reading:
        """Return its time, in whole seconds: the header Date of an answer."""
        response, _ = await self._asked()
        own = datetime.now(UTC)
        said = date(response.headers.get("Date", ""))
        if said is None:
            raise Unavailable("responses of the API server have no Date header, which the rotation needs")
        return Reading(said, own - said)

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    async def _asked(self) -> tuple[ClientResponse, bytes]:
        with translated_errors("get", Resource(_VERSION, "", "")):
            response = await self._get(_VERSION, {}, ClientTimeout(total=GET))
            return response, await response.read()


def date(header: str) -> datetime | None:
    """Return the time in a header Date, if there is one."""
    try:
        found = parsedate_to_datetime(header)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None

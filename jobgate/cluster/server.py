"""The time of the API server, and its version."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Final

import orjson
from aiohttp import ClientResponse, ClientTimeout

from certs import Reading, Unavailable
from jobgate.cluster.client import GET, Client
from jobgate.cluster.clock import date
from jobgate.cluster.errors import translated_errors
from jobgate.cluster.resource import Resource

#: Every account may read it.
_VERSION: Final = "/version"


class ApiServerClock(Client):
    """A `certs.places.Clock`: the API server's. It shares another client's connection, and closes with it."""

    def __init__(self, client: Client) -> None:
        super().__init__(client._api)

    async def read(self) -> Reading:
        """Return the time in the header Date of a response, in whole seconds; may raise `Refusal` and `Unavailable`."""
        response = await self._asked()
        own = datetime.now(UTC)
        server_time = date(response.headers.get("Date", ""))
        if server_time is None:
            raise Unavailable("responses of the API server have no Date header, which the rotation needs")
        return Reading(server_time, own - server_time)

    async def version(self) -> str:
        """Return the version, as `v1.36.3`; empty if unknown. May raise `Refusal` and `Unavailable`."""
        try:
            return str(orjson.loads(await (await self._asked()).read())["gitVersion"])
        except (ValueError, KeyError, TypeError):
            return ""

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)

    async def _asked(self) -> ClientResponse:
        with translated_errors("get", Resource(_VERSION, "", "")):
            response = await self._get(_VERSION, {}, ClientTimeout(total=GET))
            await response.read()
            return response

"""The API server's time, and how far the clock of this machine is from it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from aiohttp import ClientTimeout

from certs import Reading, Unavailable
from jobgate.cluster.client import GET, Client
from jobgate.cluster.refusals import understood
from jobgate.cluster.resource import Resource

#: What everybody may read who is known to the API server.
VERSION = "/version"


class ServerClock(Client):
    """A `certs.Clock`: the time is the header Date of an answer, in whole seconds."""

    def __init__(self, client: Client) -> None:
        """Use the way of another client; it is closed with that one."""
        super().__init__(client._api)

    async def read(self) -> Reading:
        """Ask the API server for its time.

        Raises:
            Refusal: it does not know us.
            Unavailable: there is no answer, or none with a time.
        """
        with understood("get", Resource(VERSION, "", "")):
            response: Any = await self._get(VERSION, {}, ClientTimeout(total=GET))
            own = datetime.now(UTC)
            response.release()
        said = date(response.headers.get("Date", ""))
        if said is None:
            raise Unavailable("responses of the API server have no Date header, which the rotation needs")
        return Reading(said, own - said)

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)


def date(header: str) -> datetime | None:
    """Return the time of a header Date, or None where it says none."""
    try:
        found = parsedate_to_datetime(header)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None

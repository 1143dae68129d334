"""What an API server is: its version, and where it is."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

import orjson
from aiohttp import ClientTimeout

from certs import Refusal
from jobgate.cluster.client import GET, Client
from jobgate.cluster.clock import VERSION
from jobgate.cluster.refusals import understood
from jobgate.cluster.resource import Resource


class Server(Client):
    """The API server itself."""

    def __init__(self, client: Client) -> None:
        """Use the way of another client; it is closed with that one."""
        super().__init__(client._api)

    async def version(self) -> str:
        """Return its version, as `v1.36.3`.

        Raises:
            Refusal: it does not know us, or says none.
            Unavailable: there is no answer.
        """
        with understood("get", Resource(VERSION, "", "")):
            response = await self._get(VERSION, {}, ClientTimeout(total=GET))
            text = await response.read()
        try:
            return str(orjson.loads(text)["gitVersion"])
        except (ValueError, KeyError, TypeError):
            raise Refusal("the API server reports no version") from None

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, by the address that it is called at."""
        return is_loopback(urlsplit(self._api.configuration.host).hostname or "")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, without looking its name up."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

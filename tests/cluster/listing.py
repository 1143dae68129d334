"""An API server over HTTP that lists objects page by page, and has nothing to say to who watches."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

from kubernetes.aio.client import ApiClient, Configuration

from jobgate.cluster.client import Client


class Listing:
    """The lists at each path, and the limits of the requests for them."""

    #: The parts that a watch sends before it ends; none for a watch that stays open.
    events: Sequence[bytes] = ()

    def __init__(self, **objects: Sequence[bytes]) -> None:
        self.objects = objects
        self.limits: list[int] = []
        self.url = ""

    def answer(self, target: str) -> list[bytes] | None:
        """Return the parts of a page, or None for a watch."""
        parts = urlsplit(target)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if "watch" in query:
            return None
        result = self.objects.get(parts.path.rpartition("/")[2], ())
        start, limit = int(query.get("continue", 0)), int(query["limit"])
        self.limits.append(limit)
        end = min(start + limit, len(result))
        metadata = {"resourceVersion": "7", **({"continue": str(end)} if end < len(result) else {})}
        # In the order in which an API server writes the list of a custom resource.
        items = [part for each in result[start:end] for part in (b",", each)][1:]
        return [
            b'{"apiVersion":"v1","items":[',
            *items,
            b'],"kind":"List","metadata":%b}' % json.dumps(metadata).encode(),
        ]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                parts = self.answer(head.split(b" ", 2)[1].decode())
                if parts is None:
                    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    for part in self.events:
                        writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                        await writer.drain()
                    if self.events:
                        writer.write(b"0\r\n\r\n")
                    await reader.read()
                    break
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % sum(map(len, parts)))
                for part in parts:
                    writer.write(part)
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        writer.close()


@asynccontextmanager
async def serving(listing: Listing) -> AsyncIterator[Listing]:
    """Serve on loopback."""
    server = await asyncio.start_server(listing.serve, "127.0.0.1", 0)
    listing.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield listing
    finally:
        server.close()


def client_of(listing: Listing) -> Client:
    """Return a client of it."""
    configuration = Configuration()
    configuration.host = listing.url
    return Client(ApiClient(configuration))

"""Accepts connections on a socket. They are counted, and refused if there are too many."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from webhook.server.connection import Connection
from webhook.server.connections import SWEEP, Connections
from webhook.server.log import logger

#: Most connections that wait to be accepted: a burst from the API server during the review of a large object.
BACKLOG = 512
#: Most connections accepted before requests are served again.
BATCH = 16
#: Seconds without accepting after the machine had no file or memory for a connection; seconds between two log lines
#: about refused connections.
PAUSE, LOG_PERIOD = 1.0, 10.0
#: Most open files that a server can use. Some systems allow a thousand million.
FILES = 64 * 1024
#: Open files reserved for other uses than connections: probes, certificates, the client of the API server.
RESERVE = 256


def listening(address: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OSError: the port is taken, or may not be used.
    """
    return socket.create_server(
        (address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET, backlog=BACKLOG
    )


class Sockets(NamedTuple):
    """The sockets of a server: for admission, and for probes and metrics."""

    admission: socket.socket
    plain: socket.socket

    def ports(self) -> dict[str, int]:
        """Return their ports, as fields of the log; 0 for a Unix socket."""
        return {"port": _port(self.admission), "healthPort": _port(self.plain)}


def _port(listens: socket.socket) -> int:
    name = listens.getsockname()
    return int(name[1]) if isinstance(name, tuple) else 0


@contextmanager
def listen(bind: str, port: int, health_port: int) -> Iterator[Sockets]:
    """Listen on two ports of an address. A port of 0 takes a free one.

    Raises:
        OSError: a port is taken, or may not be used.
    """
    with closing(listening(bind, port)) as admission, closing(listening(bind, health_port)) as plain:
        yield Sockets(admission, plain)


def raise_files() -> int:
    """Raise the soft limit of open files to the hard one, up to the number that a server can use, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    logger.info("open files raised", extra={"fields": {"from": soft, "to": most}})
    return most


class Listener:
    """Accepts connections on a socket, with the running event loop."""

    def __init__(
        self,
        listens: socket.socket,
        connections: Connections,
        connect: Callable[[str], Connection[Any]],
        refused: Callable[[], None],
    ) -> None:
        """Begin to accept.

        Args:
            listens: the socket; it is not closed.
            connections: where they are counted.
            connect: returns the protocol of a connection, given its client's address.
            refused: called for each connection that is refused.
        """
        listens.setblocking(False)
        self._socket = listens
        self._connections = connections
        self._connect = connect
        self._refused = refused
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._logged = -LOG_PERIOD
        self._unlogged = 0
        self._open = True
        self._resume()
        self._sweeper = self._loop.call_later(SWEEP, self._sweep)

    def close(self) -> None:
        """Accept no more. Connections stay, and are held to their deadlines until `drain`."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._socket)

    async def drain(self, seconds: float) -> None:
        """Close each connection once it is idle, and all of them after a number of seconds."""
        self.close()
        end = self._loop.time() + seconds
        while self._connections.retire() and self._loop.time() < end:  # noqa: ASYNC110  # many events, rarely called
            await asyncio.sleep(SWEEP / 4)
        self._sweeper.cancel()
        for task in self._opening:
            task.cancel()
        self._connections.abort()
        await asyncio.sleep(0)  # for the transports to close

    def _resume(self) -> None:
        if self._open:
            self._loop.add_reader(self._socket, self._accept)

    def _sweep(self) -> None:
        self._connections.sweep(self._loop.time())
        self._sweeper = self._loop.call_later(SWEEP, self._sweep)

    def _accept(self) -> None:
        for _ in range(BATCH):
            try:
                accepted, peer = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # No file or memory is left. The connection stays in the queue: accepting it at once would fail again.
                self._loop.remove_reader(self._socket)
                self._loop.call_later(PAUSE, self._resume)
                self._refuse(error.strerror or "no files")
                return
            address = str(peer[0]) if peer else ""  # a Unix socket
            if not self._connections.admit(address, self._loop.time()):
                accepted.close()
                self._refuse("too many connections")
                continue
            accepted.setblocking(False)
            connection = self._connect(address)
            self._connections.enter(connection)
            task = self._loop.create_task(self._opened(accepted, connection))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _opened(self, accepted: socket.socket, connection: Connection[Any]) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: connection, accepted)
        except OSError:
            self._connections.leave(connection)
            accepted.close()

    def _refuse(self, reason: str) -> None:
        """Count a refused connection, and log some of them."""
        self._refused()
        self._unlogged += 1
        now = self._loop.time()
        if now - self._logged >= LOG_PERIOD:
            fields = {"reason": reason, "count": self._unlogged, "open": self._connections.total}
            logger.warning("connections refused", extra={"fields": fields})
            self._logged, self._unlogged = now, 0

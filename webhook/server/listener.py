"""The socket that is listened on. Connections are counted as they are accepted; too many are refused."""

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

#: Connections that wait to be accepted: a burst of the API server's, while one large object is reviewed.
BACKLOG = 512
#: Connections accepted at once, before requests get their turn again.
BATCH = 16
#: How long nothing is accepted where the machine has no file or memory for it, and how often the log says that
#: connections are refused, in seconds.
PAUSE, LOG_PERIOD = 1.0, 10.0
#: Files that a server has a use for, and no more: some systems allow a thousand million.
FILES = 64 * 1024
#: Files that are kept free of connections: for probes, certificates, the API server's client.
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
    """What a server listens on: for admission, and for probes and metrics."""

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
    """Let the process open as many files as it may, up to what it has a use for, and return how many."""
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
        """Accept no more. Connections stay, and are held to their deadlines until `stop`."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._socket)

    async def drain(self, seconds: float) -> None:
        """Close each connection once it is idle; after so many seconds, all of them."""
        self.close()
        end = self._loop.time() + seconds
        while self._connections.retire() and self._loop.time() < end:  # noqa: ASYNC110  # of many events, seldom
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
                # No file or no memory is left. The connection stays in the queue: looking again at once would find it.
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
        """Count a connection that is refused, and say so, but not each time."""
        self._refused()
        self._unlogged += 1
        now = self._loop.time()
        if now - self._logged >= LOG_PERIOD:
            fields = {"reason": reason, "count": self._unlogged, "open": self._connections.total}
            logger.warning("connections refused", extra={"fields": fields})
            self._logged, self._unlogged = now, 0

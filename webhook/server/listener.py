"""The socket that is listened on. Connections are counted as they are accepted; too many are refused."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
from collections.abc import Callable
from typing import Any

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
#: Files that are kept free of connections: for probes, certificates, the API server's client.
RESERVE = 256

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


def listening(address: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OSError: the port is taken, or may not be used.
    """
    return socket.create_server(
        (address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET, backlog=BACKLOG
    )


def raise_files() -> int:
    """Let the process open as many files as it ever may, and return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        logger.info("open files raised", extra={"fields": {"from": soft, "to": hard}})
    return hard


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
                if error.errno not in _EXHAUSTED:
                    raise
                # The connection stays in the queue of the socket: looking again at once would find it there.
                self._loop.remove_reader(self._socket)
                self._loop.call_later(PAUSE, self._resume)
                self._refuse(error.strerror or "no files")
                return
            address = str(peer[0])
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

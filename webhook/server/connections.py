"""The connections of a server: counted from accept on, held to their deadlines, and closed where there are too many."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from webhook.server.limits import Limits

if TYPE_CHECKING:
    from webhook.server.connection import Connection

#: Between two looks at the deadlines, in seconds.
SWEEP = 0.1
#: What a connection has, in seconds, to come to its first request before it is the first to give way to others.
GRACE = 1.0


class ConnState(IntEnum):
    """The state of a connection: in its handshake, before its first request, between two, in one, or at its end."""

    SHAKING = 0
    UNUSED = 1
    IDLE = 2
    BUSY = 3
    LINGERING = 4


#: The states in which a connection does nothing; in each, all of them have the same time.
QUIET = (ConnState.SHAKING, ConnState.UNUSED, ConnState.IDLE)


class Connections:
    """The open connections of a server.

    Attributes:
        total: how many there are.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._times = (limits.handshake_time, limits.unused_time, limits.keepalive)
        self._by_address: Counter[str] = Counter()
        self.total = 0
        # In each state in the order in which they came there: of the quiet ones, the first is the first to be due.
        self._by_state: tuple[dict[Connection[Any], None], ...] = tuple({} for _ in ConnState)

    def admit(self, address: str, now: float) -> bool:
        """Tell whether there is place for one more from an address; where there is none, the longest idle gives way."""
        if self._by_address[address] >= self.limits.connections_per_address and not self._give_way(now, address):
            return False
        return self.total < self.limits.connections or self._give_way(now)

    def enter(self, connection: Connection[Any]) -> None:
        """Count a connection in."""
        self.total += 1
        self._by_address[connection.address] += 1
        self._by_state[connection.state][connection] = None

    def leave(self, connection: Connection[Any]) -> None:
        """Count a connection out, if it is not yet."""
        if self._by_state[connection.state].pop(connection, self) is None:
            self.total -= 1
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]

    def holds(self, connection: Connection[Any]) -> bool:
        """Tell whether a connection is counted."""
        return connection in self._by_state[connection.state]

    def move(self, connection: Connection[Any], state: ConnState, when: float = 0.0) -> None:
        """Note where a connection is now.

        Args:
            connection: that moves.
            state: to which.
            when: it came there, to a quiet state; else when it has to be through, or 0 for never.
        """
        if self._by_state[connection.state].pop(connection, self) is None:
            self._by_state[state][connection] = None
            connection.since = connection.deadline = when
            connection.state = state

    def sweep(self, now: float) -> None:
        """End what is over its time."""
        for state in QUIET:
            for connection in self._first(state, now - self._times[state]):
                connection.expire()
        for state in (ConnState.BUSY, ConnState.LINGERING):
            for connection in [one for one in self._by_state[state] if 0.0 < one.deadline < now]:
                connection.expire()

    def retire(self) -> int:
        """Close the connections that are idle, and return how many others there are."""
        for connection in [one for state in QUIET for one in self._by_state[state]]:
            connection.retire()
        return self.total

    def abort(self) -> None:
        """Close all of them."""
        for connection in [one for connections in self._by_state for one in connections]:
            connection.abort()

    def _first(self, state: ConnState, before: float) -> list[Connection[Any]]:
        found = []
        for connection in self._by_state[state]:
            if connection.since >= before:
                break
            found.append(connection)
        return found

    def _give_way(self, now: float, address: str = "") -> bool:
        """Close the connection that misses it least; of an address, if it is said."""
        old = now - GRACE
        order = (
            (ConnState.SHAKING, old),
            (ConnState.UNUSED, old),
            (ConnState.IDLE, now),
            (ConnState.UNUSED, now),
            (ConnState.SHAKING, now),
        )
        for state, before in order:
            for connection in self._by_state[state]:
                if connection.since > before:
                    break
                if address in {"", connection.address}:
                    connection.abort()
                    return True
        return False

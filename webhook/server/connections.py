"""The connections of a server: counted from accept on, closed at their deadlines, or if there are too many."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from itertools import chain, takewhile
from typing import Protocol

from webhook.server.limits import Limits

#: Seconds between two checks of the deadlines.
SWEEP = 0.1
#: Seconds that a connection has to begin its first request, before it is the first to be closed for others.
GRACE = 1.0


class ConnState(IntEnum):
    """The state of a connection: in the TLS handshake, before the first request, between requests, in one, closing."""

    SHAKING = 0
    UNUSED = 1
    IDLE = 2
    BUSY = 3
    LINGERING = 4


#: The states in which the server waits for the client. In each of them, all connections have the same time limit.
QUIET = (ConnState.SHAKING, ConnState.UNUSED, ConnState.IDLE)


class Tracked(Protocol):
    """What `Connections` needs of a connection. It sets the state and the two times.

    Attributes:
        address: of the client.
        state: the state.
        since: when the connection entered a quiet state, on the loop's clock.
        deadline: when it must leave another state; 0 for no deadline.
    """

    address: str
    state: ConnState
    since: float
    deadline: float

    def expire(self) -> None:
        """End what has reached its deadline."""

    def retire(self) -> None:
        """Close the connection if it is idle."""

    def abort(self) -> None:
        """Close the connection at once."""


class Connections:
    """The open connections of a server.

    Attributes:
        total: their number.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._times = (limits.handshake_time, limits.unused_time, limits.keepalive)
        self._by_address: Counter[str] = Counter()
        self.total = 0
        # Each state keeps the order of arrival. In a quiet state, the first is also the first to expire.
        self._by_state: tuple[dict[Tracked, None], ...] = tuple({} for _ in ConnState)

    def admit(self, address: str, now: float) -> bool:
        """Tell whether one more connection from an address is accepted; the longest idle one is closed if necessary."""
        if self._by_address[address] >= self.limits.connections_per_address and not self._give_way(now, address):
            return False
        return self.total < self.limits.connections or self._give_way(now)

    def enter(self, connection: Tracked) -> None:
        """Add a connection."""
        self.total += 1
        self._by_address[connection.address] += 1
        self._by_state[connection.state][connection] = None

    def leave(self, connection: Tracked) -> None:
        """Remove a connection, unless it is removed already."""
        if self._by_state[connection.state].pop(connection, self) is None:
            self.total -= 1
            self._by_address[connection.address] -= 1
            if not self._by_address[connection.address]:
                del self._by_address[connection.address]

    def holds(self, connection: Tracked) -> bool:
        """Tell whether a connection is among these."""
        return connection in self._by_state[connection.state]

    def move(self, connection: Tracked, state: ConnState, when: float = 0.0) -> None:
        """Change the state of a connection.

        Args:
            connection: the connection.
            state: its new state.
            when: for a quiet state, when it was entered; for other states, the deadline, or 0 for none.
        """
        if self._by_state[connection.state].pop(connection, self) is None:
            self._by_state[state][connection] = None
            connection.since = connection.deadline = when
            connection.state = state

    def sweep(self, now: float) -> None:
        """Expire connections that have reached their deadline."""
        for state in QUIET:
            for connection in self._first(state, now - self._times[state]):
                connection.expire()
        for state in (ConnState.BUSY, ConnState.LINGERING):
            for connection in [busy for busy in self._by_state[state] if 0.0 < busy.deadline < now]:
                connection.expire()

    def retire(self) -> int:
        """Close idle connections, and return the number of those that are left."""
        for connection in [quiet for state in QUIET for quiet in self._by_state[state]]:
            connection.retire()
        return self.total

    def abort(self) -> None:
        """Close all connections."""
        for connection in list(chain.from_iterable(self._by_state)):
            connection.abort()

    def _first(self, state: ConnState, before: float) -> list[Tracked]:
        """Return the connections that entered a quiet state before a time."""
        return list(takewhile(lambda connection: connection.since < before, self._by_state[state]))

    def _give_way(self, now: float, address: str = "") -> bool:
        """Close the connection that is missed least, of an address if one is given; tell whether there was one."""
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

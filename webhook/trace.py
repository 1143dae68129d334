"""The trace that a request belongs to, as W3C's Trace Context tells it: read, remembered, passed on.

The API server sends `traceparent` with every call while it traces. What is not exactly that is no trace: the header is
set by any client, and its id goes into logs and on to others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Self

#: https://www.w3.org/TR/trace-context/: version, trace, parent, flags; a later version may have more after these.
_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]{0,400})?")
_SAMPLED = 1
#: What of `tracestate` everybody has to pass on, in characters; a longer one may be dropped whole.
_STATE = 512


@dataclass(frozen=True, slots=True)
class Trace:
    """The place of a request in a trace.

    Attributes:
        id: of the trace, 32 hexadecimal digits.
        parent: the caller's span, 16 of them.
        sampled: whether the caller records the trace.
        state: what tracing systems say to each other; empty where they say nothing.
    """

    id: str
    parent: str
    sampled: bool = False
    state: str = ""

    @classmethod
    def read(cls, parents: Sequence[str], states: Sequence[str] = ()) -> Self | None:
        """Return the trace of the headers `traceparent` and `tracestate`, or None where they tell none."""
        found = _PARENT.fullmatch(parents[0]) if len(parents) == 1 else None
        if found is None:
            return None
        version, trace, parent, flags, more = found.groups()
        if version == "ff" or (version == "00" and more) or not int(trace, 16) or not int(parent, 16):
            return None
        state = ",".join(states)
        kept = state if len(state) <= _STATE and state.isascii() and state.isprintable() else ""
        return cls(trace, parent, bool(int(flags, 16) & _SAMPLED), kept)

    def headers(self) -> dict[str, str]:
        """Return the headers that pass it on: in the version that this knows, whatever the caller's was."""
        passed = {"traceparent": f"00-{self.id}-{self.parent}-{_SAMPLED if self.sampled else 0:02x}"}
        return passed | {"tracestate": self.state} if self.state else passed


#: The trace of the request that is being answered. What is asked of others meanwhile belongs to it.
CURRENT: ContextVar[Trace | None] = ContextVar("trace", default=None)


def passed_on() -> Mapping[str, str]:
    """Return the headers for a call that is made on behalf of the request that is being answered."""
    trace = CURRENT.get()
    return trace.headers() if trace else {}

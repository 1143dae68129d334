"""The trace of a request, by W3C Trace Context: read from its headers, and sent with requests to others.

The API server sends `traceparent` with each call if it records traces. Any client can send the header, and its id is
logged and sent on. So anything that is not exactly of this form is ignored.
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
#: Longest `tracestate` that must be sent on, in characters. A longer one may be dropped.
_STATE = 512


@dataclass(frozen=True, slots=True)
class Trace:
    """The place of a request in a trace.

    Attributes:
        id: the id of the trace, 32 hexadecimal digits.
        parent: the id of the caller's span, 16 hexadecimal digits.
        sampled: whether the caller records the trace.
        state: data of tracing systems, from `tracestate`.
    """

    id: str
    parent: str
    sampled: bool = False
    state: str = ""

    @classmethod
    def read(cls, parents: Sequence[str], states: Sequence[str] = ()) -> Self | None:
        """Return the trace of the headers `traceparent` and `tracestate`, or None if there is no valid one."""
        match = _PARENT.fullmatch(parents[0]) if len(parents) == 1 else None
        if match is None:
            return None
        version, trace, parent, flags, more = match.groups()
        if version == "ff" or (version == "00" and more) or not int(trace, 16) or not int(parent, 16):
            return None
        state = ",".join(states)
        kept = state if len(state) <= _STATE and state.isascii() and state.isprintable() else ""
        return cls(trace, parent, bool(int(flags, 16) & _SAMPLED), kept)

    def headers(self) -> dict[str, str]:
        """Return the headers of a request within this trace, always in version 00."""
        headers = {"traceparent": f"00-{self.id}-{self.parent}-{_SAMPLED if self.sampled else 0:02x}"}
        return headers | {"tracestate": self.state} if self.state else headers


#: The trace of the request that is being answered, and of the requests that its review sends.
CURRENT: ContextVar[Trace | None] = ContextVar("trace", default=None)


def passed_on() -> Mapping[str, str]:
    """Return the headers for a request that the review of the current request sends."""
    trace = CURRENT.get()
    return trace.headers() if trace else {}

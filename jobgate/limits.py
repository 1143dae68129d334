"""Limits that models, rules, commands and the runner share, and the memory that a server needs for its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol, Self, TypeAlias, TypeVar

#: Default limit of pods in a job. Highest limit: the API server's of `parallelism` for Indexed Jobs.
JOB_PODS: Final = 10_000
PODS_LIMIT: Final = 100_000

#: Maximum entries of a list or map in a job: tasks, volumes, policies, dependencies of a task. Time and memory of a
#: review are measured up to this number (docs/explanation/performance.md).
ENTRIES_LIMIT: Final = 1000

MIB: Final = 1024 * 1024
Limit: TypeAlias = Literal["body", "buffered", "small", "in-flight"]
#: The limits of a server that decide how much memory it needs, with the defaults of `webhook.server.limits`.
LIMITS: Final[Mapping[Limit, int]] = {"body": 7 * MIB, "buffered": 64 * MIB, "small": 64 * 1024, "in-flight": 1000}
#: Memory of a review for each byte of its body. Measured with the shapes of `tests/hostile/test_neighbours.py`.
_REVIEW: Final = 20
#: Memory of a server beside bodies and reviews, for its code and caches: with the default limits, it needs 512 MiB.
_SERVER: Final = 512 * MIB - LIMITS["body"] * _REVIEW - LIMITS["buffered"] - LIMITS["in-flight"] * LIMITS["small"]
#: Memory of all kept reviews, as in `webhook.server.reviews`.
KEPT: Final = 16 * MIB


class Number(Protocol):
    """An integer, or an expression of a template."""

    def __add__(self, other: Self | int, /) -> Self: ...
    def __mul__(self, other: Self | int, /) -> Self: ...
    def __floordiv__(self, other: int, /) -> Self: ...


N = TypeVar("N", bound=Number)


def server_memory(kept: N, body: N, buffered: N, small: N, in_flight: N) -> N:
    """Return the memory in MiB that a server with these limits needs, with `kept` bytes of kept reviews.

    It holds `buffered` bytes of bodies, and `small` of each request. It reviews one large body at a time.
    """
    return (body * _REVIEW + buffered + in_flight * small + kept + (_SERVER + MIB - 1)) // MIB

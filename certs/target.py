"""Targets: what API servers trust."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Entry:
    """One place of a target that calls our server: a webhook of a configuration, or the conversion of a CRD."""

    name: str
    bundle: bytes = field(repr=False)


@dataclass(frozen=True)
class Target:
    """An object with bundles.

    Attributes:
        kind, name: what it is called.
        version: another one after each change of what it asks for; not only of its bundles.
        entries: the places in it that call our server.
        found: whether there is such an object.
        fault: why it cannot be read or written, or nothing.
        origin: the targets' own; it tells a write what was read.
    """

    kind: str
    name: str
    version: str = ""
    entries: tuple[Entry, ...] = ()
    found: bool = True
    fault: str = ""
    origin: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Targets(Protocol):
    """All targets. Every call may raise `Unavailable`."""

    async def read(self) -> Sequence[Target]:
        """Return all that there are now. One that may not be read is returned with its fault."""

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        """Give each entry of a target its bundle, where the target is still as it was seen.

        Raises:
            Conflict: it is not as it was seen.
            Refusal: it may not be written, or not so.
        """

"""The store: one Secret, which holds every generation that matters, and when what was done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

# What a Secret of type kubernetes.io/tls must have.
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
NUMBER = "generation"
# Staged: what will be served next.
NEXT = "next."
# Kept, so that a slow server and a Secret restored from a backup are still trusted.
PREVIOUS = "previous.ca.crt"
# All CAs that are to be trusted, for who has to write them down elsewhere.
BUNDLE = "bundle.crt"

PARTS = (CERTIFICATE, KEY, AUTHORITY, NUMBER)


class Stamp:
    """What is noted of the protocol, by name. Times are the API server's, as RFC 3339."""

    #: Of what was seen when every target trusted the staged generation (a digest), and when that was.
    TRUSTED, TRUSTED_AT = "trusted", "trusted-at"
    #: Whether nothing is served any more, so that there is nothing to be careful of.
    EMERGENCY = "emergency"
    PROMOTED_AT = "promoted-at"
    #: Which leaf all servers have been seen to serve, and when that was.
    VERIFIED, VERIFIED_AT = "verified", "verified-at"
    #: The number up to which no generation is to be trusted once all serve a later one.
    REVOKED = "revoked"


@dataclass(frozen=True)
class Stored:
    """What the store holds.

    Attributes:
        found: whether there is a store at all; an empty one is found.
        contents: what it holds, by the names above. Any client may have written it: every byte may be wrong.
        stamps: what is noted.
        keeper: who else keeps it, where it is not ours to write, as `cert-manager`.
        origin: the store's own; it tells a write what was read.
    """

    found: bool
    # Never in a log or a traceback.
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    stamps: Mapping[str, str] = field(default_factory=dict)
    keeper: str = ""
    origin: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Changes:
    """What is written at once; None removes."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    stamps: Mapping[str, str | None] = field(default_factory=dict)


class Store(Protocol):
    """Where generations are kept. Every call may raise `Refusal` and `Unavailable`."""

    async def read(self) -> Stored:
        """Return what is held now."""

    async def write(self, seen: Stored, changes: Changes) -> None:
        """Change what is still as it was seen, or make what was not there.

        Raises:
            Conflict: it is not as it was seen.
        """

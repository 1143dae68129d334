"""Where the rotation reads and writes: the protocols that a cluster fulfils, and how their calls may fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from cryptography import x509

# What a Secret of type kubernetes.io/tls must have.
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
NUMBER = "generation"
# Prefix of the staged generation, which is served next.
NEXT = "next."
# Kept so that a slow server, and a Secret restored from a backup, are still trusted.
PREVIOUS = "previous.ca.crt"
# All trusted CAs, for clients that are configured elsewhere.
BUNDLE = "bundle.crt"

PARTS = (CERTIFICATE, KEY, AUTHORITY, NUMBER)


class Conflict(Exception):
    """The object changed since it was read: read it again."""


class Refusal(Exception):
    """The request is denied until a person changes something; the text says what."""


class Unavailable(Exception):
    """There is no answer, or not now; a write may have been done. `after`: seconds to wait, as the server asked for."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True)
class Reading:
    """The API server's time, which decides on certificates, and by how much this machine's clock is ahead of it."""

    now: datetime
    skew: timedelta


class Clock(Protocol):
    """The API server's clock, and ours beside it."""

    async def read(self) -> Reading:
        """Return the API server's time; may raise `Unavailable`."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""


class Stamp:
    """Names of the notes in the store. Times are the API server's, as RFC 3339."""

    #: Digest of what was seen when every target trusted the staged generation, and when that was.
    TRUSTED, TRUSTED_AT = "trusted", "trusted-at"
    #: Whether nothing is served any more, so that no soak is needed.
    EMERGENCY = "emergency"
    PROMOTED_AT = "promoted-at"
    #: The leaf that all servers have been seen to serve, and when that was.
    VERIFIED, VERIFIED_AT = "verified", "verified-at"
    #: Generations up to this number are no longer trusted once all servers serve a later one.
    REVOKED = "revoked"


@dataclass(frozen=True)
class StoredCertificates:
    """What the store holds.

    Attributes:
        found: whether there is a store; an empty one is found.
        contents: what it holds, by the names above. Any client may have written it: every byte may be wrong.
        stamps: the notes.
        keeper: another program that manages it, such as `cert-manager`; then it is not ours to write.
        origin: the store's own object, which tells a write what was read.
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
    """One Secret with all generations that matter. Every call may raise `Refusal` and `Unavailable`."""

    async def read(self) -> StoredCertificates:
        """Return what it holds now."""

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        """Change or create it; `Conflict` if it is no longer as it was seen."""


@dataclass(frozen=True)
class TargetEntry:
    """One place of a target that calls our server: a webhook of a configuration, or the conversion of a CRD."""

    name: str
    bundle: bytes = field(repr=False)


@dataclass(frozen=True)
class Target:
    """An object with CA bundles that API servers trust.

    Attributes:
        kind, name: resource and name of the object.
        version: differs after each change of its spec, not only of its bundles.
        entries: the places in it that call our server.
        found: whether there is such an object.
        fault: why it cannot be read or written, or nothing.
        origin: the object itself, which tells a write what was read.
    """

    kind: str
    name: str
    version: str = ""
    entries: tuple[TargetEntry, ...] = ()
    found: bool = True
    fault: str = ""
    origin: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Targets(Protocol):
    """All targets. Every call may raise `Unavailable`."""

    async def read(self) -> Sequence[Target]:
        """Return all that there are now; one that may not be read has a fault."""

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        """Give each entry its bundle; `Conflict` if the target is no longer as it was seen, `Refusal` if denied."""


@dataclass(frozen=True)
class Served:
    """What one address showed in a handshake: leaf and known chain, or why there was none."""

    address: str
    chain: tuple[x509.Certificate, ...] = ()
    fault: str = ""

    @property
    def leaf(self) -> x509.Certificate | None:
        """The certificate of the server."""
        return self.chain[0] if self.chain else None


class Probe(Protocol):
    """Looks at every address that API servers may connect to, also at those that are about to end."""

    async def look(self) -> Sequence[Served]:
        """Make a handshake with each; `Refusal` or `Unavailable` if the addresses are not known."""


@dataclass(frozen=True)
class Places:
    """Where the rotation reads and writes, and whose time it goes by."""

    store: Store
    targets: Targets
    probe: Probe
    clock: Clock

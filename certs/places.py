"""Protocols of the systems that the rotation reads and writes, and their errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from cryptography import x509

# Keys of a Secret of type kubernetes.io/tls.
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
NUMBER = "generation"
# Prefix of the staged generation, which is served next.
NEXT = "next."
# The former CA: slow servers, and a Secret restored from a backup, must still be trusted.
PREVIOUS = "previous.ca.crt"
# All trusted CAs, for clients configured elsewhere.
BUNDLE = "bundle.crt"

PARTS = (CERTIFICATE, KEY, AUTHORITY, NUMBER)


class Conflict(Exception):
    """The object changed since it was read: read it again."""


class Refusal(Exception):
    """The request is denied until a person changes something; the text says what."""


class Unavailable(Exception):
    """No answer, or not now; a write may have succeeded. `after` is the server's Retry-After, in seconds."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True)
class Reading:
    """The API server's time, by which certificates are judged, and how far this machine's clock is ahead of it."""

    now: datetime
    skew: timedelta


class Clock(Protocol):
    """The clocks of the API server and of this machine."""

    async def read(self) -> Reading:
        """Return the API server's time; may raise `Unavailable`."""

    async def sleep(self, seconds: float) -> None:
        """Sleep."""


class Stamp:
    """Names of the stamps, which are notes in the store. Times are the API server's, as RFC 3339."""

    #: Digest of the targets, and time, when all targets trusted the staged generation.
    TRUSTED, TRUSTED_AT = "trusted", "trusted-at"
    #: Whether no server works: then no soak is needed.
    EMERGENCY = "emergency"
    PROMOTED_AT = "promoted-at"
    #: The leaf that all servers served at the last check, and the time of the check.
    VERIFIED, VERIFIED_AT = "verified", "verified-at"
    #: Generations up to this number lose trust as soon as all servers serve a later generation.
    REVOKED = "revoked"


@dataclass(frozen=True)
class StoredCertificates:
    """The contents of the store.

    Attributes:
        found: whether the store exists; it may be empty.
        contents: data by the keys above. Any client may have written it: every byte may be wrong.
        stamps: notes, by the names of `Stamp`.
        keeper: another program that manages it, such as `cert-manager`; then it is read-only for us.
        origin: the object that was read, to detect conflicts when it is written.
    """

    exists: bool
    # Never in a log or a traceback.
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    stamps: Mapping[str, str] = field(default_factory=dict)
    keeper: str = ""
    origin: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Changes:
    """One write to the store; None removes a key."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    stamps: Mapping[str, str | None] = field(default_factory=dict)


class Store(Protocol):
    """The Secret that contains the generations. Every call may raise `Refusal` and `Unavailable`."""

    async def read(self) -> StoredCertificates:
        """Return the current contents."""

    async def write(self, seen: StoredCertificates, changes: Changes) -> None:
        """Change or create the Secret; raise `Conflict` if it has changed since `seen` was read."""


@dataclass(frozen=True)
class TargetEntry:
    """A CA bundle in a target: of a webhook in its configuration, or of a CRD's conversion webhook."""

    name: str
    bundle: bytes = field(repr=False)


@dataclass(frozen=True)
class Target:
    """An object with CA bundles by which API servers trust our server.

    Attributes:
        kind, name: resource and name of the object.
        version: changes with every change of its spec, also beyond the bundles.
        entries: its bundles for our server.
        found: whether the object exists.
        fault: why it cannot be read or written; empty if it can.
        origin: the object that was read, to detect conflicts when it is written.
    """

    kind: str
    name: str
    version: str = ""
    entries: tuple[TargetEntry, ...] = ()
    exists: bool = True
    fault: str = ""
    origin: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Targets(Protocol):
    """All targets. Every call may raise `Unavailable`."""

    async def read(self) -> Sequence[Target]:
        """Return the current targets; a target that may not be read has a fault."""

    async def write(self, seen: Target, bundles: Sequence[bytes]) -> None:
        """Set the bundle of each entry; raise `Conflict` if the target has changed since `seen` was read."""


@dataclass(frozen=True)
class Served:
    """The certificate chain that one address presented in a TLS handshake, or why there is none."""

    address: str
    chain: tuple[x509.Certificate, ...] = ()
    fault: str = ""

    @property
    def leaf(self) -> x509.Certificate | None:
        """The server's certificate."""
        return self.chain[0] if self.chain else None


class Probe(Protocol):
    """Makes a TLS handshake with every address of the server, also with pods that are terminating."""

    async def look(self) -> Sequence[Served]:
        """Return the result for each address; raise `Refusal` or `Unavailable` if the addresses are unknown."""


@dataclass(frozen=True)
class Places:
    """Everything that the rotation reads and writes."""

    store: Store
    targets: Targets
    probe: Probe
    clock: Clock

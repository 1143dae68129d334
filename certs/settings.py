"""What an installation wants of the rotation."""

from dataclasses import dataclass
from datetime import timedelta

from certs.keys import KeyType
from certs.names import ServerNames
from certs.validity import LIFETIME


@dataclass(frozen=True)
class Settings:
    """Wishes and times.

    Attributes:
        names: that the server's certificate must have.
        key_type: of new keys.
        lifetime: of new certificates.
        soak: how long all API servers get to learn of a new CA before it is used, and how long the servers have all
            served a generation before the one before the last is no longer trusted.
        emergency_soak: the first of these where nobody is served anyway; never more than `soak`.
        skew: by how much this machine's clock and the API server's may differ; beyond, one of them is wrong.
        patience: so long after a generation was promoted all servers must serve it, or a warning is logged.
        beyond: the current generation must have a higher number than this, due or not; None where it need not.
        revoke: whether, once that is so, generations up to `beyond` are to be trusted no longer.
    """

    names: ServerNames
    key_type: KeyType = KeyType.P256
    lifetime: timedelta = LIFETIME
    soak: timedelta = timedelta(minutes=5)
    emergency_soak: timedelta = timedelta(seconds=5)
    skew: timedelta = timedelta(minutes=5)
    patience: timedelta = timedelta(minutes=10)
    beyond: int | None = None
    revoke: bool = False

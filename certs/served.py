"""What servers show to clients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cryptography import x509


@dataclass(frozen=True)
class Served:
    """What one address of the Service showed in a handshake.

    Attributes:
        address: host and port.
        chain: the leaf, and what came with it as far as it is known; empty where there was no handshake.
        fault: why there was none.
    """

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
        """Make a handshake with each.

        Raises:
            Refusal, Unavailable: it is not known which addresses there are.
        """

"""The server side of a TLS session, in memory: encrypted bytes in, plain bytes out, and back. Why a handshake fails.

asyncio's TLS reports a connection only after the handshake, never a failed handshake, and holds large buffers for each
connection.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from enum import StrEnum

#: Largest record of TLS, in bytes.
RECORD = 16 * 1024


class Failure(StrEnum):
    """Why a handshake failed."""

    #: The client does not trust the certificate: its CA bundle is for another certificate.
    REJECTED = "rejected"
    #: Client and server have no version or cipher suite in common.
    UNSUPPORTED = "unsupported"
    #: It is not TLS: a probe, a scan, plain HTTP.
    NOT_TLS = "not-tls"
    #: There is no certificate yet.
    NO_CERTIFICATE = "no-certificate"
    #: The client left before the end, or took too long.
    LEFT = "left"
    OTHER = "other"


#: OpenSSL's reasons, as far as someone can act on them. (Clients reject a certificate with different alerts: Go with
#: `bad_certificate`, OpenSSL with `unknown_ca`.) Rare reasons count as `other`.
_REASONS = {
    "TLSV1_ALERT_UNKNOWN_CA": Failure.REJECTED,
    "SSLV3_ALERT_BAD_CERTIFICATE": Failure.REJECTED,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": Failure.REJECTED,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": Failure.REJECTED,
    "UNSUPPORTED_PROTOCOL": Failure.UNSUPPORTED,
    "VERSION_TOO_LOW": Failure.UNSUPPORTED,
    "TLSV1_ALERT_PROTOCOL_VERSION": Failure.UNSUPPORTED,
    "NO_SHARED_CIPHER": Failure.UNSUPPORTED,
    "NO_APPLICATION_PROTOCOL": Failure.UNSUPPORTED,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": Failure.UNSUPPORTED,
    "HTTP_REQUEST": Failure.NOT_TLS,
    "HTTPS_PROXY_REQUEST": Failure.NOT_TLS,
    "WRONG_VERSION_NUMBER": Failure.NOT_TLS,
    "UNKNOWN_PROTOCOL": Failure.NOT_TLS,
    "UNEXPECTED_EOF_WHILE_READING": Failure.LEFT,
}


def failure(error: ssl.SSLError) -> Failure:
    """Return why a handshake failed, from its OpenSSL error."""
    return _REASONS.get(error.reason or "", Failure.OTHER)


class Closed(Exception):
    """The client has ended the session."""


class Session:
    """One session.

    Attributes:
        established: whether the handshake is over.
    """

    __slots__ = ("_incoming", "_outgoing", "_tls", "established")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.established = False

    def receive(self, data: bytes) -> bytes:
        """Return the plain bytes in encrypted ones from the client; none if a record is not complete yet.

        Raises:
            Closed: the client has ended the session.
            ssl.SSLError: they are not TLS, or not acceptable.
        """
        self._incoming.write(data)
        try:
            if not self.established:
                self._tls.do_handshake()
                self.established = True
            first = self._tls.read(RECORD)
        except ssl.SSLWantReadError:
            return b""
        if not first:
            raise Closed
        return b"".join((first, *self._rest())) if self._incoming.pending else first

    def _rest(self) -> list[bytes]:
        parts = []
        with suppress(ssl.SSLWantReadError):
            while self._incoming.pending and (part := self._tls.read(RECORD)):
                parts.append(part)
        return parts

    def send(self, data: bytes) -> bytes:
        """Return the encrypted bytes of plain ones."""
        self._tls.write(data)
        return self._outgoing.read()

    def pending(self) -> bytes:
        """Return the bytes that the session itself must send, for a handshake or as an alert."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def end(self) -> bytes:
        """Return the bytes that end the session."""
        with suppress(ssl.SSLError):
            self._tls.unwrap()
        return self.pending()

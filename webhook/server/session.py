"""The server's end of one TLS session, in memory: bytes of the wire in, plain bytes out, and back; and why one fails.

Of asyncio's own TLS, the protocol hears of a connection only after the handshake, nobody hears of a handshake that
fails, and each connection holds large buffers. A server that answers needs none of the rest of it.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from enum import StrEnum

#: The most that one record of TLS carries, in bytes.
RECORD = 16 * 1024


class Failure(StrEnum):
    """Why a handshake failed."""

    #: The client does not trust, or cannot read, what it is shown: the bundle and the served certificate disagree.
    REJECTED = "rejected"
    #: The client and the server speak no common version or suite.
    UNSUPPORTED = "unsupported"
    #: It is no TLS at all: a probe, a scan, plain HTTP.
    NOT_TLS = "not-tls"
    #: There is no certificate yet.
    NO_CERTIFICATE = "no-certificate"
    #: The client left before the end, or took too long.
    LEFT = "left"
    OTHER = "other"


#: OpenSSL's names of what went wrong, as far as they tell who has to do something. (Which alert says that the
#: certificate was rejected differs from client to client; Go sends `bad_certificate`, OpenSSL `unknown_ca`.) What is
#: seldom met counts as `other`.
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
    """Return why a handshake failed that ended with an error of OpenSSL's."""
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
        """Return what the client says with these bytes of the wire; it may be nothing yet.

        Raises:
            Closed: the client has said its last.
            ssl.SSLError: they are no TLS, or not acceptable.
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
        """Return the bytes of the wire that say this."""
        self._tls.write(data)
        return self._outgoing.read()

    def pending(self) -> bytes:
        """Return what the session itself has to send: its part of a handshake, an alert."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def end(self) -> bytes:
        """Return the bytes of the wire that end the session."""
        with suppress(ssl.SSLError):
            self._tls.unwrap()
        return self.pending()

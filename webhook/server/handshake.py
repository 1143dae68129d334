"""TLS handshakes that fail. Nothing else sees them: asyncio drops such a connection without a word."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from enum import StrEnum


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
#: certificate was refused differs from client to client; Go sends `bad_certificate`, OpenSSL `unknown_ca`.)
_REASONS = {
    "TLSV1_ALERT_UNKNOWN_CA": Failure.REJECTED,
    "SSLV3_ALERT_BAD_CERTIFICATE": Failure.REJECTED,
    "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE": Failure.REJECTED,
    "SSLV3_ALERT_CERTIFICATE_REVOKED": Failure.REJECTED,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": Failure.REJECTED,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": Failure.REJECTED,
    "TLSV1_ALERT_ACCESS_DENIED": Failure.REJECTED,
    "TLSV1_UNRECOGNIZED_NAME": Failure.REJECTED,
    "UNSUPPORTED_PROTOCOL": Failure.UNSUPPORTED,
    "VERSION_TOO_LOW": Failure.UNSUPPORTED,
    "TLSV1_ALERT_PROTOCOL_VERSION": Failure.UNSUPPORTED,
    "NO_SHARED_CIPHER": Failure.UNSUPPORTED,
    "NO_SUITABLE_SIGNATURE_ALGORITHM": Failure.UNSUPPORTED,
    "NO_SUITABLE_KEY_SHARE": Failure.UNSUPPORTED,
    "NO_SUITABLE_GROUPS": Failure.UNSUPPORTED,
    "NO_APPLICATION_PROTOCOL": Failure.UNSUPPORTED,
    "TLSV1_ALERT_INSUFFICIENT_SECURITY": Failure.UNSUPPORTED,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": Failure.UNSUPPORTED,
    "HTTP_REQUEST": Failure.NOT_TLS,
    "HTTPS_PROXY_REQUEST": Failure.NOT_TLS,
    "WRONG_VERSION_NUMBER": Failure.NOT_TLS,
    "UNKNOWN_PROTOCOL": Failure.NOT_TLS,
    "UNEXPECTED_MESSAGE": Failure.NOT_TLS,
    "PACKET_LENGTH_TOO_LONG": Failure.NOT_TLS,
    "RECORD_LENGTH_MISMATCH": Failure.NOT_TLS,
    "BAD_RECORD_TYPE": Failure.NOT_TLS,
    "UNEXPECTED_EOF_WHILE_READING": Failure.LEFT,
}


class Handshakes:
    """Counts the handshakes of one server that fail."""

    def __init__(self, failed: Callable[[str, int], None]) -> None:
        """`failed` is told a reason, and how many failed for it."""
        self._failed = failed
        self._left = 0
        self._refused: ssl.SSLObject | None = None

    def fail(self, connection: ssl.SSLObject, error: ssl.SSLError) -> None:
        """Count one that ended with an error."""
        refused, self._refused = self._refused is connection, None
        why = Failure.NO_CERTIFICATE if refused else _REASONS.get(error.reason or "", Failure.OTHER)
        self._failed(why, 1)

    def unanswered(self, connection: ssl.SSLObject) -> None:
        """Note that this one fails at once because there is no certificate: OpenSSL's own word for it says nothing."""
        self._refused = connection

    def leave(self) -> None:
        """Note one that was given up.

        It is told when the garbage collector comes by, which may be anywhere: also within what counts. So it is only
        noted here, and counted by `settle`.
        """
        self._left += 1

    def settle(self) -> None:
        """Count those that were given up since the last time."""
        left, self._left = self._left, 0
        if left:
            self._failed(Failure.LEFT, left)


def counting(handshakes: Handshakes) -> type[ssl.SSLObject]:
    """Return the class of a server's TLS objects, so that their handshakes are counted.

    This is the one place where asyncio and uvloop both pass by with a failure.
    """

    class Counting(ssl.SSLObject):
        over = False

        def do_handshake(self) -> None:
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                self.over = True
                handshakes.fail(self, error)
                raise
            self.over = True

        def __del__(self) -> None:
            if not self.over:
                handshakes.leave()

    return Counting

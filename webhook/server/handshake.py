"""TLS handshakes that fail, by why."""

from __future__ import annotations

import ssl
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
#: certificate was rejected differs from client to client; Go sends `bad_certificate`, OpenSSL `unknown_ca`.)
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


def failure(error: ssl.SSLError) -> Failure:
    """Return why a handshake failed that ended with an error of OpenSSL's."""
    return _REASONS.get(error.reason or "", Failure.OTHER)

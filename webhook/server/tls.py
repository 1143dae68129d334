"""The TLS context of the server."""

from __future__ import annotations

import ssl
from pathlib import Path

#: The forward-secret AEAD suites of TLS 1.2; TLS 1.3 brings its own.
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"


def context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a server context for a certificate chain and its key, both PEM files.

    Raises:
        OSError: a file cannot be read.
        ssl.SSLError: the files are no certificate and key, or not of each other.
    """
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(CIPHERS)
    # The API server speaks HTTP/1.1 to webhooks; saying so closes the faults of HTTP/2 to everybody else.
    tls.set_alpn_protocols(["http/1.1"])
    tls.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    tls.load_cert_chain(certificate, key)
    return tls

"""TLS contexts of the server."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

#: The forward-secret AEAD suites of TLS 1.2; TLS 1.3 brings its own.
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"


class Encrypted(Exception):
    """The key wants a password. Nobody is there to type it."""


def showing(certificate: bytes, key: bytes) -> ssl.SSLContext:
    """Return a server context that shows a certificate chain, given with its key, both PEM.

    Raises:
        Encrypted: the key wants a password.
        ssl.SSLError: they are no certificate and key, or not of each other.
    """
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers(CIPHERS)
    # The API server speaks HTTP/1.1 to webhooks; saying so closes the faults of HTTP/2 to everybody else.
    tls.set_alpn_protocols(["http/1.1"])
    # A session that is taken up again shows no certificate: its client would go on trusting one that was replaced. The
    # API server keeps connections, not sessions, so tickets serve nobody. Sessions of TLS 1.2 are also known by their
    # ID, which Python cannot switch off; they are kept in the context, so none outlives its certificate.
    tls.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_TICKET
    tls.num_tickets = 0
    with _as_file(certificate) as chain, _as_file(key) as private:
        tls.load_cert_chain(chain, private, password=_no_password)
    return tls


def _no_password() -> str:
    raise Encrypted


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """Give content a path, which the ssl module insists on: in memory, so that a read-only root is enough."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tls", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(content)
            yield f"/proc/self/fd/{descriptor}"
    else:  # not Linux: a developer's machine
        with tempfile.NamedTemporaryFile() as named:
            named.write(content)
            named.flush()
            yield named.name

"""TLS handshakes in memory and on loopback."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from certs import Generation


def server_context(generation: Generation, folder: Path) -> ssl.SSLContext:
    """Return a server's context that presents the generation's leaf; OpenSSL reads it only from files."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(generation.certificate)
    key.write_bytes(generation.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def strict_context(*trusted: Generation) -> ssl.SSLContext:
    """Return a client's context that trusts the CAs of these generations; strict, as by default in Python 3.13."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_verify_locations(cadata="".join(generation.ca_certificate.decode() for generation in trusted))
    return context


def handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> None:
    """Complete a handshake between both ends, in memory.

    Raises:
        ssl.SSLCertVerificationError: the client does not accept the server's certificate.
    """
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    # A handshake takes two rounds in TLS 1.3, and three in TLS 1.2.
    for _ in range(3):
        for end in list(ends):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            ends.remove(end)
    assert not ends, "the handshake did not end"


@contextmanager
def loopback_server(context: ssl.SSLContext) -> Iterator[str]:
    """Yield the address of a server that accepts handshakes until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        stopped = threading.Event()

        def serve() -> None:
            while not stopped.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(10)
                    try:
                        context.wrap_socket(connection, server_side=True).close()
                    except OSError:
                        # The client rejected the certificate; the test reads its error.
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stopped.set()
            thread.join()

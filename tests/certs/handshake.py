"""TLS handshakes in memory and on loopback."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from certs import Generation


def server_context(generation: Generation, folder: Path) -> ssl.SSLContext:
    """A server's context that shows the generation's leaf; OpenSSL reads it from files only."""
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(generation.certificate)
    key.write_bytes(generation.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def strict_context(*trusted: Generation) -> ssl.SSLContext:
    """A client's context that trusts the CAs of these generations, as strictly as Python 3.13 does unasked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_verify_locations(cadata="".join(generation.ca_certificate.decode() for generation in trusted))
    return context


def handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> None:
    """Both ends in memory, until the client is content and the server has heard so.

    Raises:
        ssl.SSLCertVerificationError: the client does not accept the server's certificate.
    """
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    # Two flights a side are a whole handshake of TLS 1.3; TLS 1.2 needs three.
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
    """The address of a server that makes a handshake with whoever comes, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(10)
                    try:
                        context.wrap_socket(connection, server_side=True).close()
                    except OSError:
                        # A client that rejects us hangs up; what it says is what the test reads.
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            done.set()
            thread.join()

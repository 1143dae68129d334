"""TLS: what is spoken, what is rejected, and what is sent to the wrong port."""

import asyncio
import ssl
import warnings

import pytest

from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import PATIENCE, Running, Shown, head, post


def client(shown: Shown, **attributes: object) -> ssl.SSLContext:
    """A client that is less careful than ours."""
    context = ssl.create_default_context(cafile=None)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name, value in attributes.items():
            setattr(context, name, value)
    return context


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_modern_versions_are_spoken(server: Running, shown: Shown, version: ssl.TLSVersion) -> None:
    tls = client(shown, minimum_version=version, maximum_version=version)
    connection = await server.connect(tls=tls)
    assert (await connection.ask(post())).code == 200
    session = connection.writer.get_extra_info("ssl_object")
    assert session.compression() is None
    assert session.cipher()[2] >= 128


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
async def test_old_versions_are_rejected(server: Running, shown: Shown, version: ssl.TLSVersion) -> None:
    tls = client(shown, minimum_version=version, maximum_version=version)
    tls.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await server.connect(tls=tls)
    assert await server.lives()


@pytest.mark.parametrize("suite", ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-CCM8"])
async def test_weak_suites_are_rejected(server: Running, shown: Shown, suite: str) -> None:
    tls = client(shown, maximum_version=ssl.TLSVersion.TLSv1_2)
    tls.set_ciphers(f"{suite}:@SECLEVEL=0")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await server.connect(tls=tls)


async def test_only_http_1_1_is_agreed_on(server: Running, shown: Shown) -> None:
    tls = client(shown)
    tls.set_alpn_protocols(["h2", "http/1.1"])
    connection = await server.connect(tls=tls)
    assert connection.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"


@pytest.mark.parametrize("name", [None, "other.example.com", "127.0.0.1", "x" * 63])
async def test_whatever_server_name_is_asked_for_the_certificate_is_shown(
    server: Running, shown: Shown, name: str | None
) -> None:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", server.listening.port, ssl=client(shown), server_hostname=name or ""
    )
    writer.write(post())
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()


@pytest.mark.parametrize(
    "sent",
    [head("GET", "/healthz"), b"\x00" * 100, b"\x16\x03\x01\xff\xff" + b"\xff" * 200, b"SSH-2.0-x\r\n"],
    ids=["plain HTTP", "zeros", "a broken hello", "SSH"],
)
async def test_what_is_no_tls_is_closed_without_a_word_in_the_log(
    server: Running, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    connection = await server.connect(tls=False)
    await connection.send(sent)
    async with asyncio.timeout(PATIENCE):
        await connection.reader.read()
    assert await server.lives()
    assert not [record for record in caplog.records if record.name == "webhook" and record.levelname != "INFO"]


async def test_tls_on_the_plain_port_is_closed(server: Running, shown: Shown) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await server.connect(tls=client(shown), port=server.listening.health_port)
    assert (await server.probe("/healthz")).code == 200


async def test_who_makes_no_handshake_is_closed(start: Start) -> None:
    server = await start(handshake_time=0.2)
    connection = await server.connect(tls=False)
    assert await server.lives()
    async with asyncio.timeout(PATIENCE):
        assert await connection.closed()

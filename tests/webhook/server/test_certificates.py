"""What is served changes while it is served; no handshake and no connection fails for it."""

import asyncio
import gc
import json
import logging
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from certs import Generation
from tests.webhook.server.conftest import Start
from tests.webhook.server.offers import DAYS, NAME, NOW, issued, issued_with, offered, without_authority
from tests.webhook.server.wire import Running, head, post, until
from webhook.server.candidate import BadCertificate, Candidate, Fault
from webhook.server.certificates import Certificates
from webhook.server.log import JSONFormatter
from webhook.server.metrics import Metrics

FIRST, SECOND = issued(), issued()
DAY = timedelta(days=1)
#: OpenSSL's X509_V_FLAG_NO_CHECK_TIME: these tests keep a time of their own.
ANY_TIME = 0x200000


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now.timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def certificates(metrics: Metrics, clock: Clock) -> Certificates:
    return Certificates(metrics, NAME, clock)


@pytest.fixture
async def server(start: Start, certificates: Certificates, metrics: Metrics) -> Running:
    """A server that has no certificate yet."""
    started: Running = await start(certificates=certificates, metrics=metrics)
    return started


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What is logged, as it is printed."""
    caplog.set_level(logging.INFO, "webhook")
    printed: list[str] = []
    handler = logging.Handler()
    handler.setFormatter(JSONFormatter())
    handler.emit = lambda record: printed.append(handler.format(record))  # type: ignore[method-assign]
    logging.getLogger("webhook").addHandler(handler)
    yield printed
    logging.getLogger("webhook").removeHandler(handler)


def trusting(*generations: Generation) -> ssl.SSLContext:
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.verify_flags |= ANY_TIME
    client.load_verify_locations(cadata="".join(generation.ca_certificate.decode() for generation in generations))
    return client


def refused(certificates: Certificates, candidate: Candidate) -> Fault:
    with pytest.raises(BadCertificate) as error:
        certificates.offer(candidate)
    return error.value.fault


async def test_without_a_certificate_no_handshake_succeeds_and_the_server_is_not_ready(server: Running) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await server.connect(tls=trusting(FIRST))
    answer = await server.probe("/readyz")
    assert (answer.code, answer.body) == (503, b"no certificate yet\n")
    assert (await server.probe("/healthz")).code == 200
    assert (await server.metrics())['webhook_tls_handshake_errors_total{reason="no-certificate"}'] == 1


async def test_the_server_becomes_ready_when_a_certificate_comes(server: Running, certificates: Certificates) -> None:
    certificates.offer(offered(FIRST, 1))
    assert (await server.probe("/readyz")).code == 200
    connection = await server.connect(tls=trusting(FIRST))
    assert (await connection.ask(post())).code == 200


async def test_readiness_says_why_the_first_one_is_not_served(server: Running, certificates: Certificates) -> None:
    refused(certificates, replace(offered(FIRST), key=SECOND.key))
    answer = await server.probe("/readyz")
    assert answer.body.decode().startswith("no certificate yet: tls.key must be the key of")


async def test_readiness_says_that_what_is_served_has_expired(
    server: Running, certificates: Certificates, clock: Clock
) -> None:
    certificates.offer(offered(FIRST, 1))
    clock.now = NOW + DAYS
    answer = await server.probe("/readyz")
    assert (answer.code, answer.body) == (503, b"certificate expired\n")


async def test_new_handshakes_get_the_new_certificate_and_old_connections_stay(
    server: Running, certificates: Certificates
) -> None:
    certificates.offer(offered(FIRST, 1))
    before = await server.connect(tls=trusting(FIRST))
    assert (await before.ask(post())).code == 200
    certificates.offer(offered(SECOND, 2))
    after = await server.connect(tls=trusting(SECOND))
    assert (await after.ask(post())).code == 200
    assert (await before.ask(post())).code == 200
    with pytest.raises(ssl.SSLCertVerificationError):
        await server.connect(tls=trusting(FIRST))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("name", [None, "other.example.com", NAME])
async def test_what_is_served_does_not_hang_on_what_the_client_names(
    server: Running, certificates: Certificates, name: str | None, version: ssl.TLSVersion
) -> None:
    certificates.offer(offered(FIRST, 1))
    certificates.offer(offered(SECOND, 2))
    client = trusting(SECOND)
    client.check_hostname = False
    client.minimum_version = client.maximum_version = version
    client.set_alpn_protocols(["h2", "http/1.1"])
    _, writer = await asyncio.open_connection(
        "127.0.0.1", server.listening.port, ssl=client, server_hostname=name or ""
    )
    session = writer.get_extra_info("ssl_object")
    assert (session.version(), session.selected_alpn_protocol()) == (
        version.name.replace("_", ".").replace("v1.", "v1."),
        "http/1.1",
    )
    writer.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_no_session_is_taken_up_again_with_another_certificate(
    server: Running, certificates: Certificates, version: ssl.TLSVersion
) -> None:
    """Its client would not check the certificate again, and go on trusting a revoked one."""
    certificates.offer(offered(FIRST, 1))
    client = trusting(FIRST, SECOND)
    client.minimum_version = client.maximum_version = version

    def called(session: ssl.SSLSession | None) -> tuple[ssl.SSLSession | None, bool | None]:
        with (
            socket.create_connection(("127.0.0.1", server.listening.port)) as plain,
            client.wrap_socket(plain, server_hostname=NAME, session=session) as spoken,
        ):
            spoken.sendall(post(Connection="close"))
            while spoken.recv(1000):
                pass
            outcome = spoken.session, spoken.session_reused
            spoken.unwrap()  # a session that ends otherwise is forgotten
            return outcome

    session, _ = await asyncio.to_thread(called, None)
    assert session is None or not session.has_ticket
    certificates.offer(offered(SECOND, 2))
    assert not (await asyncio.to_thread(called, session))[1]


@pytest.mark.parametrize(
    "candidate, fault",
    [
        (replace(offered(SECOND, 2), certificate=SECOND.certificate[:300]), Fault.UNREADABLE),
        (replace(offered(SECOND, 2), key=FIRST.key), Fault.KEY),
        (replace(offered(SECOND, 2), authority=SECOND.certificate), Fault.AUTHORITY),
        (offered(issued(namespace="elsewhere"), 2), Fault.NAME),
        (offered(issued(NOW - 2 * DAYS), 2), Fault.EXPIRED),
        (offered(issued(NOW + DAYS), 2), Fault.EARLY),
        (offered(issued(NOW - DAY), 0 + 1), Fault.OLDER),
        (offered(SECOND, "two"), Fault.GENERATION),
        (Candidate(), Fault.MISSING),
        (replace(offered(SECOND, 2), certificate=b"x" * 2_000_000), Fault.UNREADABLE),
    ],
    ids=lambda value: "" if isinstance(value, Candidate) else str(value),
)
async def test_the_last_good_one_is_kept_counted_and_reported(
    server: Running, certificates: Certificates, lines: list[str], candidate: Candidate, fault: Fault
) -> None:
    certificates.offer(offered(FIRST, 2 if fault is Fault.OLDER else 1))
    lines.clear()
    assert refused(certificates, candidate) is fault
    assert refused(certificates, candidate) is fault
    connection = await server.connect(tls=trusting(FIRST))
    assert (await connection.ask(post())).code == 200
    assert (await server.probe("/readyz")).code == 200
    counted = await server.metrics()
    assert counted[f'webhook_certificate_reloads_total{{result="{fault}"}}'] == 2
    assert counted["certwatcher_read_certificate_errors_total"] == 2
    (line,) = [json.loads(line) for line in lines if '"error"' in line]
    assert (line["message"], line["fault"]) == ("certificate rejected", fault)
    assert "PRIVATE" not in str(lines)


def test_the_end_of_a_certificate_is_logged_as_a_time(certificates: Certificates, lines: list[str]) -> None:
    certificates.offer(offered(FIRST, 1))
    (line,) = [json.loads(line) for line in lines if "certificate served" in line]
    assert datetime.fromisoformat(line["notAfter"]) == NOW + DAYS


async def test_the_metrics_tell_what_is_served(server: Running, certificates: Certificates) -> None:
    certificates.offer(offered(FIRST, 1))
    certificates.offer(offered(SECOND, 2))
    assert certificates.served
    counted = await server.metrics()
    assert {
        "webhook_certificate_generation": 2.0,
        "webhook_certificate_not_before_timestamp_seconds": (NOW - timedelta(hours=1)).timestamp(),
        "webhook_certificate_not_after_timestamp_seconds": (NOW + DAYS).timestamp(),
        f'webhook_certificate_info{{ca="{certificates.served.authority}"}}': 1.0,
        'webhook_certificate_reloads_total{result="served"}': 2.0,
        'webhook_certificate_reloads_total{result="key"}': 0.0,
        "certwatcher_read_certificate_total": 2.0,
        "certwatcher_read_certificate_errors_total": 0.0,
    }.items() <= counted.items()
    assert len([name for name in counted if name.startswith("webhook_certificate_info")]) == 1


def test_what_is_offered_again_is_not_taken_again(certificates: Certificates, lines: list[str]) -> None:
    certificates.offer(offered(FIRST, 1))
    served = certificates.served
    certificates.offer(offered(FIRST, 1))
    certificates.look_again()
    assert certificates.served is served
    assert len(lines) == 1


def test_what_is_withdrawn_is_served_from_memory(certificates: Certificates) -> None:
    certificates.offer(offered(FIRST, 1))
    certificates.withdraw()
    certificates.look_again()
    assert certificates.served
    assert certificates.lacking() == ""


def test_what_came_too_early_is_served_once_its_time_has_come(certificates: Certificates, clock: Clock) -> None:
    assert refused(certificates, offered(issued(NOW + DAY), 1)) is Fault.EARLY
    clock.now = NOW + DAY
    certificates.look_again()
    assert certificates.served


def test_a_failure_of_the_machine_is_no_end_of_serving(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates.offer(offered(FIRST, 1))

    def no_descriptors(*_: object) -> int:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr("os.memfd_create", no_descriptors)
        assert refused(certificates, offered(SECOND, 2)) is Fault.UNREADABLE
    certificates.look_again()
    assert certificates.served
    assert certificates.served.generation == 2


@pytest.mark.parametrize(
    "fault, spoil",
    [
        ("rejected", {"trust": False}),
        ("unsupported", {"maximum_version": ssl.TLSVersion.TLSv1_1}),
        ("not-tls", {"plain": head("GET", "/healthz")}),
        ("not-tls", {"plain": b"SSH-2.0-x\r\n"}),
        ("left", {"plain": b""}),
    ],
    ids=["a CA that the client does not know", "an old version", "plain HTTP", "SSH", "only a connection"],
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_failed_handshakes_are_counted_by_why(
    server: Running, certificates: Certificates, fault: str, spoil: dict[str, object]
) -> None:
    certificates.offer(offered(FIRST, 1))

    def call() -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", server.listening.port)) as plain:
            if isinstance(sent := spoil.get("plain"), bytes):
                plain.sendall(sent)
                plain.shutdown(socket.SHUT_WR)
                plain.recv(100)
                return
            client = trusting(FIRST if spoil.get("trust", True) else SECOND)
            if version := spoil.get("maximum_version"):
                client.set_ciphers("ALL:@SECLEVEL=0")
                client.minimum_version = client.maximum_version = version  # type: ignore[assignment]
            client.wrap_socket(plain, server_hostname=NAME)

    await asyncio.to_thread(call)

    async def counted() -> bool:
        gc.collect()
        samples = await server.metrics()
        return samples[f'webhook_tls_handshake_errors_total{{reason="{fault}"}}'] == 1

    await until(counted)
    assert (
        sum(v for k, v in (await server.metrics()).items() if k.startswith("webhook_tls_handshake_errors_total")) == 1
    )
    connection = await server.connect(tls=trusting(FIRST))
    assert (await connection.ask(post())).code == 200
    assert (
        sum(v for k, v in (await server.metrics()).items() if k.startswith("webhook_tls_handshake_errors_total")) == 1
    )


@pytest.mark.asyncio(loop_factories=["uvloop"])
async def test_hundreds_of_changes_leave_nothing_behind(server: Running, certificates: Certificates) -> None:
    generations = [issued() for _ in range(4)]
    trusts = [trusting(generation) for generation in generations]
    bad = replace(offered(FIRST), key=SECOND.key)

    async def change(times: int) -> None:
        for count in range(times):
            which = count % len(generations)
            certificates.offer(offered(generations[which]))
            if count % 10 == 0:
                refused(certificates, bad)
                connection = await server.connect(tls=trusts[which])
                assert (await connection.ask(post())).code == 200
                await connection.close()
        server.connections.clear()
        await until(server.left)

    def held() -> tuple[int, int]:
        # Without the garbage collector: it does not know how much a context holds beside Python's objects.
        contexts = sum(isinstance(candidate, ssl.SSLContext) for candidate in gc.get_objects())
        return len(list(Path("/proc/self/fd").iterdir())), contexts

    await change(20)
    gc.collect()
    files, contexts = held()
    await change(300)
    await until(lambda: held()[0] <= files)  # the last connection is closed soon
    _, now_contexts = held()
    assert now_contexts - contexts < 60  # of 300; tracebacks of rejections hold some until they are collected


@pytest.mark.parametrize("candidate", [issued_with(), without_authority(FIRST)], ids=["foreign", "no CA given"])
def test_what_others_issue_counts_as_generation_0(certificates: Certificates, candidate: Candidate) -> None:
    certificates.offer(candidate)
    assert certificates.served
    assert certificates.served.generation == 0

"""Notifications, to a receiver that fails in every way."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest
from aiohttp import web

from jobgate.cluster import Backoff
from jobgate.controller import ControllerMetrics
from jobgate.controller.territory import Territory
from jobgate.jobs.status import STATE
from jobgate.names import HTTP_ADDRESS
from jobgate.runner import notify
from jobgate.runner.actions import SetState
from jobgate.runner.dispatch import Dispatcher
from jobgate.runner.notify import Notifier, NotifySettings, message, read_secrets, signed
from jobgate.runner.plan import plan
from jobgate.runner.queues.admission import Queue, Queues
from jobgate.runner.reading import Caches, JobReader
from jobgate.runner.seen import JobKey, Seen
from tests.runner.world import START, UID, World, dijob, subject, task, torchjob, vcjob

SECRET = "whsec_" + base64.b64encode(b"a secret of the administrator").decode()
KEY: JobKey = ("dijobs.diengine.opendilab.org", "lab", "train")


class Received(NamedTuple):
    """A request to the receiver."""

    path: str
    headers: dict[str, str]
    body: bytes


def verified(received: Received, secret: str = SECRET) -> bool:
    """Verify a signature as the documentation shows."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{received.headers['webhook-id']}.{received.headers['webhook-timestamp']}.".encode() + received.body
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    given = [each.removeprefix("v1,") for each in received.headers["webhook-signature"].split()]
    return any(hmac.compare_digest(expected, each) for each in given)


class Receiver:
    """An HTTP server that answers with these codes, and then with 204."""

    def __init__(self, *codes: int) -> None:
        self.received: list[Received] = []
        self.hangs: set[str] = set()
        self._codes = list(codes)
        self._free = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Take a request."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.received.append(Received(request.path, headers, await request.read()))
        if request.path in self.hangs:
            await self._free.wait()
        code = self._codes.pop(0) if self._codes else 204
        body = b"x" * 1_000_000 if code == 200 else b""
        return web.Response(status=code, headers={"Location": "/elsewhere"}, body=body)

    @contextlib.asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Listen within the block, and return the address."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/jobs?tenant=secret"
        finally:
            self._free.set()
            await runner.cleanup()


def ended(world: World | None = None) -> World:
    """A job that has ended, and whose end is to be reported."""
    world = world or World(dijob(task(2)))
    world.settle()
    for number in range(2):
        world.end(number=number)
    world.kubernetes()
    for action in plan(replace(subject(world.job), notifies=True), world.observed()):
        world._do(action)
    return world


class Sending:
    """A notifier that runs within a block."""

    def __init__(self, folder: Path, address: str = "", dispatcher: Dispatcher | None = None) -> None:
        secret = folder / "secret"
        if not secret.exists():
            secret.write_text(f"{SECRET}\n")
        self.secret = secret
        self.now = START + timedelta(minutes=1)
        self.later: asyncio.Queue[tuple[JobKey, float]] = asyncio.Queue()
        self.metrics = ControllerMetrics()
        settings = NotifySettings(secret, address)
        self.notifier = Notifier(
            settings, dispatcher, self.metrics, lambda: self.now, lambda *a: self.later.put_nowait(a)
        )

    def wants(self, world: World, uid: str = UID) -> bool:
        """Look at a job."""
        job = subject({**world.job, "metadata": {**world.job["metadata"], "uid": uid}})
        return self.notifier.wants(KEY, job, world.observed())

    def count(self, outcome: str) -> float:
        """How many messages had an outcome."""
        return self.metrics.registry.get_sample_value("jobgate_notifications_total", {"outcome": outcome}) or 0.0

    @property
    def waiting(self) -> float | None:
        """How many messages wait."""
        return self.metrics.registry.get_sample_value("jobgate_notifications_waiting")

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self.notifier.run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "RETRY", Backoff(first=0.01, most=0.05))


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def test_the_end_of_a_job_is_stored_together_with_that_it_is_to_be_reported() -> None:
    assert ended().job["status"][STATE]["notify"] is True
    silent = World(dijob(task(1)))
    silent.settle()
    silent.end()
    silent.settle()
    assert silent.job["status"]["phase"] == "Succeeded"
    assert "notify" not in silent.job["status"][STATE]


def test_nothing_is_to_be_reported_once_the_message_was_received() -> None:
    world = ended()
    waits = plan(replace(subject(world.job), notifies=True), world.observed())
    done = plan(replace(subject(world.job), notifies=False), world.observed())
    assert not [each for each in waits if isinstance(each, SetState)]
    (state,) = [each.state for each in done if isinstance(each, SetState)]
    assert "notify" not in state


@pytest.mark.parametrize(
    ("job", "name", "code", "expected"),
    [
        (dijob(task(2), queue="research"), "work", 0, ("Succeeded", "JobSucceeded", {"Succeeded": 2})),
        (dijob(task(2), backoffLimit=0), "work", 3, ("Failed", "JobFailed", {"Failed": 1})),
        (vcjob(), "work", 0, ("Succeeded", "", {"Succeeded": 1})),
        (torchjob(), "master", 0, ("Succeeded", "JobSucceeded", {"Succeeded": 1})),
    ],
)
def test_a_message_says_what_has_ended_and_how(job: Any, name: str, code: int, expected: tuple[Any, ...]) -> None:
    world = World(job)
    world.settle()
    world.end(name, code=code)
    if not code and len(world.pods) > 1:
        world.end(name, 1)
    while subject(world.job).runner.end_phase(world.job["status"]) is None:
        world.kubernetes()
        world.step()
    event = json.loads(message(subject(world.job), world.observed(), "research"))
    details = event.pop("data")
    assert event == {
        "specversion": "1.0",
        "id": UID,
        "source": f"/apis/{job['apiVersion']}/namespaces/lab/{subject(job).job.kind.plural}",
        "type": "dev.jobgate.job.ended",
        "subject": "train",
        "datacontenttype": "application/json",
    }
    assert (details["kind"], details["name"], details["uid"]) == (job["kind"], "train", UID)
    assert (details["phase"], details["reason"], details["pods"]) == expected
    assert details["queue"] == "research"
    assert details["ended"] == details["started"] == "2026-01-01T00:00:00Z"
    assert isinstance(details["message"], str)


def test_a_signature_is_that_of_standard_webhooks() -> None:
    """The values are those of the specification's own libraries."""
    (secret,) = read_secrets(b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    body = b'{"test": 2432232314}'
    headers = signed([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    "content", [b"", b"secret", b"whsec_c2hvcnQ=", b"whsec_%%%", b"\xff\xfe", SECRET.encode() + b"\nx"]
)
def test_a_secret_that_is_none_is_an_error_that_does_not_show_it(content: bytes) -> None:
    with pytest.raises(ValueError, match="each line must be whsec_ and at least 24 bytes in base64") as raised:
        read_secrets(content)
    assert "secret" not in str(raised.value)


async def test_a_message_is_sent_once_and_signed(tmp_path: Path) -> None:
    receiver = Receiver()
    async with receiver.listening() as address, Sending(tmp_path, address) as sending:
        world = ended()
        assert sending.wants(world)
        assert sending.wants(world)
        await until(lambda: sending.count("sent") == 1)
        assert await sending.later.get() == (KEY, 0.0)
        assert not sending.wants(world)
    (received,) = receiver.received
    assert received.path == "/jobs"
    assert received.headers["content-type"] == "application/cloudevents+json"
    assert received.headers["webhook-id"] == json.loads(received.body)["id"] == UID
    assert received.headers["webhook-timestamp"] == str(int(sending.now.timestamp()))
    assert verified(received)
    assert not verified(received._replace(body=received.body + b" "))
    assert not verified(received, "whsec_" + base64.b64encode(b"another secret, as long as it").decode())
    assert sending.waiting == 0


@pytest.mark.parametrize("code", [500, 503, 404, 401, 429, 301, 307])
async def test_an_answer_that_is_no_success_is_an_attempt_that_failed(code: int, tmp_path: Path) -> None:
    receiver = Receiver(code, code, 200)
    async with receiver.listening() as address, Sending(tmp_path, address) as sending:
        sending.wants(ended())
        await until(lambda: sending.count("sent") == 1)
    assert sending.count("failed") == 2
    assert [each.path for each in receiver.received] == ["/jobs"] * 3
    assert len({each.headers["webhook-id"] for each in receiver.received}) == 1


async def test_a_receiver_that_is_gone_gets_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    receiver = Receiver(410)
    with caplog.at_level(logging.INFO, "jobgate"):
        async with receiver.listening() as address, Sending(tmp_path, address) as sending:
            world = ended()
            sending.wants(world)
            assert await asyncio.wait_for(sending.later.get(), 20) == (KEY, 0.0)
            assert not sending.wants(world)
            assert sending.count("given_up") == 1
    assert len(receiver.received) == 1
    (entry,) = [each for each in caplog.records if each.getMessage() == "notification given_up"]
    fields = entry.fields  # type: ignore[attr-defined]
    assert (fields["job"], fields["reason"]) == ("lab/train", "answered 410")
    assert "secret" not in str(fields)


async def test_a_message_is_sent_when_the_receiver_is_back(tmp_path: Path) -> None:
    receiver = Receiver()
    async with receiver.listening() as address:
        port = int(address.split(":")[2].split("/")[0])
    async with Sending(tmp_path, address) as sending:
        sending.wants(ended())
        await until(lambda: sending.count("failed") >= 3)
        async with receiver.listening(port):
            await until(lambda: sending.count("sent") == 1)


async def test_a_message_is_given_up_a_day_after_the_end_of_the_job(tmp_path: Path) -> None:
    receiver = Receiver(*[500] * 1000)
    async with receiver.listening() as address, Sending(tmp_path, address) as sending:
        sending.now = START + notify.GIVE_UP
        sending.wants(ended())
        await until(lambda: sending.count("failed") >= 2)
        sending.now += timedelta(seconds=1)
        await until(lambda: sending.count("given_up") == 1)


async def test_a_receiver_that_hangs_delays_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "TIMEOUT", 0.3)
    slow, quick = Receiver(), Receiver()
    slow.hangs.add("/jobs")
    async with slow.listening() as hangs, quick.listening() as works:
        queues = Queues({"slow": Queue(notify=hangs), "default": Queue()})
        caches = Caches({}, Seen(lambda _: None), Territory(), JobReader(""), lambda: START)
        dispatcher = Dispatcher(queues, caches, asyncio.Event(), lambda _: None)
        async with Sending(tmp_path, works, dispatcher) as sending:
            world = ended()
            world.job["status"][STATE]["queue"] = "slow"
            for number in range(50):
                sending.wants(world, f"slow-{number}")
            world.job["status"][STATE]["queue"] = "default"
            sending.wants(world)
            await until(lambda: sending.count("sent") == 1)
            assert len(slow.received) <= notify.AT_ONCE
            await until(lambda: sending.count("failed") > 0)
            assert sending.waiting == 50


async def test_messages_beyond_the_limit_are_taken_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "WAITING", 2)
    sending = Sending(tmp_path, "http://127.0.0.1:9")
    world = ended()
    assert [sending.wants(world, str(number)) for number in range(3)] == [True] * 3
    assert (sending.later.get_nowait(), sending.waiting) == ((KEY, notify.LATER), 2)


async def test_nothing_is_sent_without_an_address(tmp_path: Path) -> None:
    sending = Sending(tmp_path)
    assert not sending.wants(ended())
    assert sending.waiting == 0


async def test_secrets_are_read_again_and_messages_wait_for_valid_ones(tmp_path: Path) -> None:
    first, second = SECRET, "whsec_" + base64.b64encode(b"b" * 32).decode()
    (tmp_path / "secret").write_text("none")
    receiver = Receiver()
    async with receiver.listening() as address, Sending(tmp_path, address) as sending:
        sending.wants(ended())
        await asyncio.sleep(0.2)
        assert not receiver.received
        sending.secret.write_text(f"{first}\n{second}\n")
        await until(lambda: sending.count("sent") == 1)
    assert verified(receiver.received[0], first)
    assert verified(receiver.received[0], second)


@pytest.mark.parametrize(
    ("address", "valid"),
    [
        ("https://example.com/jobs?a=b@c", True),
        ("http://receiver.lab.svc:8080", True),
        ("http://[::1]:80/", True),
        ("ftp://example.com", False),
        ("https://user:password@example.com/", False),
        ("https://example.com/#part", False),
        ("https://example.com/a b", False),
        ("https://", False),
        ("", False),
    ],
)
def test_addresses(address: str, valid: bool) -> None:
    assert bool(re.fullmatch(HTTP_ADDRESS, address)) is valid

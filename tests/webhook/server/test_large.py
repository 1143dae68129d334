"""Large objects are reviewed beside the small ones, one after another, and within limits."""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.webhook.kind import crew, job, parts
from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import MUTATE, VALIDATE, Running, body, post, until
from webhook import Cause, Context, Object, Phase, Registry, Request, Rule
from webhook.server import Route
from webhook.server.body import too_busy
from webhook.server.limits import KIB, Shed
from webhook.server.review_thread import ReviewThread

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

LARGE = body(parts({"name": "a", "x": "y" * 20 * KIB}))


class Held:
    """A rule that holds large jobs until it is asked to go on."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = 0
        self.threads: set[str] = set()

    def __call__(self, job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
        self.threads.add(threading.current_thread().name)
        if len(str(job.document)) > 10 * KIB:
            self.begun += 1
            self.go.wait(20)
        return iter(())


@pytest.fixture
def rule() -> Iterator[Held]:
    held = Held()
    yield held
    held.go.set()


async def serving(start: Start, rule: Held, **limits: int) -> Running:
    server: Running = await start(
        Registry([crew(rules=(Rule(name="held", about="", check=rule),))]), inline=10 * KIB, **limits
    )
    return server


async def test_small_reviews_are_answered_while_a_large_one_is_at_work(start: Start, rule: Held) -> None:
    server = await serving(start, rule)
    large = asyncio.create_task(server.ask(post(LARGE)))
    await until(lambda: rule.begun == 1)
    for _ in range(3):
        assert (await server.ask(post())).response["allowed"]
    assert (await server.probe("/readyz")).code == 200
    assert not large.done()
    rule.go.set()
    assert (await large).response["allowed"]
    assert len(rule.threads) == 2


async def test_too_many_large_objects_are_answered_429_and_small_ones_are_not(start: Start, rule: Held) -> None:
    server = await serving(start, rule, large=2)
    waiting = [asyncio.create_task(server.ask(post(LARGE))) for _ in range(2)]
    await until(lambda: server.endpoint.in_flight == 2 and rule.begun == 1)
    refused = await server.ask(post(LARGE))
    assert (refused.code, refused.headers["retry-after"]) == (429, "1")
    assert await server.lives()
    rule.go.set()
    assert [(await answer).code for answer in waiting] == [200, 200]
    assert (await server.metrics())['webhook_shed_requests_total{reason="large"}'] == 1
    assert (server.endpoint.in_flight, server.endpoint.held.bytes) == (0, 0)


async def test_a_large_object_whose_caller_has_left_is_not_reviewed(start: Start, rule: Held) -> None:
    server = await serving(start, rule)
    first = asyncio.create_task(server.ask(post(LARGE)))
    await until(lambda: rule.begun == 1)
    leaving = await server.connect()
    await leaving.send(post(LARGE))
    await until(lambda: server.endpoint.in_flight == 2)
    leaving.writer.transport.abort()

    async def only_one() -> bool:
        return await server.connected() == 1

    await until(only_one)
    rule.go.set()
    assert (await first).code == 200
    await until(lambda: server.endpoint.in_flight == 0)
    assert rule.begun == 1
    assert (await server.metrics())['webhook_rejected_requests_total{reason="left"}'] == 1


async def test_a_large_object_that_is_broken_or_denied_is_answered_as_any_other(start: Start, rule: Held) -> None:
    rule.go.set()
    server = await serving(start, rule)
    connection = await server.connect()
    broken = b"{" + b" " * 20 * KIB
    denied = body(parts({"name": "a", "replicas": 0, "x": "y" * 20 * KIB}))
    patched = body(parts({"role": "lead", "x": "y" * 20 * KIB}))
    assert (await connection.ask(post(broken))).code == 400
    assert not (await connection.ask(post(denied))).response["allowed"]
    assert "patch" in (await connection.ask(post(patched, MUTATE))).response
    assert (await connection.ask(post(body(job())))).response["allowed"]


async def test_what_waits_for_others_waits_in_the_loop_also_for_a_large_object(start: Start) -> None:
    server: Running = await start(inline=10 * KIB)
    threads = []

    async def waits(admission: Request) -> None:
        await asyncio.sleep(0)
        threads.append(threading.current_thread())

    server.endpoint.routes = {VALIDATE: Route("crews", Phase.VALIDATE, waits)}
    assert (await server.ask(post(LARGE))).response["allowed"]
    assert threads == [threading.main_thread()]


async def test_a_reviewer_that_is_too_busy_is_answered_429(start: Start) -> None:
    server: Running = await start()

    async def busy(_: Request) -> None:
        raise too_busy(Shed.LARGE, "too many large objects at once")

    server.endpoint.routes = {VALIDATE: Route("crews/scale", Phase.VALIDATE, busy)}
    refused = await server.ask(post())
    assert (refused.code, refused.headers["retry-after"]) == (429, "1")
    assert (await server.metrics())['webhook_shed_requests_total{reason="large"}'] == 1


async def test_a_large_object_that_something_is_asked_for_first_is_reviewed_apart_as_well(
    start: Start, rule: Held
) -> None:
    server = await serving(start, rule)
    server.endpoint.needs = lambda _, __: asyncio.sleep(0)
    rule.go.set()
    assert (await server.ask(post(LARGE))).response["allowed"]
    assert rule.begun == 1
    assert threading.main_thread().name not in rule.threads


async def test_a_large_object_is_reviewed_once_the_answer_to_the_one_before_is_given() -> None:
    thread, order = ReviewThread(8), []

    async def reviewed(number: int) -> None:
        await thread.run(lambda: order.append(f"{number} reviewed"))
        order.append(f"{number} answered")

    pending = [asyncio.create_task(reviewed(number)) for number in range(3)]
    while not all(task.done() for task in pending):
        await asyncio.sleep(0)
        time.sleep(0.01)  # the event loop has other work for as long  # noqa: ASYNC251
    assert order == [f"{number} {what}" for number in range(3) for what in ("reviewed", "answered")]

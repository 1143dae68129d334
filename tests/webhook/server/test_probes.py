"""Probes and metrics, whatever the admission port is asked."""

import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.webhook.kind import crew
from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import Running, head, post
from webhook import Cause, Context, Object, Registry, rule
from webhook.server.limits import PROBES
from webhook.server.probes import DEAD, Answers

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_they_are_answered_while_a_review_holds_the_event_loop(start: Start, path: str) -> None:
    answered: list[int] = []
    servers: list[Running] = []

    def asks(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
        address = f"http://127.0.0.1:{servers[0].listening.health_port}{path}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            answered.append(answer.status)
        return iter(())

    servers.append(await start(Registry([crew(rules=(rule()(asks),))])))
    assert (await servers[0].ask(post())).code == 200
    assert answered == [200]


async def test_they_are_answered_however_many_connections_their_port_has(server: Running) -> None:
    for _ in range(PROBES.connections_per_address + 5):
        await server.connect(tls=False, port=server.listening.health_port)
    assert (await server.probe("/healthz")).code == 200


async def test_they_are_answered_in_order_if_they_are_sent_ahead(server: Running) -> None:
    connection = await server.connect(tls=False, port=server.listening.health_port)
    await connection.send(head("GET", "/healthz") + head("GET", "/nowhere") + head("GET", "/readyz"))
    assert [(await connection.answer()).code for _ in range(3)] == [200, 404, 200]


@pytest.mark.parametrize("silent, code", [(0.0, 200), (DEAD - 5, 200), (DEAD + 5, 503)])
async def test_a_loop_that_made_no_turn_for_long_is_dead(silent: float, code: int) -> None:
    probes = Answers(lambda: "", lambda: b"")
    probes.beat -= silent
    assert probes.routes["/healthz"]()[0] == code

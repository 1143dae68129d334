"""However the bytes of requests are cut into packets, each request gets its answer, in order."""

import asyncio
import random

import pytest

from tests.webhook.kind import parts
from tests.webhook.server.wire import MUTATE, Connection, Running, body, chunked, head, post

GOOD = body()
#: A request, and the code of its answer; each leaves the connection open.
REQUESTS = [
    (post(), 200),
    (post(path=MUTATE), 200),
    (post(body(parts({}))), 200),
    (head(Transfer_Encoding="chunked") + chunked(GOOD[:7], GOOD[7:]), 200),
    (post(b"{"), 400),
    (post(b""), 400),
    (post(body(parts({"name": "x" * 40_000}))), 200),
    (head("GET"), 405),
    (post(path="/nowhere"), 404),
]


@pytest.mark.parametrize("seed", range(12))
async def test_requests_are_answered_in_order_however_they_are_cut(server: Running, seed: int) -> None:
    chance = random.Random(seed)
    # A rejection before the body has come closes the connection: those that are rejected by their head come last.
    chosen = [chance.choice(REQUESTS[:7]) for _ in range(12)] + [REQUESTS[7], chance.choice(REQUESTS[7:])]
    sent = b"".join(request for request, _ in chosen)
    cuts = sorted(chance.sample(range(1, len(sent)), chance.choice([0, 1, 5, 40])))
    connection = await server.connect()
    answers = asyncio.create_task(all_answers(connection, len(chosen)))
    for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True):
        await connection.send(sent[start:end])
        await asyncio.sleep(0)
    assert await answers == [code for _, code in chosen]


async def all_answers(connection: Connection, count: int) -> list[int]:
    return [(await connection.answer()).code for _ in range(count)]

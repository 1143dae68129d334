"""What connections cost that are open at once, each of which has made a request. On loopback only."""

from __future__ import annotations

import asyncio
import resource
import ssl

from bench.comparison.scenarios import Scenario
from bench.growth.probe import Probe, probing
from bench.growth.series import Point, Series
from webhook import Phase

#: As many come from one address at most, and so many are opened at once.
PER_ADDRESS, AT_ONCE = 250, 50


def connections(count: int) -> dict[str, Point]:
    """Open so many connections, make a request on each, and measure while all are open."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with probing() as probe:
        before = probe.server.cpu()
        opened = asyncio.run(_open(probe, count))
        used = (probe.server.cpu() - before) / count * 1000
        return {"connections": Point(count, used, probe.server.peak(), f"{opened} answered and left open")}


async def _open(probe: Probe, count: int) -> int:
    scenario = Scenario("DIJob", 1)
    body, path = scenario.request(Phase.MUTATE, 1), scenario.path(Phase.MUTATE)
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    gate = asyncio.Semaphore(AT_ONCE)

    async def call(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        source = (f"127.0.1.{1 + number // PER_ADDRESS}", 0)
        try:
            async with gate, asyncio.timeout(60):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", probe.server.port, ssl=probe.context, local_addr=source
                )
                writer.write(head.encode() + body)
                answer = await reader.readuntil(b"\r\n\r\n")
        except (OSError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError):
            return None
        return (reader, writer) if b" 200 " in answer[:16] else None

    made = [one for one in await asyncio.gather(*map(call, range(count))) if one is not None]
    still = sum(not reader.at_eof() for reader, _ in made)
    for _, writer in made:
        writer.transport.abort()
    return still


SIZES = (10, 100, 500, 1_000, 2_000, 5_000)
CONNECTIONS = Series("connections", "Open connections", "connections", "a connection", SIZES, connections)

"""A server in a process of its own, for signals: `python -m tests.webhook.server.program CERTIFICATE KEY DELAY`."""

import asyncio
import sys
from pathlib import Path

import uvloop

from tests.webhook.kind import KINDS
from webhook import Settings
from webhook.server import Addresses, Drain, Endpoint, log, serve, stopping_on_signals
from webhook.server.tls import context


async def main(certificate: str, key: str, delay: str) -> None:
    stop = asyncio.Event()
    with stopping_on_signals(stop):
        await serve(
            Endpoint(KINDS, Settings()),
            context(Path(certificate), Path(key)),
            Addresses("127.0.0.1", 0, 0),
            Drain(delay=float(delay), finish=10),
            stop=stop,
        )


if __name__ == "__main__":
    log.configure()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))

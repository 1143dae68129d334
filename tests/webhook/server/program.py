"""A server in a process of its own, for signals: `… tests.webhook.server.program CERTIFICATE KEY DELAY`.

It waits for the first certificate, and serves each new one.
"""

import asyncio
import sys
from pathlib import Path

import uvloop

from tests.webhook.kind import KINDS
from webhook import Settings
from webhook.server import Endpoint, listen, log, serve, stopping_on_signals
from webhook.server.certificates import Certificates
from webhook.server.files import Files, Poller


async def main(certificate: str, key: str, delay: str) -> None:
    stop, endpoint = asyncio.Event(), Endpoint(KINDS, Settings())
    certificates = Certificates(endpoint.metrics)
    endpoint.lacking = certificates.lacking
    poller = Poller(certificates, Files(Path(certificate), Path(key)))
    poller.look()
    with stopping_on_signals(stop), listen("127.0.0.1", 0, 0) as sockets:
        polling = asyncio.create_task(poller.run())
        await serve(
            endpoint,
            certificates.context,
            sockets,
            stop=stop,
            delay=float(delay),
            finish=10,
        )
        polling.cancel()


if __name__ == "__main__":
    log.configure()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))

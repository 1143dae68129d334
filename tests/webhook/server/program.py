"""A server in a process of its own, for signals: `… tests.webhook.server.program CERTIFICATE KEY DELAY [WORKERS]`.

It waits for the first certificate, and serves each new one.
"""

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path

import uvloop

from tests.webhook.kind import KINDS
from webhook import Settings
from webhook.server import Endpoint, listen, log, serve, stopping_on_signals
from webhook.server.certificates import Certificates
from webhook.server.files import Files, Poller
from webhook.server.workers import Supervisor, inherited, stop_with_parent


async def main(certificate: str, key: str, delay: str, workers: str = "1") -> None:
    stop, endpoint = asyncio.Event(), Endpoint(KINDS, Settings())
    sockets = inherited()
    if sockets is None and workers != "1":
        command = [sys.executable, "-m", "tests.webhook.server.program", certificate, key, delay, workers]
        with stopping_on_signals(stop), listen("127.0.0.1", 0, 0) as own:
            await Supervisor(int(workers), command).run(own, stop=stop)
        return
    if sockets is not None:
        stop_with_parent(stop)
    certificates = Certificates(endpoint.metrics)
    endpoint.lacking = certificates.lacking
    poller = Poller(certificates, Files(Path(certificate), Path(key)))
    poller.look()
    with stopping_on_signals(stop), nullcontext(sockets) if sockets else listen("127.0.0.1", 0, 0) as listened_on:
        polling = asyncio.create_task(poller.run())
        await serve(
            endpoint,
            certificates.context,
            listened_on,
            stop=stop,
            delay=float(delay),
            finish=10,
        )
        polling.cancel()


if __name__ == "__main__":
    log.configure()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))

"""`python -m bench.certs_swaps`: what stays in a server's memory after certificates were swapped under handshakes.

    python -m bench.certs_swaps [--swaps N] [--handshakes N]

One server process, without a cluster: it is offered one certificate after the other, and a client in this process makes
handshakes and calls with each. Prints resident memory, Python's objects and open files after each tenth of the swaps;
exit status 1 where the last half of them grew by more than a certificate in ten would have.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import ssl
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from certs import Generation, issue_generation, service_names
from webhook import Registry, Settings
from webhook.server import Addresses, Drain, Endpoint, serve
from webhook.server.candidate import Candidate
from webhook.server.certificates import Certificates

NAME = "jobgate-webhook.jobgate-system.svc"
#: A context of OpenSSL's with its certificate is some 30 KiB.
CONTEXT_KIB = 30
DIFFERENT = 8
CALL = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def generations() -> list[Generation]:
    """Return as many distinct certificates as are compared; issuing a thousand would take longer than swapping them."""
    names = service_names("jobgate-webhook", "jobgate-system")
    return [issue_generation(names, datetime.now(UTC)) for _ in range(DIFFERENT)]


def held() -> dict[str, int]:
    """Return what this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return {"kib": pages * 4, "objects": len(gc.get_objects()), "files": files}


async def served() -> None:
    """Serve; each line that is read is a certificate to serve, or asks what is held."""
    endpoint = Endpoint(Registry([]), Settings())
    certificates = Certificates(endpoint.metrics, NAME)
    stop, started = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve(endpoint, certificates.context, Addresses("127.0.0.1", 0, 0), Drain(), stop=stop, started=started)
    )
    print((await started).port, flush=True)
    reader = asyncio.StreamReader(limit=2**20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        offered = json.loads(line)
        if offered:
            await asyncio.to_thread(certificates.offer, Candidate(*(text.encode() for text in offered)))
        print(json.dumps(None if offered else held()), flush=True)
    stop.set()
    await serving


async def measured(swaps: int, handshakes: int) -> list[dict[str, int]]:
    """Return what a server holds, after each tenth of so many swaps."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bench.certs_swaps", "--serve"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**20,
    )
    assert process.stdin is not None
    assert process.stdout is not None

    async def reported(offered: list[str] | None) -> dict[str, int]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(offered).encode() + b"\n")
        answer: dict[str, int] = json.loads(await process.stdout.readline())
        return answer

    found = []
    try:
        port = int(await process.stdout.readline())
        for swap, (offered, client) in enumerate(offers(swaps), 1):
            await reported(offered)
            await asyncio.gather(*(call(port, client) for _ in range(handshakes)))
            if swap % (swaps // 10) == 0:
                found.append(await reported(None))
                print(f"{swap:>6} swaps: {found[-1]}", flush=True)
    finally:
        process.stdin.close()
        await process.wait()
    return found


def offers(swaps: int) -> Iterator[tuple[list[str], ssl.SSLContext]]:
    """Yield what the server is offered, and a client that trusts it."""
    known = [
        ([one.certificate.decode(), one.key.decode(), one.ca_certificate.decode()], one.ca_certificate.decode())
        for one in generations()
    ]
    clients = [ssl.create_default_context(cadata=authority) for _, authority in known]
    for swap in range(swaps):
        yield known[swap % DIFFERENT][0], clients[swap % DIFFERENT]


async def call(port: int, client: ssl.SSLContext) -> None:
    """Make a handshake and a call."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client, server_hostname=NAME)
    writer.write(CALL)
    assert b" 404 " in await reader.readuntil(b"\r\n\r\n")
    writer.close()


def main() -> None:
    """Measure, and say whether it grows."""
    parser = argparse.ArgumentParser(prog="python -m bench.certs_swaps", description=__doc__.split("\n")[0])
    parser.add_argument("--swaps", type=int, default=1000)
    parser.add_argument("--handshakes", type=int, default=4, help="with each certificate")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    command = parser.parse_args()
    if command.serve:
        with asyncio.Runner(loop_factory=_loop()) as runner:
            runner.run(served())
        return
    found = asyncio.run(measured(command.swaps, command.handshakes))
    grown = found[-1]["kib"] - found[4]["kib"]
    if grown > command.swaps / 2 / 10 * CONTEXT_KIB or found[-1]["files"] > found[4]["files"]:
        print(f"grew by {grown} KiB", file=sys.stderr)
        raise SystemExit(1)


def _loop() -> type[asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        return None
    loop: type[asyncio.AbstractEventLoop] = uvloop.Loop
    return loop


if __name__ == "__main__":
    main()

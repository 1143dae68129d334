"""`python -m bench.soak`: all kinds of load and attack at once, for minutes, against real servers on loopback.

    python -m bench.soak [--minutes N]

Two `jobgate serve` run behind one address. Honest callers send requests all the time, on kept and on new connections.
At the same time there are lists of large jobs, half-open sockets, slow requests and slow readers; the certificate
changes every few seconds, and each half minute a replica is replaced, and stopped as Kubernetes does, or killed. Prints
one line, a JSON object; faults go to standard error. The exit status is 1 if an honest caller fails or waits too long,
or if a server uses more memory or descriptors at the end than at the start. Connections that a killed replica cuts off
are counted, but are no failures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from math import inf
from pathlib import Path
from typing import Any

from bench import cluster
from bench.certs_callers import SERVER_NAME, Address, Tally, broken, sound
from bench.comparison import bodies
from bench.replica import Replica, grown, quarters, serving
from certs import issue_generation, service_names
from jobgate.kinds.dijob import DIJOB
from webhook import Phase

REPLICAS = 2
#: Seconds between two measurements, two certificates, and two replacements of a replica.
LOOK, SWAP, END = 0.5, 3.0, 30.0
#: Limits for the latency of honest callers in seconds: of the 99th percentile, and of the maximum. They are generous,
#: because the machine has only two cores for all of this.
P99, EVER = 0.5, 5.0
#: Number of callers of each kind.
KEPT, NEW, LARGE, SLOW, READERS = 4, 2, 2, 20, 4
#: Tasks of a large job, which has about a megabyte.
TASKS = 8000
#: Number of stored large jobs, which every new replica lists, and their tasks: half a megabyte each.
STORED, STORED_TASKS = 60, 500
#: Seconds after a kill in which connections may be cut off.
CUT = 1.0
#: Seconds before a hostile caller tries again.
RETRY = 0.05


@dataclass
class Soak:
    """The callers, and their results.

    Attributes:
        port: port of all servers.
        client: TLS context that trusts the current certificate.
        end: monotonic time of the end.
        honest: tally of the honest callers.
        waits: latencies of honest callers, in seconds.
        counts: what the other callers did; `cut` is the number of honest calls that a killed replica cut off, and
            `shed` the number that got 429 and were sent again, as the API server does.
        killed: monotonic time of the last kill.
    """

    port: int
    client: ssl.SSLContext
    end: float
    honest: Tally = field(default_factory=Tally)
    waits: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("large", "slow", "swaps", "ends", "cut", "shed"), 0)
    )
    killed: float = -inf

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.end

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection as the API server does."""
        return await asyncio.open_connection("127.0.0.1", self.port, ssl=self.client, server_hostname=SERVER_NAME)

    async def keep(self) -> None:
        """Send requests on one connection until the server closes it, then on the next."""
        streams = None
        while not self.over:
            streams = await self._honest(streams)
            await asyncio.sleep(0.01)
        _close(streams)

    async def renew(self) -> None:
        """Send each request on a new connection."""
        while not self.over:
            _close(await self._honest(None))

    async def _honest(self, streams: Any) -> Any:
        """Send a request with a valid or a broken job; return the connection if it stays open."""
        turn = self.honest.done % 2
        begun = time.monotonic()
        try:
            streams = streams or await self.connect()
            code, kept, answer = await ask(streams, (sound(), broken())[turn])
            while code == HTTPStatus.TOO_MANY_REQUESTS and kept:
                # The API server retries, too.
                self.counts["shed"] += 1
                await asyncio.sleep(1.0)
                code, kept, answer = await ask(streams, (sound(), broken())[turn])
        except (OSError, EOFError, TimeoutError) as error:
            # A killed replica also cuts off handshakes that began before the kill.
            if time.monotonic() - self.killed < CUT and (streams or begun <= self.killed):
                self.counts["cut"] += 1
            else:
                self.honest.fail(repr(error))
            _close(streams)
            return None
        self.waits.append(time.monotonic() - begun)
        if code != 200 or answer["response"]["allowed"] is bool(turn):
            self.honest.fail(f"{code} {str(answer)[:200]}")
        self.honest.done += 1
        if kept:
            return streams
        _close(streams)
        return None

    async def burden(self) -> None:
        """Send large jobs, one after the other."""
        template = {"spec": {"containers": [{"name": "main", "image": "i"}]}}
        job = sound()
        job["spec"] = {"tasks": [{"name": f"t{number}", "template": template} for number in range(TASKS)]}
        while not self.over:
            with suppress(OSError, EOFError, TimeoutError):
                streams = await self.connect()
                code, _, _ = await ask(streams, job)
                self.counts["large"] += code == 200
                _close(streams)
            await asyncio.sleep(RETRY)

    async def dawdle(self, number: int) -> None:
        """Send nothing, or half of a handshake, of a header or of a body; then wait."""
        start = (b"", b"\x16\x03\x01", b"POST / HT", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")[
            number % 4
        ]
        while not self.over:
            with suppress(OSError, EOFError, TimeoutError):
                reader, writer = await (
                    asyncio.open_connection("127.0.0.1", self.port) if number % 4 < 2 else self.connect()
                )
                writer.write(start)
                self.counts["slow"] += 1
                async with asyncio.timeout(min(15.0, max(0.1, self.end - time.monotonic()))):
                    await reader.read()
                writer.close()
            await asyncio.sleep(RETRY)

    async def gape(self) -> None:
        """Send many requests, and read no response."""
        content = request(sound()) * 50
        while not self.over:
            with suppress(OSError, EOFError, TimeoutError):
                _, writer = await self.connect()
                writer.transport.pause_reading()  # type: ignore[attr-defined]  # which the transport of TLS has
                writer.write(content)
                await asyncio.sleep(2.0)
                writer.transport.abort()
            await asyncio.sleep(RETRY)


def request(job: dict[str, Any]) -> bytes:
    """Return an HTTP request to validate a DIJob."""
    content = bodies.review(job, DIJOB.plural, 0)
    path = DIJOB.path(Phase.VALIDATE)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def ask(streams: tuple[asyncio.StreamReader, asyncio.StreamWriter], job: dict[str, Any]) -> tuple[int, bool, Any]:
    """Send a request; return the status code, whether the connection stays open, and the response."""
    reader, writer = streams
    async with asyncio.timeout(30):
        writer.write(request(job))
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        body = await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
    code = int(head.split()[1])
    return code, "connection: close" not in head, json.loads(body) if code == 200 else body[:200]


def _close(streams: Any) -> None:
    if streams:
        streams[1].close()


class Certificates:
    """The certificate files of the servers; each new certificate has a new CA."""

    def __init__(self, folder: Path) -> None:
        """Issue the first certificate."""
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.client = ssl.create_default_context()
        self.swap()

    def swap(self) -> None:
        """Issue another certificate. The client trusts it before it is served, as in a rotation."""
        issued = issue_generation(service_names("jobgate-webhook", "jobgate-system"), datetime.now(UTC))
        self.client.load_verify_locations(cadata=issued.ca_certificate.decode())
        for path, content in ((self.key, issued.key), (self.certificate, issued.certificate)):
            path.with_suffix(".new").write_bytes(content)
            path.with_suffix(".new").replace(path)


async def every(soak: Soak, seconds: float, what: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do work again and again until the time is up."""
    while time.monotonic() + seconds < soak.end:
        await asyncio.sleep(seconds)
        await work()
        soak.counts[what] += 1


async def run(minutes: float, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Run it, and return the figures and the faults."""
    certificates = Certificates(folder)
    drained = "--drain-seconds=1"
    with ExitStack() as stack:
        kubeconfig = stack.enter_context(cluster.running(STORED, 0, folder, STORED_TASKS))
        flags = (
            f"--tls-cert={certificates.certificate}",
            f"--tls-key={certificates.key}",
            "--cluster",
            f"--kubeconfig={kubeconfig}",
        )
        replicas = [
            await asyncio.to_thread(stack.enter_context, serving(folder / f"{number}.log", *flags, drained))
            for number in range(REPLICAS)
        ]
        address = Address([replica.port for replica in replicas])
        listener = await asyncio.start_server(address.forward, "127.0.0.1", 0)
        soak = Soak(listener.sockets[0].getsockname()[1], certificates.client, time.monotonic() + 60 * minutes)

        async def swap() -> None:
            certificates.swap()

        async def end() -> None:
            """Replace the last replica by another, and stop or kill it."""
            number = soak.counts["ends"]
            replacement = await asyncio.to_thread(
                stack.enter_context, serving(folder / f"next-{number}.log", *flags, drained)
            )
            address.turn([replicas[0].port, replacement.port])
            gone, replicas[1] = replicas[1], replacement
            if number % 2:
                gone.process.kill()
                soak.killed = time.monotonic()
            else:
                await asyncio.to_thread(gone.stop)

        async def look() -> None:
            while not soak.over:
                replicas[0].measure(address.open[replicas[0].port])
                await asyncio.sleep(LOOK)

        await asyncio.gather(
            look(),
            every(soak, SWAP, "swaps", swap),
            every(soak, END, "ends", end),
            *(soak.keep() for _ in range(KEPT)),
            *(soak.renew() for _ in range(NEW)),
            *(soak.burden() for _ in range(LARGE)),
            *(soak.dawdle(number) for number in range(SLOW)),
            *(soak.gape() for _ in range(READERS)),
        )
        listener.close()
        return figures(soak, replicas[0]), list(wrong(soak, replicas[0]))


def figures(soak: Soak, replica: Replica) -> dict[str, Any]:
    """Return the output."""
    waits = sorted(soak.waits)
    return {
        "requests": soak.honest.done,
        "failures": soak.honest.failed,
        "p50_ms": round(1000 * waits[len(waits) // 2], 1),
        "p99_ms": round(1000 * waits[len(waits) * 99 // 100], 1),
        "longest_ms": round(1000 * waits[-1], 1),
        "memory_mib": [round(value, 1) for value in quarters(replica.memory)],
        "descriptors": list(quarters(replica.descriptors)),
        **{what: soak.counts[what] for what in ("large", "slow", "swaps", "ends", "cut", "shed")},
    }


def wrong(soak: Soak, replica: Replica) -> list[str]:
    """Return the broken bounds."""
    waits = sorted(soak.waits)
    faults = [f"a failure: {failure}" for failure in soak.honest.failures]
    if waits[len(waits) * 99 // 100] > P99:
        faults.append(f"1 of 100 honest callers waits more than {P99:g} s")
    if waits[-1] > EVER:
        faults.append(f"an honest caller waits {waits[-1]:.1f} s")
    if soak.counts["cut"] > (KEPT + NEW) * soak.counts["ends"]:
        faults.append(f"{soak.counts['cut']} honest calls are cut off, more than there are callers")
    return [*faults, *grown([replica])]


def main(argv: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="how long")
    command = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        results, faults = asyncio.run(asyncio.wait_for(run(command.minutes, Path(folder)), 60 * command.minutes + 300))
    print(json.dumps(results))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

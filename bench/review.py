"""`python -m bench.review`: what one review costs, by stage, and how many a server answers in a second.

    python -m bench.review [FILE] [--rounds N] [--seconds N] [--connections N]

The stages are measured in this process, as CPU time of one review. Throughput is measured over TLS on loopback, against
a server process, next to a handler of aiohttp's that only reads the body and answers: their ratio is what the review
itself costs a server, whatever the machine. Client and server share the machine's cores.
"""

import argparse
import asyncio
import json
import logging
import resource
import ssl
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import yaml
from aiohttp import web

from certs import issue_generation, service_names
from jobgate.kinds import installed
from webhook import Context, Job, Kind, Phase, Registry, Request, Settings, review
from webhook.review import mutated
from webhook.server import Addresses, Drain, Endpoint, serve
from webhook.server.body import decode
from webhook.server.tls import context
from webhook.view import view

EXAMPLE = Path(__file__).parent.parent / "examples" / "dijob" / "with-tasks.yaml"
EMPTY = orjson.dumps(
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u", "allowed": True}}
)
SERVER = "jobgate-webhook"
NAMESPACE = "jobgate-system"


def main(argv: list[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.review", description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", default=EXAMPLE, help="the job that is reviewed")
    parser.add_argument("--rounds", type=int, default=500, help="reviews measured for the stages")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each throughput is measured")
    parser.add_argument("--connections", type=int, default=16, help="connections kept open by the client")
    parser.add_argument("--serve", choices=sorted(SERVERS), help=argparse.SUPPRESS)
    parser.add_argument("--tls", type=Path, help=argparse.SUPPRESS)
    command = parser.parse_args(argv)
    if command.serve:
        run(SERVERS[command.serve](command.tls))
        return
    sent = admission_review(yaml.safe_load(command.file.read_text()))
    kinds = installed()
    kind = kinds.get(sent["request"]["object"]["apiVersion"], sent["request"]["object"]["kind"])
    if kind is None:
        parser.error(f"{command.file} is of no kind that is served")
    print(f"{command.file.name}: {len(orjson.dumps(sent)):,} bytes as a review\n")
    for phase in Phase:
        print_stages(phase, stages(kind, phase, sent, command.rounds))
    run(throughputs(kind, sent, command.seconds, command.connections))


def admission_review(job: dict[str, Any]) -> dict[str, Any]:
    """Return the review of a CREATE of this job."""
    group, _, version = job["apiVersion"].rpartition("/")
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": group, "version": version, "kind": job["kind"]},
            "name": job["metadata"].get("name", ""),
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
            "object": job,
            "oldObject": None,
            "dryRun": False,
        },
    }


def stages(kind: Kind, phase: Phase, sent: dict[str, Any], rounds: int) -> dict[str, float]:
    """Return the CPU time of each stage of a review, in microseconds."""
    body = orjson.dumps(sent) + b"\n"
    request = Request.parse(decode(body))
    kinds = Registry([kind])
    circumstances = Context(namespace="default", name=request.name)
    job = mutated(kind, request.document, circumstances).value
    if phase is Phase.VALIDATE:
        request = Request.parse(admission_review(job))
        body = orjson.dumps(admission_review(job)) + b"\n"
    answer = review(request, phase, kinds)
    if not answer.allowed:
        raise SystemExit(f"the job is refused, which is another matter: {answer.causes}")
    measured: dict[str, Callable[[], Any]] = {
        "decode": lambda: Request.parse(decode(body)),
        "default": lambda: mutated(kind, request.document, circumstances),
        "schema": lambda: kind.schema.check(job),
    }
    if phase is Phase.VALIDATE:
        measured["view"] = lambda: view(kind.spec, job["spec"])
        measured["rules"] = lambda: judged(kind, job, circumstances)
    measured["encode"] = lambda: orjson.dumps(answer.to_review())
    measured["whole"] = lambda: orjson.dumps(review(Request.parse(decode(body)), phase, kinds).to_review())
    return {name: microseconds(stage, rounds) for name, stage in measured.items()}


def judged(kind: Kind, job: dict[str, Any], circumstances: Context) -> None:
    """Run every rule, and view the job for them."""
    viewed: Job[Any] = Job(kind, job, view(kind.spec, job["spec"])[0])
    for rule in kind.rules:
        for _ in rule(viewed, circumstances):
            pass


def microseconds(stage: Callable[[], Any], rounds: int) -> float:
    """Return the CPU time of one call: the least of five runs, since whatever disturbs a run adds to it."""
    runs = []
    for _ in range(5):
        started = time.process_time_ns()
        for _ in range(max(1, rounds // 5)):
            stage()
        runs.append((time.process_time_ns() - started) / max(1, rounds // 5) / 1000)
    return min(runs)


def print_stages(phase: Phase, cost: dict[str, float]) -> None:
    """Print a row a stage."""
    print(f"{phase:<12}   µs CPU")
    for name, value in cost.items():
        print(f"  {name:<10} {value:8.1f}")
    print()


@dataclass(frozen=True)
class Rate:
    """What a server did under load."""

    requests: int
    seconds: float
    server_seconds: float
    waits: list[float]

    def row(self, name: str, other: "Rate | None" = None) -> str:
        """Return a line of the table."""
        rate, cost = self.requests / self.seconds, self.server_seconds / self.requests * 1e6
        waits = sorted(self.waits)
        middle, late = (waits[int(len(waits) * share)] * 1000 for share in (0.5, 0.99))
        ratio = "" if other is None else f"{rate / (other.requests / other.seconds):6.2f}"
        return f"{name:<14} {rate:10,.0f} {cost:10.0f} {middle:8.2f} {late:8.2f}  {ratio}"


async def throughputs(kind: Kind, sent: dict[str, Any], seconds: float, connections: int) -> None:
    """Measure each server in turn, and print a row of each."""
    with tempfile.TemporaryDirectory() as folder:
        generation = issue_generation(service_names(SERVER, NAMESPACE), datetime.now(UTC))
        (Path(folder) / "tls.crt").write_bytes(generation.certificate)
        (Path(folder) / "tls.key").write_bytes(generation.key)
        client = ssl.create_default_context(cadata=generation.ca_certificate.decode())
        body = orjson.dumps(sent)
        print(f"over TLS, {connections} connections, {seconds:g} s each; ratio to the empty handler")
        print(f"{'':<14} {'requests/s':>10} {'µs CPU':>10} {'p50 ms':>8} {'p99 ms':>8}   ratio")
        empty = await under_load("empty", Path(folder), client, "/", body, seconds, connections)
        print(empty.row("empty aiohttp"))
        for phase in Phase:
            rate = await under_load("jobgate", Path(folder), client, kind.path(phase), body, seconds, connections)
            print(rate.row(phase, empty))


async def under_load(
    server: str, tls: Path, client: ssl.SSLContext, path: str, body: bytes, seconds: float, connections: int
) -> Rate:
    """Start a server, ask it again and again on so many connections, and stop it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bench.review", "--serve", server, "--tls", str(tls)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = json.loads(await process.stdout.readline())
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        request = head.encode() + body

        async def caller(waits: list[float], end: float) -> None:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=client, server_hostname=f"{SERVER}.{NAMESPACE}.svc"
            )
            while (started := time.perf_counter()) < end:
                writer.write(request)
                answer = await reader.readuntil(b"\r\n\r\n")
                assert b" 200 " in answer[:16], answer
                await reader.readexactly(int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
                waits.append(time.perf_counter() - started)
            writer.close()

        await asyncio.gather(*(caller([], time.perf_counter() + 0.5) for _ in range(connections)))
        process.stdin.write(b"\n")
        before = json.loads(await process.stdout.readline())
        waits: list[float] = []
        began = time.perf_counter()
        await asyncio.gather(*(caller(waits, began + seconds) for _ in range(connections)))
        took = time.perf_counter() - began
        process.stdin.write(b"\n")
        after = json.loads(await process.stdout.readline())
    finally:
        process.stdin.close()
        await process.wait()
    return Rate(len(waits), took, after - before, waits)


async def report_cpu() -> None:
    """Print the CPU time of this process for each line that is read, until there are no more."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        print(usage.ru_utime + usage.ru_stime, flush=True)


async def serve_jobgate(tls: Path) -> None:
    """Serve as `jobgate serve` does, but for the log, which goes nowhere."""
    logging.getLogger("jobgate").setLevel(logging.WARNING)
    stop, started = asyncio.Event(), asyncio.get_running_loop().create_future()
    served = asyncio.create_task(
        serve(
            Endpoint(installed(), Settings()),
            context(tls / "tls.crt", tls / "tls.key"),
            Addresses("127.0.0.1", 0, 0),
            Drain(finish=0.5),
            stop=stop,
            started=started,
        )
    )
    print((await started).port, flush=True)
    await report_cpu()
    stop.set()
    await served


async def serve_empty(tls: Path) -> None:
    """Serve what aiohttp alone would."""

    async def handle(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=EMPTY, content_type="application/json")

    server = await asyncio.get_running_loop().create_server(
        web.Server(handle, access_log=None), "127.0.0.1", 0, ssl=context(tls / "tls.crt", tls / "tls.key")
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await report_cpu()
    server.close()


SERVERS = {"jobgate": serve_jobgate, "empty": serve_empty}


def run(work: Any) -> None:
    """Run on uvloop where it is installed, as the server does."""
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        asyncio.run(work)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


if __name__ == "__main__":
    main()

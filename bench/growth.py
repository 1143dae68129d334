"""`python -m bench.growth`: how CPU and memory of `jobgate serve` grow with its input.

The inputs: tasks of a job, bytes of a body, jobs in the pods' cache, kinds, and open connections. Each point has its
own server, to measure its peak memory. At the end, the memory of each process in a cluster with hostile objects.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import os
import resource
import ssl
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
from msgspec.structs import replace

from bench import cluster, hostile, plot
from bench.comparison import bodies, jobs, servers
from bench.comparison.scenarios import Pods, Scenario
from bench.comparison.servers import JOBGATE, Server
from bench.page import aligned, piped, renew
from crdgen import Names
from jobgate.jobs.binding import bind
from jobgate.jobs.kind import JobKind
from jobgate.kinds import ENTRY_POINT
from jobgate.kinds.vcjob import VCJOB
from jobgate.kinds.vcjob.models import RESOURCE
from jobgate.kinds.vcjob.operator import VOLCANO
from webhook import Phase

SERVER_CORE, CLIENT_CORE = 0, 1
#: A point is measured until the server has used this many CPU seconds, or has got this many requests.
ENOUGH, MOST = 0.5, 300
#: Linear growth has the slope 1 on logarithmic axes; a slope above this limit is an error.
LINEAR = 1.1
#: Higher limits, for lines with a step where objects outgrow the core's caches; the page explains it.
WITH_STEP = {"many variables": 1.3}
#: Approximate bytes of a container's variable in a body, and of the rest of the body.
_VARIABLE, _REST = 64, 2_500
#: Maximum connections from one address, and number of connections opened at once.
PER_ADDRESS, AT_ONCE = 250, 50
_GROUP, _ROOT = "bench.example.com", Path(__file__).parent.parent


@dataclass(frozen=True)
class Point:
    """A measurement at the size `x`; if a server has several lines, only one has its peak memory."""

    x: float
    cpu_ms: float
    peak_mib: float | None
    note: str = ""


@dataclass(frozen=True)
class Series:
    """The growth with one input.

    Attributes:
        title: title of the plot.
        unit: unit of x.
        cost: what the CPU time is measured for.
        sizes: the values of x.
        measure: returns the points at one size, by the name of the line.
    """

    title: str
    unit: str
    cost: str
    sizes: Sequence[int]
    measure: Callable[[int], dict[str, Point]]

    def run(self, most: int) -> dict[str, list[Point]]:
        """Measure every size up to a limit."""
        lines: dict[str, list[Point]] = {}
        for size in self.sizes:
            for name, point in self.measure(size).items() if size <= most else ():
                lines.setdefault(name, []).append(point)
        return lines

    def rows(self, lines: Mapping[str, Sequence[Point]]) -> list[list[str]]:
        """Return the table: a row for each point, and the slopes at the end of each line."""
        rows = [["line", self.unit, f"ms CPU {self.cost}", "peak MiB", ""]]
        for name, points in lines.items():
            for point in points:
                peak = "" if point.peak_mib is None else f"{point.peak_mib:,.0f}"
                rows.append([name, f"{point.x:,.0f}", f"{point.cpu_ms:,.2f}", peak, point.note])
            shown = [f"{slope:.2f}" for slope in slopes(points)]
            rows.append([name, "slope", *shown, *[""] * (3 - len(shown))])
        return rows

    def draw(self, file: str, lines: Mapping[str, Sequence[Point]]) -> str:
        """Write the plot, and return its file's name."""
        cpu = {f"{name}: ms CPU": [(point.x, point.cpu_ms) for point in points] for name, points in lines.items()}
        peak = {f"{name}: peak MiB": _peaks(points) for name, points in lines.items() if _peaks(points)}
        return plot.write(file, self.title, (self.unit, f"ms CPU {self.cost}; peak MiB"), {**cpu, **peak}).name


def slopes(points: Sequence[Point]) -> list[float]:
    """Return the slopes of CPU time and, where it was measured, of memory."""
    lines = ([(point.x, max(point.cpu_ms, 1e-3)) for point in points], _peaks(points))
    return [plot.slope(line) for line in lines if len(line) > 1]


def _peaks(points: Sequence[Point]) -> list[tuple[float, float]]:
    return [(point.x, point.peak_mib) for point in points if point.peak_mib is not None]


@dataclass(frozen=True)
class Probe:
    """A running server, and the TLS context to call it."""

    server: Server
    context: ssl.SSLContext

    def cost(self, path: str, sent: Sequence[bytes]) -> tuple[float, str]:
        """Return the CPU time of one request in milliseconds, and the verdicts."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=120, context=self.context)
        answers, before, count = set(), self.server.cpu(), 0
        while count < MOST and self.server.cpu() - before < ENOUGH:
            connection.request("POST", path, sent[count % len(sent)], {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answers.add(_verdict(answer.status, answer.read()))
            count += 1
            if answer.will_close:
                connection.close()
        connection.close()
        return (self.server.cpu() - before) / count * 1000, ", ".join(sorted(answers))


@contextmanager
def probing(jobs: int | None = None, environment: Mapping[str, str] | None = None) -> Iterator[Probe]:
    """Run a server, with a cluster of this many jobs unless `jobs` is None."""
    with tempfile.TemporaryDirectory(prefix="jobgate-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        context = ssl.create_default_context(cadata=servers.write_certificate(folder))
        port, metrics = servers.free_ports(2)
        where = ["--no-cluster"]
        if jobs is not None:
            where = ["--kubeconfig", str(stack.enter_context(cluster.running(jobs, CLIENT_CORE, folder)))]
        stack.enter_context(mock.patch.dict(os.environ, environment or {}))
        command = servers.jobgate(folder, port, metrics, *where)
        server = stack.enter_context(servers.started(JOBGATE, command, port, SERVER_CORE, folder / "server.log"))
        servers.await_ready(metrics)
        yield Probe(server, context)


def _verdict(status: int, text: bytes) -> str:
    if status != http.client.OK:
        return str(status)
    return "allowed" if orjson.loads(text)["response"]["allowed"] else "denied"


def _request(x: int, path: str, sent: Sequence[bytes]) -> Point:
    with probing() as probe:
        milliseconds, answered = probe.cost(path, sent)
        return Point(x, milliseconds, probe.server.peak(), answered)


def tasks(count: int) -> dict[str, Point]:
    """Measure both calls for a DIJob with this many tasks."""
    scenario = Scenario("DIJob", count)
    return {
        str(phase): _request(count, scenario.path(phase), [scenario.request(phase, variant) for variant in range(8)])
        for phase in Phase
    }


def size(count: int) -> dict[str, Point]:
    """Measure validation of bodies with this many bytes: in one long value, or in many small variables."""
    many = [
        {"name": f"VARIABLE_{number:06d}", "value": f"value-{number:020d}"}
        for number in range((count - _REST) // _VARIABLE)
    ]
    lines = {}
    for name, change in {"one long value": {"args": ["x" * (count - _REST)]}, "many variables": {"env": many}}.items():
        job = jobs.job("DIJob", 1, 1)
        job["spec"]["tasks"][0] |= {"name": "learner", "replicas": 1}
        job["spec"]["tasks"][0]["template"]["spec"]["containers"][0] |= change
        body = bodies.review(bodies.stored(job, 1), "dijobs", 1)
        lines[name] = _request(len(body), Scenario("DIJob", 1).path(Phase.VALIDATE), [body])
    return lines


def stored(count: int) -> dict[str, Point]:
    """Measure a start, and a pod's mutation, with this many jobs in the cluster."""
    pods = Pods()
    with probing(jobs=count) as probe:
        start = Point(count, probe.server.cpu() * 1000, probe.server.peak())
        milliseconds, answered = probe.cost(pods.path(Phase.MUTATE), pods.requests(Phase.MUTATE)[: min(count, 100)])
        return {"start": start, "a pod": Point(count, milliseconds, None, answered)}


def __getattr__(name: str) -> JobKind:
    """Return a copy of the Volcano Job kind for an entry point with a name such as `TrialJob7`."""
    if not name.startswith("TrialJob"):
        raise AttributeError(name)
    kind = replace(RESOURCE, group=_GROUP, names=Names(kind=name))
    return bind(kind, operator=VOLCANO, defaults=VCJOB.defaults, rules=VCJOB.rules)


def kinds(count: int) -> dict[str, Point]:
    """Measure a start with this many further kinds, and a mutation of a job of the last kind."""
    with tempfile.TemporaryDirectory(prefix="jobgate-bench-") as folder:
        record = Path(folder) / "trial-1.dist-info"
        record.mkdir()
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: trial\nVersion: 1\n", encoding="utf-8")
        entries = "".join(f"trial{number} = bench.growth:TrialJob{number}\n" for number in range(count))
        (record / "entry_points.txt").write_text(f"[{ENTRY_POINT}]\n{entries}", encoding="utf-8")
        with probing(environment={"PYTHONPATH": f"{folder}:{_ROOT}"}) as probe:
            start = Point(count, probe.server.cpu() * 1000, probe.server.peak())
            last = f"TrialJob{count - 1}"
            job = {**jobs.job("Job", 3, 1), "kind": last, "apiVersion": f"{_GROUP}/v1alpha1"}
            body = orjson.dumps(orjson.loads(bodies.review(job, f"{last.lower()}s", 1)))
            milliseconds, answered = probe.cost(f"/mutate-bench-example-com-v1alpha1-{last.lower()}", [body])
            return {"start": start, "a mutation": Point(count, milliseconds, None, answered)}


def connections(count: int) -> dict[str, Point]:
    """Open this many connections, make a request on each, and measure while all are open."""
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
        source: Any = (f"127.0.1.{1 + number // PER_ADDRESS}", 0)
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

    connections = [
        connection for connection in await asyncio.gather(*map(call, range(count))) if connection is not None
    ]
    still_open = sum(not reader.at_eof() for reader, _ in connections)
    for _, writer in connections:
        writer.transport.abort()
    return still_open


#: Not a series: the memory with hostile objects, compared with the limits.
HOSTILE = "hostile"
#: All series, by the name of the plot's file.
ALL = {
    "tasks": Series("A job's tasks", "tasks", "a request", (1, 3, 10, 30, 100, 300, 1000), tasks),
    "bytes": Series(
        "Bytes of a body", "bytes", "a request", (4_000, 16_000, 64_000, 250_000, 1_000_000, 3_000_000, 7_300_000), size
    ),
    "stored": Series("Jobs in the cluster", "jobs", "(start; a pod)", (1, 1_000, 3_000, 10_000, 50_000), stored),
    "kinds": Series("Kinds beside the built-in", "kinds", "(start; a mutation)", (1, 10, 50, 200), kinds),
    "connections": Series(
        "Open connections", "connections", "a connection", (10, 100, 500, 1_000, 2_000, 5_000), connections
    ),
}


def main(argv: list[str] | None = None) -> int:
    """Measure, print each series, and report lines that grow faster than linearly."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument(
        "--series", action="append", choices=[*ALL, HOSTILE], help="which to measure (all); may be repeated"
    )
    parser.add_argument("--most", type=int, default=10**9, help="the largest size that is measured")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md and its plots")
    command = parser.parse_args(argv)
    steep = []
    for name in command.series or (*ALL, HOSTILE):
        if name == HOSTILE:
            count = min(hostile.COUNT, command.most)
            if hostile.main([f"--count={count}", *(["--write"] if command.write else [])]):
                steep.append("a process takes more memory than its limit")
            continue
        series = ALL[name]
        lines = series.run(command.most)
        rows = series.rows(lines)
        print(f"{series.title}\n{aligned(rows)}", flush=True)
        steep += [
            f"{name}, {line}"
            for line, points in lines.items()
            if max(slopes(points), default=0) > WITH_STEP.get(line, LINEAR)
        ]
        if command.write:
            renew(f"growth-{name}", f"![{series.title}](performance/{series.draw(name, lines)})\n\n{piped(rows)}")
    print(f"grows faster than linearly: {'; '.join(steep)}" if steep else "all grow linearly at most")
    return int(bool(steep))


if __name__ == "__main__":
    sys.exit(main())

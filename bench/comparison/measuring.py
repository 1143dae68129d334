"""Measures the servers in turns, in several rounds, so that other load on the machine affects them alike."""

from __future__ import annotations

import base64
import http.client
import ssl
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jsonpatch
import orjson

from bench import cluster
from bench.comparison import servers
from bench.comparison.load import CONNECTIONS, CONNECTIONS_OF_LARGE, Sent, arrive, drive
from bench.comparison.scenarios import VARIANTS, Review
from bench.comparison.servers import CONSTANT, JOBGATE, Server
from webhook import Phase

#: The cores of the server under load and of its callers.
SERVER_CORE, CLIENT_CORE = 0, 1
#: Number of bodies for which the whole response is checked; for the others, the callers check the verdict.
SAMPLE = 4


@dataclass(frozen=True)
class Turn:
    """The measurement of one server under one load."""

    scenario: str
    phase: str
    server: str
    half: bool
    round: int
    micros: float
    rate: float
    p50: float
    p99: float
    p999: float
    wrong: int


@dataclass
class Measured:
    """The measurements of a run: every turn, the memory of each server, and the size of the bodies."""

    turns: list[Turn] = field(default_factory=list)
    rss: dict[str, dict[str, float]] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Measured:
        """Return the measurements from JSON."""
        return cls([Turn(**turn) for turn in document["turns"]], document["rss"], document["bytes"])

    def of(self, scenario: str, phase: str, server: str, name: str, *, half: bool = False) -> float | None:
        """Return the median of a figure over the rounds."""
        values = [getattr(turn, name) for turn in self._select(scenario, phase, server, half=half)]
        return statistics.median(values) if values else None

    @property
    def wrong(self) -> list[str]:
        """Turns with wrong or missing responses, for example of a server that sheds load."""
        return [f"{turn.server}: {turn.scenario}, {turn.phase}: {turn.wrong}" for turn in self.turns if turn.wrong]

    def pair(self, scenario: str, server: str) -> list[float]:
        """Return the cost of mutation and validation together, round by round."""
        calls = [[turn.micros for turn in self._select(scenario, phase, server)] for phase in Phase]
        return [sum(both) for both in zip(*calls, strict=False)]

    def ratio(self, scenario: str, other: str, phase: str | None = None, *, beside: str = "") -> float | None:
        """Return jobgate's cost of a review divided by that of another server, the median over the rounds.

        Args:
            scenario: jobgate's scenario.
            other: the other server.
            phase: None for mutation and validation together.
            beside: the scenario of the other server, if it is a different one.
        """
        calls = ((scenario, JOBGATE), (beside or scenario, other))
        if phase is None:
            mine, theirs = (self.pair(*call) for call in calls)
        else:
            mine, theirs = ([turn.micros for turn in self._select(name, phase, server)] for name, server in calls)
        ratios = [cost / other_cost for cost, other_cost in zip(mine, theirs, strict=False)]
        return statistics.median(ratios) if ratios else None

    def _select(self, scenario: str, phase: str, server: str, *, half: bool = False) -> list[Turn]:
        wanted = (scenario, phase, server, half)
        return [turn for turn in self.turns if (turn.scenario, turn.phase, turn.server, turn.half) == wanted]


class Bench:
    """Runs the servers and the load.

    Args:
        wrk: the path of wrk.
        built: the webhooks in Go, by name.
        folder: for certificates, bodies and logs.
    """

    def __init__(self, wrk: str, built: Mapping[str, Path], folder: Path) -> None:
        self._wrk, self._folder = wrk, folder
        self._ca = servers.write_certificate(folder)
        names = [JOBGATE, CONSTANT, *built]
        ports = servers.free_ports(2 * len(names))
        self._ports = {name: (ports[2 * place], ports[2 * place + 1]) for place, name in enumerate(names)}
        self._built = built
        self.measured = Measured()

    def run(self, scenarios: Sequence[Review], rounds: int, seconds: int) -> None:
        """Measure all scenarios, round by round."""
        with ExitStack() as stack:
            running: dict[str, Server] = {}
            kubeconfig = stack.enter_context(cluster.running(VARIANTS, CLIENT_CORE, self._folder))
            for name, command in servers.commands(self._folder, self._ports, self._built, kubeconfig).items():
                log = self._folder / f"{name}.log"
                server = servers.started(name, command, self._ports[name][0], SERVER_CORE, log)
                running[name] = stack.enter_context(server)
            servers.await_ready(self._ports[JOBGATE][1])
            self._remember("at start", running.values())
            for scenario in scenarios:
                self._prepare(scenario, running)
            self._remember("after one request of each", running.values())
            for number in range(rounds):
                for scenario in scenarios:
                    self._round(scenario, running, number, seconds)
                print(f"round {number + 1} of {rounds} done", flush=True)
            self._remember("at the end", running.values())

    def _remember(self, when: str, running: Iterable[Server]) -> None:
        self.measured.rss[when] = {server.name: round(server.rss(), 1) for server in running}

    def _prepare(self, scenario: Review, running: Mapping[str, Server]) -> None:
        for phase in scenario.phases:
            bodies = scenario.requests(phase)
            self._file(scenario, phase).write_bytes(b"\n".join(bodies) + b"\n")
            self.measured.bytes[f"{scenario.name}, {phase}"] = sum(map(len, bodies)) // len(bodies)
            for name in scenario.servers:
                if name in running:
                    check(name, running[name].port, self._ca, scenario, phase, bodies)

    def _file(self, scenario: Review, phase: Phase) -> Path:
        return self._folder / f"{scenario.name}-{phase}.jsonl"

    def _round(self, scenario: Review, running: Mapping[str, Server], number: int, seconds: int) -> None:
        for phase in scenario.phases:
            there = [running[name] for name in scenario.servers if name in running]
            for server in there if number % 2 == 0 else reversed(there):
                self._turn(scenario, phase, server, number, seconds)
                if scenario.half:
                    most = self.measured.of(scenario.name, phase, server.name, "rate")
                    assert most is not None
                    self._turn(scenario, phase, server, number, seconds, most / 2)

    def _turn(
        self, scenario: Review, phase: Phase, server: Server, number: int, seconds: int, rate: float | None = None
    ) -> None:
        words = '"allowed":false' if scenario.denied else '"allowed":true'
        sent = Sent(scenario.path(phase), self._file(scenario, phase), words)
        before = server.cpu()
        if rate is None:
            connections = CONNECTIONS_OF_LARGE if scenario.large else CONNECTIONS
            load = drive(self._wrk, server.port, sent, seconds, CLIENT_CORE, connections=connections)
        else:
            load = arrive(server.port, sent, seconds, CLIENT_CORE, rate)
        micros = (server.cpu() - before) / max(1, load.requests) * 1e6
        figures = (micros, load.requests / load.seconds, load.p50, load.p99, load.p999, load.wrong + load.failed)
        self.measured.turns.append(Turn(scenario.name, phase, server.name, rate is not None, number, *figures))


def check(server: str, port: int, ca: str, scenario: Review, phase: Phase, bodies: list[bytes]) -> None:
    """Check some responses before anything is timed: the verdicts, and the patched objects.

    Raises:
        AssertionError: a response is wrong.
    """
    if server == CONSTANT:
        return
    context = ssl.create_default_context(cadata=ca)
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=context)
    for body in bodies[:SAMPLE]:
        connection.request("POST", scenario.path(phase), body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, (server, scenario.name, text)
        sent, response = orjson.loads(body)["request"], orjson.loads(text)["response"]
        assert response["uid"] == sent["uid"], (server, scenario.name, response)
        assert response["allowed"] is not scenario.denied, (server, scenario.name, phase, response)
        if server == JOBGATE and phase is Phase.VALIDATE:
            assert bool(response.get("warnings")) is scenario.warned, (scenario.name, response)
        patch = orjson.loads(base64.b64decode(response.get("patch", "W10=")))
        scenario.check(jsonpatch.apply_patch(sent["object"], patch))
    connection.close()

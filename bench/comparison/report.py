"""Tables of the results: plain for the terminal, Markdown for the page."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import version

from bench import plot
from bench.comparison.measuring import Measured
from bench.comparison.scenarios import ALL, SCENARIOS, TARGETS, Scenario
from bench.comparison.servers import CONSTANT, GO, JOBGATE, TEMPLATES
from bench.page import aligned, piped

_SERVERS = (JOBGATE, GO, TEMPLATES, CONSTANT)


def table(measured: Measured) -> str:
    """Return everything for the terminal."""
    parts = [_made_on(), aligned([_COSTS, *_costs(measured)]), aligned([_PAIRS, *_pairs(measured)])]
    parts += [aligned([_TARGETS, *_targets(measured)])]
    parts += [aligned([_HALVES, *_halves(measured)]), aligned([_MEMORY, *_memory(measured)])]
    return "\n\n".join(parts)


def markdown(measured: Measured) -> str:
    """Return everything for the page."""
    parts = [
        ("Mutation and validation together, by what they cost another server (CPU)", [_PAIRS, *_pairs(measured)]),
        ("Mutation and validation together, by what they may cost", [_TARGETS, *_targets(measured)]),
        ("One call under full load", [_COSTS, *_costs(measured)]),
        ("At half of the maximum rate, arrivals at random", [_HALVES, *_halves(measured)]),
        ("Memory in MiB (RSS)", [_MEMORY, *_memory(measured)]),
    ]
    shown = [f"### {title}\n\n{piped(rows)}" for title, rows in parts]
    return "\n\n".join([_made_on(), "![What both calls cost, by tasks](performance/comparison.svg)", *shown])


def _made_on() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("aiohttp", "uvloop", "msgspec", "pydantic"))
    python = f"Python {platform.python_version()} ({_build()})"
    return f"Made on {os.cpu_count()} shared cores, Linux, {python}, {versions}."


def _build() -> str:
    """Return how this Python was built: without optimizations, a review takes 20 % longer."""
    if "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or ""):
        return "optimized build"
    # Distributions optimize their builds in other ways, which cannot be seen here.
    return "the system's build" if sys.base_prefix == "/usr" else "built without optimizations"


def draw(measured: Measured) -> None:
    """Plot the cost of both calls for a DIJob, by the number of tasks."""
    plain = {
        scenario.name: scenario.tasks
        for scenario in SCENARIOS
        if isinstance(scenario, Scenario) and scenario.servers == ALL
    }
    lines = {
        server: [
            (tasks, statistics.median(pair)) for name, tasks in plain.items() if (pair := measured.pair(name, server))
        ]
        for server in _SERVERS
    }
    title = "A DIJob's create: mutation and validation together"
    plot.write(
        "comparison", title, ("tasks", "µs CPU of the server"), {name: line for name, line in lines.items() if line}
    )


_COSTS = ("scenario", "call", "bytes", "server", "µs CPU", "reviews/s", "p50 ms", "p99 ms", "p99.9 ms", "of constant")
_PAIRS = ("scenario", "jobgate µs", "other", "other µs", "ratio", "ratio, mutate", "ratio, validate")
_TARGETS = ("scenario", "compared with", "ratio", "at most")
_HALVES = ("scenario", "call", "server", "reviews/s", "µs CPU", "p50 ms", "p99 ms", "p99.9 ms")
_MEMORY = ("when", *_SERVERS)


def _calls(measured: Measured, *, half: bool) -> list[tuple[str, str, str]]:
    calls = [(turn.scenario, turn.phase, turn.server) for turn in measured.turns if turn.half is half]
    order = list(dict.fromkeys(turn.scenario for turn in measured.turns))
    return sorted(set(calls), key=lambda call: (order.index(call[0]), call[1], _SERVERS.index(call[2])))


def _costs(measured: Measured) -> Iterator[tuple[str, ...]]:
    for scenario, phase, server in _calls(measured, half=False):
        values = [measured.of(scenario, phase, server, name) for name in ("micros", "rate", "p50", "p99", "p999")]
        micros, rate, *latencies = values
        least = measured.ratio(scenario, CONSTANT, phase) if server == JOBGATE else None
        size = f"{measured.bytes[f'{scenario}, {phase}']:,}"
        shown = [_number(micros), _number(rate), *map(_short, latencies), _short(least)]
        yield (scenario, phase, size, server, *shown)


def _pairs(measured: Measured) -> Iterator[tuple[str, ...]]:
    compared = dict.fromkeys((turn.scenario, turn.server) for turn in measured.turns if turn.server in {GO, TEMPLATES})
    for scenario, other in compared:
        ratios = [measured.ratio(scenario, other, phase) for phase in (None, "mutate", "validate")]
        pairs = [
            sum(measured.of(scenario, phase, server, "micros") or 0 for phase in ("mutate", "validate"))
            for server in (JOBGATE, other)
        ]
        yield (scenario, _number(pairs[0]), other, _number(pairs[1]), *map(_short, ratios))


def _targets(measured: Measured) -> Iterator[tuple[str, ...]]:
    for target in TARGETS:
        ratio = measured.ratio(target.scenario.name, target.server, beside=target.beside.name)
        if ratio is not None:
            what = f"{target.server}: {target.beside.name}"
            yield (target.scenario.name, what, _short(ratio), _short(target.at_most))


def _halves(measured: Measured) -> Iterator[tuple[str, ...]]:
    for scenario, phase, server in _calls(measured, half=True):
        names = ("rate", "micros", "p50", "p99", "p999")
        rate, micros, *latencies = [measured.of(scenario, phase, server, name, half=True) for name in names]
        yield (scenario, phase, server, _number(rate), _number(micros), *map(_short, latencies))


def _memory(measured: Measured) -> Iterator[tuple[str, ...]]:
    for when, sizes in measured.rss.items():
        yield (when, *(_number(sizes.get(server)) for server in _SERVERS))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"

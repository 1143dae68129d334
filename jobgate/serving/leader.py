"""Runs a process under a Lease: leader election, probes, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import closing
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import generate_latest

from jobgate.cluster.lease import Lease, Times
from jobgate.cluster.objects import ObjectClient
from webhook.server import stopping_on_signals
from webhook.server.listener import listening
from webhook.server.probes import Answers, answering

_logger = logging.getLogger("jobgate")


def _identity() -> str:
    return f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class LeaderSettings:
    """Settings of a process that works while it holds a Lease.

    Attributes:
        bind, health_port: address of probes and metrics.
        namespace, lease: the Lease.
        identity: holder identity; another after a restart, which must not take over an earlier Lease.
        times: durations of the Lease.
        beside: runs whether the Lease is held or not, if it is given; it gets the client of the cluster.
    """

    bind: str
    health_port: int
    namespace: str
    lease: str
    identity: str = field(default_factory=_identity)
    times: Times = field(default_factory=Times)
    beside: Callable[[ObjectClient], Coroutine[None, None, None]] | None = None


class LeaderMetrics:
    """Metrics in a registry of their own, with a gauge of leadership."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        help_text = "1 if this process holds the Lease, else 0."
        self.leader = Gauge("leader_election_master_status", help_text, ["name"], registry=self.registry)

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)


async def lead_until_stopped(
    objects: ObjectClient,
    leader: LeaderSettings,
    work: Callable[[], Awaitable[None]],
    *,
    settled: Callable[[], bool],
    metrics: LeaderMetrics,
    started: str,
) -> None:
    """Work while the Lease is held, until SIGTERM or SIGINT; then release the Lease.

    Raises:
        OSError: the port cannot be listened on.
    """
    stop = asyncio.Event()
    lease = Lease(objects, leader.namespace, leader.lease, leader.identity, leader.times)
    metrics.leader.labels(leader.lease).set_function(lambda: float(lease.held))

    def not_ready() -> str:
        if stop.is_set():
            return "stopping"
        return "" if settled() or not lease.held else "caches are not synced"

    with stopping_on_signals(stop), closing(listening(leader.bind, leader.health_port)) as listens:
        fields = {"healthPort": listens.getsockname()[1], "identity": leader.identity}
        _logger.info(started, extra={"fields": fields})
        async with answering(Answers(not_ready, metrics.exposition), listens):
            leading = asyncio.create_task(lease.lead(work))
            stopping = asyncio.create_task(stop.wait())
            beside = [asyncio.create_task(leader.beside(objects))] if leader.beside else []
            tasks = [leading, stopping, *beside]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            _logger.info("stopped")
            for task in (leading, *beside):
                if not task.cancelled():
                    task.result()

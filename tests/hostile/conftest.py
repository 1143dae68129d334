"""A real `jobgate serve` with all kinds, and its clients over TLS."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvloop

from bench.replica import Replica, serving
from certs import issue_generation, service_names
from tests.webhook.server.wire import Listening, Running, Shown, shown_files

Serving = Callable[..., AbstractContextManager[Replica]]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    # The server is another process, so the event loop of the client does not matter.
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return shown_files(
        issue_generation(service_names("jobgate-webhook", "jobgate-system"), datetime.now(UTC)),
        tmp_path_factory.mktemp("tls"),
    )


@pytest.fixture
def serve(shown: Shown, tmp_path: Path) -> Serving:
    """Return a function that starts a server for the test; by default without a cluster."""
    return partial(serving, tmp_path / "server.log", *flags(shown))


@pytest.fixture(scope="session")
def replica(shown: Shown, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """The server that all tests share: no test may harm it."""
    with serving(tmp_path_factory.mktemp("served") / "server.log", *flags(shown)) as server_process:
        yield server_process


@pytest.fixture
async def server(replica: Replica, shown: Shown) -> AsyncIterator[Running]:
    """A client of the server that all tests share."""
    running = reached(replica, shown)
    yield running
    for connection in running.connections:
        await connection.close()


def flags(shown: Shown) -> tuple[str, ...]:
    """Return the flags of all servers here."""
    return (f"--tls-cert={shown.certificate}", f"--tls-key={shown.key}", "--no-cluster")


def reached(replica: Replica, shown: Shown) -> Running:
    """Return a client of a server process."""
    none: Any = None
    return Running(Listening(replica.port, replica.health), none, shown.client, none, none)

"""A real `jobgate serve` of all kinds, as it is installed, and the way to it over TLS."""

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
    # The server is a process with a loop of its own: on which one this end of the wire is does not matter.
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return shown_files(
        issue_generation(service_names("jobgate-webhook", "jobgate-system"), datetime.now(UTC)),
        tmp_path_factory.mktemp("tls"),
    )


@pytest.fixture
def serve(shown: Shown, tmp_path: Path) -> Serving:
    """Starts a server of its own; without more, with no cluster."""
    return partial(serving, tmp_path / "server.log", *flags(shown))


@pytest.fixture(scope="session")
def replica(shown: Shown, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    """The server that the tests share: what one of them sends must not harm the next."""
    with serving(tmp_path_factory.mktemp("served") / "server.log", *flags(shown)) as found:
        yield found


@pytest.fixture
async def server(replica: Replica, shown: Shown) -> AsyncIterator[Running]:
    """The way to the server that the tests share."""
    found = reached(replica, shown)
    yield found
    for connection in found.connections:
        await connection.close()


def flags(shown: Shown) -> tuple[str, ...]:
    """The flags that every server here has."""
    return (f"--tls-cert={shown.certificate}", f"--tls-key={shown.key}", "--no-cluster")


def reached(replica: Replica, shown: Shown) -> Running:
    """The way to a server of its own process."""
    nothing: Any = None
    return Running(Listening(replica.port, replica.health), nothing, shown.client, nothing, nothing)

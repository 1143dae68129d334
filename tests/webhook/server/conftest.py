"""Servers to speak to, on plain asyncio and on uvloop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import pytest
import uvloop

from certs import Generation, issue_generation, service_names
from tests.webhook.server.wire import Running, Shown, running, shown_files

Start = Callable[..., Any]


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="session")
def generation() -> Generation:
    names = service_names("jobgate-webhook", "jobgate-system", extra_names=["localhost", "127.0.0.1"])
    return issue_generation(names, datetime.now(UTC))


@pytest.fixture(scope="session")
def shown(generation: Generation, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return shown_files(generation, tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def start(shown: Shown) -> AsyncIterator[Start]:
    """Starts servers, each stopped at the test's end."""
    async with AsyncExitStack() as stack:

        async def enter(*arguments: Any, **options: Any) -> Running:
            server: AbstractAsyncContextManager[Running] = running(shown, *arguments, **options)
            return await stack.enter_async_context(server)

        yield enter


@pytest.fixture
async def server(start: Start) -> Running:
    """A server of the toy kind, with its usual limits."""
    started: Running = await start()
    return started

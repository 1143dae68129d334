"""One browser and one server of answers for all tests of a process."""

from collections.abc import Iterator

import pytest

from tests.console.page.browser import Browser, started
from tests.console.page.fake import Fake, serving


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with started() as browser:
        yield browser


@pytest.fixture(scope="session")
def server() -> Iterator[Fake]:
    with serving() as server:
        yield server


@pytest.fixture
def fake(server: Fake) -> Fake:
    """The server, with its usual answers."""
    server.reset()
    return server

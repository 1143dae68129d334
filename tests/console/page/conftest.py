"""One browser and one server of answers for all tests of a process."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.page.browser import Browser, started
from tools.page.fake import Fake, serving

ANSWERS = Path(__file__).parent / "answers"


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
    """The server, with the answers of `answers/`."""
    answers = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in ANSWERS.glob("*.json")}
    job, review = answers["job"], answers["review"]
    name = "/".join(job["job"][key] for key in ("plural", "namespace", "name"))
    server.reset({**answers, f"reviews/{review['id']}": review, f"jobs/{name}": job})
    return server

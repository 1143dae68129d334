"""Conversions over TLS: the path `/convert` of a server whose kinds have several versions."""

import json
from typing import Any

import pytest

from tests.versions import BROKEN, CREW, crew, older
from tests.webhook.server.conftest import Start
from tests.webhook.server.test_log import lines
from tests.webhook.server.wire import Running, post
from tests.webhook.test_conversion import review
from webhook import Registry
from webhook.server.limits import KIB

# The same on every event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

__all__ = ["lines"]  # a fixture

VERDICTS = 'webhook_reviews_total{kind="conversions",phase="convert",verdict="%s"}'


@pytest.fixture
async def server(start: Start) -> Running:
    started: Running = await start(Registry([CREW]))
    return started


def converting(*objects: Any, **changed: Any) -> bytes:
    return post(json.dumps(review(*objects, **changed)).encode(), "/convert?timeout=30s")


async def test_objects_are_converted_and_counted(server: Running, lines: list[str]) -> None:
    lines.clear()
    answer = await server.ask(converting(older(), older(name="b")))
    assert (answer.code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.response["convertedObjects"] == [crew("workers"), crew("workers", name="b")]
    assert (await server.metrics())[VERDICTS % "converted"] == 1
    logged = json.loads(lines[0])
    assert {key: logged[key] for key in ("path", "uid", "apiVersion", "verdict", "objects", "code")} == {
        "path": "/convert",
        "uid": "705ab4f5",
        "apiVersion": "versions.example.com/v1",
        "verdict": "converted",
        "objects": 2,
        "code": 200,
    }


async def test_a_large_object_is_converted_in_the_thread_for_large_objects(server: Running) -> None:
    large = older(image="x" * 200 * KIB)
    assert (await server.ask(converting(large))).response["result"] == {"status": "Success"}


async def test_an_error_of_a_conversion_is_a_failure_with_a_log_line(server: Running, lines: list[str]) -> None:
    lines.clear()
    answer = await server.ask(converting(older(name=BROKEN)))
    assert answer.code == 200
    assert answer.response["result"]["status"] == "Failure"
    samples = await server.metrics()
    assert (samples[VERDICTS % "failed"], samples["controller_runtime_webhook_panics_total"]) == (1, 1)
    assert json.loads(lines[0])["error"] == "KeyError"
    assert "secret value" not in "".join(lines)


async def test_what_is_no_conversion_review_is_a_bad_request(server: Running) -> None:
    for body in (b"", b"{}", json.dumps(review(uid=7)).encode(), json.dumps(review()).replace("v1", "v2").encode()):
        assert (await server.ask(post(body, "/convert"))).code == 400


async def test_a_server_without_versions_does_not_have_the_path(start: Start) -> None:
    started: Running = await start()
    assert (await started.ask(converting(older()))).code == 404

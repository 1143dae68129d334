"""Events that are written, and that cannot be.

Level: an API server in memory; `test_certificates.py` writes them to a real one.
"""

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from jobgate.cluster.events import EVENTS, MESSAGE_LIMIT, EventRecorder
from jobgate.cluster.informer import ApiError
from jobgate.cluster.resource import Resource

SECRET = {"apiVersion": "v1", "kind": "Secret", "namespace": "system", "name": "tls"}


class Server:
    """Takes what is created, or answers with an error."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.made: list[Mapping[str, Any]] = []

    async def create(self, resource: Resource, manifest: Mapping[str, Any], *, dry: bool = False) -> Mapping[str, Any]:
        assert (resource, dry) == (EVENTS, False)
        if self.fault:
            raise self.fault
        self.made.append(manifest)
        return manifest

    async def get(self, *_: object) -> None:
        raise AssertionError

    async def patch(self, *_: object) -> Mapping[str, Any]:
        raise AssertionError

    set_status = patch

    async def delete(self, *_: object) -> None:
        raise AssertionError


async def test_an_event_is_about_the_object_and_is_waited_for_at_the_end() -> None:
    server = Server()
    async with EventRecorder(server, SECRET, "the-writer") as events:
        events.record("Warning", "Spoilt", "x" * 2000, uid="1234")
        assert server.made == []
    (event,) = server.made
    assert event["involvedObject"] == {**SECRET, "uid": "1234"}
    assert event["metadata"] == {"generateName": "tls.", "namespace": "system"}
    assert (event["type"], event["reason"], event["source"]) == ("Warning", "Spoilt", {"component": "the-writer"})
    assert event["message"] == "x" * (MESSAGE_LIMIT - 1) + "…"


async def test_of_an_object_that_is_gone_no_uid_is_said() -> None:
    server = Server()
    async with EventRecorder(server, SECRET, "the-writer") as events:
        events.record("Normal", "Made", "it was not there")
    assert server.made[0]["involvedObject"] == SECRET


@pytest.mark.parametrize("fault", [ApiError(403, "Forbidden", "no right"), TimeoutError(), OSError("no way")])
async def test_an_event_that_cannot_be_written_stops_nobody(fault: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "jobgate"):
        async with EventRecorder(Server(fault), SECRET, "the-writer") as events:
            events.record("Warning", "Spoilt", "no key")
    assert [record.getMessage() for record in caplog.records] == ["failed to write an Event"]

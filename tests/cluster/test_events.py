"""Events that are written, and that cannot be. `test_certificates.py` writes them to a real API server."""

import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from jobgate.cluster.events import EVENTS, MESSAGE_LIMIT, event, write_event
from jobgate.cluster.informer import ApiError
from jobgate.cluster.resource import Resource
from tests.controller.cluster import MemoryCluster

SECRET = {"apiVersion": "v1", "kind": "Secret", "namespace": "system", "name": "tls"}


def made(message: str, seal: str = "") -> dict[str, Any]:
    return event(SECRET, ("Warning", "Spoilt", message), "the-writer", datetime(2026, 1, 1, tzinfo=UTC), seal)


def test_an_event_is_about_the_object_and_its_message_is_bounded() -> None:
    result = made("x" * 2000)
    assert result["involvedObject"] == SECRET
    assert result["metadata"] == {"generateName": "tls.", "namespace": "system"}
    assert (result["type"], result["reason"], result["source"]) == ("Warning", "Spoilt", {"component": "the-writer"})
    assert result["message"] == "x" * (MESSAGE_LIMIT - 1) + "…"


@pytest.mark.parametrize(
    "error, logged",
    [
        (ApiError(403, "Forbidden", "no right"), ["failed to write an Event"]),
        (TimeoutError(), ["failed to write an Event"]),
        (OSError("no way"), ["failed to write an Event"]),
        (ApiError(409, "AlreadyExists"), []),
    ],
)
async def test_an_event_that_cannot_be_written_stops_nobody(
    error: Exception, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    cluster = MemoryCluster()

    def fault(verb: str, resource: Resource, _: str) -> None:
        assert (verb, resource) == ("create", EVENTS)
        raise error

    cluster.faults.append(fault)
    with caplog.at_level(logging.WARNING, "jobgate"):
        await write_event(cluster, made("no key", "a seal"))
    assert [record.getMessage() for record in caplog.records] == logged

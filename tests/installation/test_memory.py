"""The memory limit of the server's container follows the bounds of the server, as its own warning does."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from jobgate.cli.serve import limits_of, serve
from jobgate.installation import Installation, objects
from jobgate.kinds import installed
from jobgate.limits import KEPT, LIMITS
from webhook.server.limits import MIB, Limits
from webhook.server.reviews import BYTES

SERVE = importlib.import_module("jobgate.cli.serve")
KINDS = installed()


def container(**choices: Any) -> dict[str, Any]:
    """Return the container of the server."""
    rendered = objects(KINDS, Installation(**choices, crds=False))
    (server,) = [one for one in rendered if (one["kind"], one["metadata"]["name"]) == ("Deployment", "jobgate-webhook")]
    result: dict[str, Any] = server["spec"]["template"]["spec"]["containers"][0]
    return result


def test_the_limits_of_an_installation_are_those_of_the_server() -> None:
    assert {name: getattr(Limits(), name.replace("-", "_")) for name in LIMITS} == LIMITS
    assert KEPT == BYTES


@pytest.mark.parametrize(
    ("choices", "memory"),
    [
        ({}, 512),
        ({"limits": {"body": 10 * MIB}}, 512 + 60),
        ({"limits": {"buffered": 100 * MIB}}, 512 + 36),
        ({"limits": {"small": 128 * 1024, "in-flight": 2001}}, 512 + 188),
        ({"keep_reviews": 5}, 512 + 16),
        ({"limits": {"body": MIB, "buffered": 8 * MIB, "in-flight": 100}}, 512 - 232),
    ],
)
def test_the_default_is_the_least_of_which_the_server_does_not_warn(
    choices: dict[str, Any],
    memory: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    rendered = container(**choices)
    assert rendered["resources"]["limits"]["memory"] == f"{memory}Mi"
    monkeypatch.setattr(SERVE, "_MEMORY", tmp_path / "memory.max")
    with serve.make_context("serve", rendered["args"][1:], resilient_parsing=True) as context:
        given = context.params
    for bytes_, warns in ((memory * MIB, False), (memory * MIB - 1, True)):
        (tmp_path / "memory.max").write_text(str(bytes_))
        caplog.clear()
        SERVE.warn_of_little_memory(limits_of(given["limit"]), given["workers"], given["keep_reviews"])
        assert [f"need {memory} MiB" in message for message in caplog.messages] == [True] * warns


@pytest.mark.parametrize(
    ("resources", "limits"),
    [
        ({"limits": {"memory": "300Mi"}}, {"memory": "300Mi"}),
        ({"limits": {"memory": 5e8}}, {"memory": 5e8}),
        ({"limits": {"cpu": 2}}, {"cpu": 2, "memory": "512Mi"}),
        ({"limits": {"memory": None}}, {}),
        ({"limits": None}, None),
        ({"requests": {"cpu": "1"}}, {"memory": "512Mi"}),
    ],
)
def test_a_limit_that_is_set_wins(resources: dict[str, Any], limits: dict[str, Any] | None) -> None:
    rendered = container(resources={"webhook": resources})["resources"]
    assert rendered.get("limits") == limits
    assert rendered["requests"]["memory"] == "128Mi"

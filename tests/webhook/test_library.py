"""`webhook` as a library: the program of docs/how-to/admission-library.md, as another project would run it."""

import base64
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from examples.library.database import DATABASE
from tests.webhook.kind import admission_review
from tests.webhook.server.conftest import generation, shown
from tests.webhook.server.wire import Running, Shown, post, started
from webhook import Phase, Registry, Request, review

PAGE = Path("docs/how-to/admission-library.md")
GOOD = {"engine": "postgres", "version": "17", "storage": "10Gi", "users": [{"name": "jane"}]}

__all__ = ["generation", "shown"]  # fixtures


def database(spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Database", "metadata": {"name": "demo"}, "spec": spec}


def request(document: Any, **more: Any) -> dict[str, Any]:
    return admission_review(document, kind={"group": "example.com", "version": "v1", "kind": "Database"}, **more)


async def answer(server: Running, phase: Phase, spec: Mapping[str, Any]) -> Any:
    body = json.dumps(request(database(spec))).encode()
    return (await server.ask(post(body, DATABASE.path(phase)))).response


async def test_the_program_defaults_and_denies_over_tls(shown: Shown) -> None:
    files = str(shown.certificate), str(shown.key)
    async with started("examples.library.database", *files, "0", "0", shown=shown) as (process, server):
        added = await answer(server, Phase.MUTATE, {"engine": "mysql", "storage": "10Gi"})
        assert json.loads(base64.b64decode(added["patch"])) == [{"op": "add", "path": "/spec/version", "value": "9.4"}]
        assert (await answer(server, Phase.VALIDATE, GOOD))["allowed"]
        denied = await answer(server, Phase.VALIDATE, GOOD | {"version": "9.4", "users": [{"name": "operator"}]})
        assert [cause["field"] for cause in denied["status"]["details"]["causes"]] == [
            "spec.version",
            "spec.users[0].name",
        ]
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


@pytest.mark.parametrize(
    "spec, causes",
    [
        (GOOD, []),
        (
            GOOD | {"engine": "mysql"},
            ['spec.version: Unsupported value: "17": supported values: "9.4", "8.4"'],
        ),
        (
            GOOD | {"engine": "oracle", "users": [{"name": 3}, {"name": "operator"}]},
            [
                "spec.engine: Invalid value: \"oracle\": Input should be 'postgres' or 'mysql'",
                "spec.users[0].name: Invalid value: 3: Input should be a valid string",
                "spec.users[1].name: Forbidden: the user operator is created by the operator",
            ],
        ),
        ({"engine": "mysql", "version": "9.4"}, ["spec.storage: Required value"]),
        ([], ["spec: Invalid value: []: Input should be a valid dictionary or instance of DatabaseSpec"]),
    ],
    ids=["a good database", "a version of another engine", "faults of schema and rules", "no storage", "a list"],
)
def test_the_model_is_the_schema_of_a_kind_without_one(spec: Any, causes: list[str]) -> None:
    response = review(Request.parse(request(database(spec))), Phase.VALIDATE, Registry([DATABASE]))
    assert [str(cause) for cause in response.causes] == causes


def test_the_page_shows_the_program() -> None:
    assert Path("examples/library/database.py").read_text() in PAGE.read_text()

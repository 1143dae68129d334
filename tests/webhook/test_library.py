"""`webhook` as a library: the program of docs/how-to/admission-library.md, as another project would run it."""

import base64
import json
import re
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

PAGE, PROGRAM = Path("docs/how-to/admission-library.md"), Path("examples/library/database.py")
GOOD = {"engine": "postgres", "storage": "20Gi", "users": ["jane"]}

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
        added = await answer(server, Phase.MUTATE, {"engine": "mysql"})
        assert json.loads(base64.b64decode(added["patch"])) == [{"op": "add", "path": "/spec/storage", "value": "10Gi"}]
        assert (await answer(server, Phase.VALIDATE, GOOD))["allowed"]
        denied = await answer(server, Phase.VALIDATE, GOOD | {"users": ["postgres", "jane"]})
        assert [cause["field"] for cause in denied["status"]["details"]["causes"]] == ["spec.users[0]"]
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


@pytest.mark.parametrize(
    "spec, causes",
    [
        (GOOD, []),
        (
            GOOD | {"engine": "mysql", "users": ["jane", "root"]},
            ["spec.users[1]: Forbidden: the administrator of mysql belongs to the operator"],
        ),
        (
            {"engine": "mysql", "storage": 3, "users": ["root"]},
            [
                "spec.storage: Invalid value: 3: Input should be a valid string",
                "spec.users[0]: Forbidden: the administrator of mysql belongs to the operator",
            ],
        ),
        (
            GOOD | {"engine": "oracle", "users": ["root"]},
            ["spec.engine: Invalid value: \"oracle\": Input should be 'postgres' or 'mysql'"],
        ),
        ({"engine": "mysql"}, []),
        ({}, ["spec.engine: Required value"]),
        ([], ["spec: Invalid value: []: Input should be a valid dictionary or instance of DatabaseSpec"]),
    ],
    ids=[
        "a good database",
        "a fault of a rule",
        "faults of schema and rules",
        "a rule that cannot read its field",
        "a default",
        "no engine",
        "a list",
    ],
)
def test_the_model_is_the_schema_of_a_kind_without_one(spec: Any, causes: list[str]) -> None:
    response = review(Request.parse(request(database(spec))), Phase.VALIDATE, Registry([DATABASE]))
    assert [str(cause) for cause in response.causes] == causes


def test_the_page_shows_the_program() -> None:
    assert PROGRAM.read_text() in PAGE.read_text()


def test_the_program_has_30_lines_of_code() -> None:
    lines = [line.strip() for line in PROGRAM.read_text().splitlines()]
    assert len([line for line in lines if line and not line.startswith('"""')]) <= 32


@pytest.mark.parametrize("path", sorted(Path("webhook").rglob("*.py")), ids=str)
def test_the_library_has_no_word_of_the_product(path: Path) -> None:
    text = path.read_text().lower()
    # `operator` is also a field of Kubernetes' tolerations and selectors.
    words = r"jobgate|plugins?|prerequisites?|operators?(?!\|effect)|volcano|dijobs?|queues? of|crews?|spec\.tasks"
    assert re.findall(rf"\b(?:{words})\b", text) == []

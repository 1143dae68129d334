"""Who may ask the console, with which headers it answers, and what it says of bad requests."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from jobgate.cluster import ApiError
from jobgate.console import app as app_module
from jobgate.console.app import Console
from jobgate.console.commands import BYTES, Trial
from jobgate.console.jobs import Jobs
from jobgate.jobs.context import Settings
from jobgate.kinds import installed
from tests.console import fields

TOKEN = {"Authorization": "Bearer secret"}
JSON = {"Content-Type": "application/json"}


class NoCluster:
    """A client of an API server that allows nothing."""

    server = "https://example.com"

    def within(self, namespace: str) -> "NoCluster":
        return self

    def labelled(self, selector: str, namespace: str = "") -> "NoCluster":
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def list(self, resource: Any) -> Any:
        raise ApiError(403, "Forbidden")

    async def pages(self, resource: Any) -> AsyncIterator[Any]:
        for code in (403,):
            raise ApiError(code, "Forbidden")
        yield

    async def create(self, resource: Any, manifest: Any) -> Any:
        return {"status": {"allowed": False}}


Opened = tuple[aiohttp.ClientSession, str, Console]


@asynccontextmanager
async def opened() -> AsyncIterator[Opened]:
    """Run a console."""
    client: Any = NoCluster()
    kinds = installed()
    shown = Console(client, Trial(kinds, Settings()), Jobs(client, kinds), "secret")
    runner = web.AppRunner(shown.app(), shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with aiohttp.ClientSession() as session:
        yield session, f"http://127.0.0.1:{runner.addresses[0][1]}", shown
    await runner.cleanup()


@pytest.fixture
async def console() -> AsyncIterator[Opened]:
    async with opened() as running:
        yield running


REFUSED: list[tuple[str, str, dict[str, str], Any, int, str]] = [
    ("GET", "/api/about", {}, None, 401, "a token is required"),
    ("GET", "/api/about", {"Authorization": "Bearer other"}, None, 401, "not the token"),
    ("GET", "/api/about", {"Authorization": "Basic secret"}, None, 401, "a token is required"),
    ("GET", "/api/about", {"Authorization": "Bearer caf\u00e9"}, None, 401, "a token is required"),
    ("GET", "/api/reviews?after=1", {}, None, 401, "a token is required"),
    ("POST", "/api/try", JSON, {}, 401, "a token is required"),
    ("GET", "/api/about", {**TOKEN, "Host": "evil.example"}, None, 421, "not called by this name"),
    ("GET", "/", {"Host": "evil.example:80"}, None, 421, "not called by this name"),
    ("GET", "/", {"Host": "["}, None, 421, "not called by this name"),
    ("GET", "/", {"Host": "127.0.0.1.evil.example"}, None, 421, "not called by this name"),
    ("POST", "/api/try", {**TOKEN, **JSON}, "no json", 400, "line 1"),
    ("POST", "/api/try", {**TOKEN, "Content-Type": "application/json; charset=x"}, "no json", 400, "line 1"),
    ("POST", "/api/try", {**TOKEN, **JSON}, {"yaml": 7}, 400, "whose values are strings"),
    ("POST", "/api/try", {**TOKEN, **JSON}, ["kind: Job"], 400, "must be a JSON object"),
    ("POST", "/api/audit", {**TOKEN, **JSON}, {"namespace": ["a"]}, 400, "whose values are strings"),
    ("POST", "/api/try", {**TOKEN, **JSON}, {"yaml": "x" * (BYTES + 1)}, 413, "at most 256 KiB"),
    ("POST", "/api/try", {**TOKEN, **JSON}, {"yaml": "x" * (3 * BYTES)}, 413, ""),
    ("POST", "/api/about", {**TOKEN, **JSON}, {}, 405, ""),
    ("GET", "/api/try", TOKEN, None, 405, ""),
    ("GET", "/api/nowhere", TOKEN, None, 404, ""),
    ("GET", "/api/reviews?after=x", TOKEN, None, 400, "after must be a whole number"),
    ("GET", "/api/reviews?after=%C2%B2", TOKEN, None, 400, "after must be a whole number"),
    ("GET", "/api/jobs/nothing/default/x", TOKEN, None, 404, "no kind"),
    ("GET", "/api/jobs/dijobs.diengine.opendilab.org/default/x", TOKEN, None, 403, "you may not list"),
    ("GET", "/api/schemas/nothing.json", TOKEN, None, 404, "no such schema"),
    ("GET", "/static/../app.py", {}, None, 404, ""),
    ("GET", "/static/%2e%2e/app.py", {}, None, 404, ""),
    ("GET", "/static/..%2f..%2fapi.py", {}, None, 404, ""),
    ("GET", "/static/vendor", {}, None, 403, ""),
]


@pytest.mark.parametrize("method, path, headers, body, code, message", REFUSED)
async def test_what_is_refused_and_why(
    console: Opened, method: str, path: str, headers: dict[str, str], body: Any, code: int, message: str
) -> None:
    session, url, _ = console
    sent: dict[str, Any] = {"data": body} if isinstance(body, str | None) else {"json": body}
    address = URL(url + path, encoded=True)
    async with session.request(method, address, headers=headers, **sent) as answer:
        assert answer.status == code
        assert answer.content_type == "application/json"
        error = (await answer.json())["error"]
        assert error["code"] == code
        assert message in error["message"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9000", "[::1]:9000", "LOCALHOST"])
async def test_it_may_be_called_by_names_of_loopback_on_any_port(console: Opened, host: str) -> None:
    session, url, _ = console
    async with session.get(f"{url}/api/about", headers={**TOKEN, "Host": host}) as answer:
        assert answer.status == 200


async def test_every_answer_has_the_headers_of_security(console: Opened) -> None:
    session, url, _ = console
    media = {
        "/": "text/html",
        "/static/main.js": "javascript",
        "/static/style.css": "text/css",
        "/static/icon.svg": "image/svg+xml",
        "/api/about": "application/json",
        "/x": "application/json",
    }
    for path, content_type in media.items():
        async with session.get(url + path, headers=TOKEN) as answer:
            assert content_type in answer.content_type
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
            assert "unsafe" not in policy
            assert "connect-src 'self'" in policy
            assert answer.headers["Cache-Control"] == ("no-store" if content_type == "application/json" else "no-cache")
    async with session.get(f"{url}/static/nothing.js") as answer:
        assert answer.status == 404


async def test_reviews_that_a_server_dropped_are_reported_to_who_has_those_before_and_may_see_servers(
    console: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, url, shown = console

    async def asked(after: int) -> bool:
        async with session.get(f"{url}/api/reviews?after={after}", headers=TOKEN) as answer:
            return bool((await answer.json())["missed"])

    assert not await asked(1)
    shown.store.miss()
    assert await asked(1)
    assert not await asked(shown.store.last)
    assert not await asked(0)

    async def sees_none(*_: object) -> bool:
        return False

    monkeypatch.setattr(Console, "_may_see_servers", sees_none)
    assert not await asked(1), "when others were reviewed stays unknown"


async def test_a_watch_that_ends_is_logged_and_on_the_page(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: Jobs) -> None:
        raise ExceptionGroup("unhandled", [ZeroDivisionError("a fault of ours")])

    monkeypatch.setattr(Jobs, "run", broken)
    async with opened() as (session, url, _):
        for _ in range(100):
            async with session.get(f"{url}/api/about", headers=TOKEN) as answer:
                problems = (await answer.json())["problems"]
            if any(problem.startswith("jobs are not followed any more") for problem in problems):
                break
            await asyncio.sleep(0.05)
        else:
            pytest.fail(f"not reported: {problems}")
    assert "a fault of ours" in caplog.text


async def test_an_answer_that_the_caller_has_keeps_its_tag(console: Opened) -> None:
    session, url, _ = console
    tag = ""
    for status in (200, 304, 304):
        async with session.get(f"{url}/api/about", headers={**TOKEN, "If-None-Match": tag}) as answer:
            assert (answer.status, bool(await answer.read())) == (status, status == 200)
            tag = answer.headers["ETag"]


async def test_the_log_has_no_token_and_no_message_of_a_fault(
    console: Opened, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, url, shown = console
    async with session.get(f"{url}/api/about", headers={"Authorization": f"Bearer hunter2{'a' * 9000}"}) as answer:
        assert answer.status == 400
    monkeypatch.setattr(shown.trial.__class__, "review", lambda *_: dict[str, int]()["hunter2"])
    async with session.post(f"{url}/api/try", json={"yaml": "a: 1"}, headers=TOKEN) as answer:
        assert answer.status == 500
    (record,) = (record for record in caplog.records if record.getMessage() == "failed to answer")
    assert vars(record)["fields"]["error"] == "KeyError"
    assert "<lambda>" in vars(record)["fields"]["places"][-1]
    assert "hunter2" not in caplog.text + str(vars(record)["fields"])


async def test_schemas_are_those_of_the_kinds(console: Opened) -> None:
    session, url, _ = console
    async with session.get(f"{url}/api/schemas", headers=TOKEN) as answer:
        shown = await answer.json()
    fields.check("/api/schemas", shown)
    kinds = {kind["kind"]: kind["url"] for kind in shown["kinds"]}
    assert {"DIJob", "TorchJob", "MxJob"} <= kinds.keys()
    async with session.get(url + kinds["DIJob"], headers=TOKEN) as answer:
        assert (await answer.json())["properties"]["kind"]["enum"] == ["DIJob"]


async def test_a_trial_that_takes_long_ends_and_holds_nobody(console: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    session, url, _ = console
    monkeypatch.setattr(app_module, "TRIAL", 0.1)
    monkeypatch.setattr(Trial, "review", lambda *_: time.sleep(0.5))
    asked = [session.post(f"{url}/api/try", headers=TOKEN, json={"yaml": "a: b"}) for _ in range(6)]
    codes = sorted([answer.status for answer in await asyncio.gather(*asked)])
    assert codes == [429, 429, 503, 503, 503, 503]
    async with session.get(f"{url}/api/about", headers=TOKEN) as answer:
        assert answer.status == 200

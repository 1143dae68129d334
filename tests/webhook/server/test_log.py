"""Logs and metrics: one line a request, nothing of the object, and no more labels than paths."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.webhook.kind import crew, job, parts
from tests.webhook.server.conftest import Start
from tests.webhook.server.wire import MUTATE, VALIDATE, Running, body, head, post, until
from webhook import Cause, Context, Draft, Object, Phase, Registry, Request
from webhook.rule import rule as as_rule
from webhook.server import Route
from webhook.server.log import BatchHandler, JSONFormatter, logger
from webhook.trace import passed_on

# The same on every event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

SECRET = "hunter2"


class Lines(logging.Handler):
    """What the server logs, as it would be printed."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JSONFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def lines() -> Iterator[list[str]]:
    handler = Lines()
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.INFO)
    yield handler.lines
    logger.setLevel(before)
    logger.removeHandler(handler)


def quotes(job: Object[Any], context: Context[Any]) -> Iterator[Cause]:
    raise ValueError(job.document["spec"]["parts"][0]["template"]["password"])


async def test_a_request_is_one_line_of_json_that_says_who_asked_what(server: Running, lines: list[str]) -> None:
    lines.clear()
    content = body(parts({}, {"name": "a", "template": {"privileged": 1}}))
    await server.ask(post(content))
    (line,) = map(json.loads, lines)
    assert line.pop("milliseconds") > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.pop("time"))
    assert line == {
        "level": "info",
        "message": "request",
        "path": VALIDATE,
        "code": 200,
        "bytes": len(content),
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "operation": "CREATE",
        "apiVersion": "toys.example.com/v1",
        "kind": "Crew",
        "namespace": "default",
        "name": "demo",
        "user": "jane",
        "dryRun": False,
        "allowed": False,
        "verdict": "denied",
        "causes": 1,
        "warnings": 1,
        "operations": 0,
    }


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


async def test_the_line_of_a_request_has_its_trace_and_no_other(server: Running, lines: list[str]) -> None:
    connection = await server.connect()
    lines.clear()
    for header in (PARENT, None, PARENT + "\tx", "x" * 5000):
        await connection.ask(post(Traceparent=header))
    assert [json.loads(line).get("trace") for line in lines] == [TRACE, None, None, None]


async def test_what_a_review_asks_of_others_belongs_to_the_trace(server: Running) -> None:
    asked = []

    async def asks(admission: Request) -> None:
        asked.append(await asyncio.create_task(later()))

    async def later() -> dict[str, str]:
        return dict(passed_on())

    server.endpoint.routes = {VALIDATE: Route("crews", Phase.VALIDATE, asks)}
    connection = await server.connect()
    await connection.ask(post(Traceparent=PARENT, Tracestate="a=1"))
    await connection.ask(post())
    assert asked == [{"traceparent": PARENT, "tracestate": "a=1"}, {}]


@pytest.mark.parametrize(
    "document",
    [
        parts({"name": "a", "template": {"password": SECRET}}),
        parts({"name": SECRET, "replicas": 0}),
        parts({"name": SECRET}, {"name": SECRET}),
        job({"parts": SECRET}),
        job(annotations={"a": SECRET}),
        SECRET,
    ],
)
@pytest.mark.parametrize("path", [VALIDATE, MUTATE])
async def test_no_value_of_an_object_is_logged(start: Start, lines: list[str], document: Any, path: str) -> None:
    server = await start(Registry([crew(), crew(kind="Odd", plural="odds", rules=(as_rule()(quotes),))]))
    await server.ask(post(body(document), path))
    odd = {"group": "toys.example.com", "version": "v1", "kind": "Odd"}
    await server.ask(post(body(document, kind=odd), path.replace("crew", "odd")))
    assert lines
    assert not [line for line in lines if SECRET in line]


async def test_a_failure_of_ours_is_logged_with_its_place(start: Start, lines: list[str]) -> None:
    server = await start(Registry([crew(rules=(as_rule()(quotes),))]))
    await server.ask(post(body(parts({"name": "a", "template": {"password": SECRET}}))))
    (line,) = (record for record in map(json.loads, lines) if record["level"] == "error")
    assert (line["message"], line["error"], line["path"]) == ("failed to answer", "ValueError", VALIDATE)
    assert line["places"][-1].endswith(" quotes")


def writes_nan(job: Draft, _: Context[Any]) -> None:
    job["ratio"] = float("nan")


async def test_a_default_that_sets_what_json_has_not_is_a_failure_of_ours(start: Start, lines: list[str]) -> None:
    server = await start(Registry([crew(defaults=(writes_nan,))]))
    answer = await server.ask(post(body(parts({"name": "a"})), MUTATE))
    assert answer.code == 500
    (line,) = (record for record in map(json.loads, lines) if record["level"] == "error")
    assert (line["message"], line["error"]) == ("failed to answer", "ValueError")
    assert any(place.endswith(" writes_nan") for place in line["places"])


@pytest.mark.parametrize(
    "request_",
    [
        head("GET", "/%0a%7Binjected%7D"),
        head("GET", "/x?\x7f"),
        post(body(name='x\n{"level":"error"}\u2028\u202e')),
        post(body(userInfo={"username": "x\r\n\x1b[31m" + "y" * 1000})),
        post(b"{"),
        post(User_Agent="a\tb"),
        b"\x00\xff\n\r\n\r\n",
    ],
)
async def test_nothing_that_is_sent_breaks_a_line(server: Running, lines: list[str], request_: bytes) -> None:
    await server.ask(request_)
    for line in lines:
        assert line.isascii()
        assert line.isprintable()
        assert len(line) < 1500
        assert json.loads(line)


async def test_metrics_are_named_as_controller_runtime_names_them(server: Running) -> None:
    await server.ask(post(body(parts({"role": "lead"})), MUTATE))
    await server.ask(post(body(parts({}))))
    metrics = await server.metrics()
    assert {
        f'controller_runtime_webhook_requests_total{{code="200",webhook="{MUTATE}"}}': 1.0,
        f'controller_runtime_webhook_requests_total{{code="200",webhook="{VALIDATE}"}}': 1.0,
        f'controller_runtime_webhook_latency_seconds_count{{webhook="{VALIDATE}"}}': 1.0,
        f'controller_runtime_webhook_latency_seconds_bucket{{le="+Inf",webhook="{VALIDATE}"}}': 1.0,
        f'controller_runtime_webhook_requests_in_flight{{webhook="{VALIDATE}"}}': 0.0,
        "controller_runtime_webhook_panics_total": 0.0,
        'webhook_reviews_total{kind="crews.toys.example.com",phase="mutate",verdict="patched"}': 1.0,
        'webhook_reviews_total{kind="crews.toys.example.com",phase="validate",verdict="denied"}': 1.0,
        'webhook_denial_causes_total{kind="crews.toys.example.com",reason="FieldValueRequired",rule="plain_parts_have_names"}': 1.0,
        'webhook_shed_requests_total{reason="in-flight"}': 0.0,
        "webhook_connections": 0.0,
    }.items() <= metrics.items()


async def test_what_users_are_told_is_counted_by_rule_and_never_by_name(server: Running) -> None:
    await server.ask(post(body(parts({}, {"name": "a", "replicas": 0}, {"name": "b", "template": {"privileged": 1}}))))
    await server.ask(post(body(parts({"role": "lead"})), MUTATE))
    metrics, kind = await server.metrics(), 'kind="crews.toys.example.com"'
    causes = {name for name in metrics if name.startswith("webhook_denial_causes_total")}
    assert causes == {
        f'webhook_denial_causes_total{{{kind},reason="FieldValueInvalid",rule="schema"}}',
        f'webhook_denial_causes_total{{{kind},reason="FieldValueRequired",rule="plain_parts_have_names"}}',
    }
    assert metrics[f'webhook_warnings_total{{{kind},phase="validate"}}'] == 1
    assert metrics[f"webhook_patch_operations_total{{{kind}}}"] == 2


@pytest.mark.parametrize(
    "request_, reason",
    [
        (head("GET", "/x"), "path"),
        (head("GET"), "method"),
        (post(Content_Type="text/plain"), "media-type"),
        (post(Content_Encoding="gzip"), "encoding"),
        (post(Expect="x"), "expectation"),
        (head(Content_Length=10**9), "too-large"),
        (post(b""), "empty"),
        (post(b"{"), "not-json"),
        (post(b"[" * 900 + b"]" * 900), "too-deep"),
        (post(b'{"a":1,"a":2}'), "duplicate-key"),
        (post(b"{}"), "envelope"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_is_rejected_at_the_door_is_counted_and_logged_by_why(
    server: Running, lines: list[str], request_: bytes, reason: str
) -> None:
    lines.clear()
    await server.ask(request_)
    metrics = await server.metrics()
    counted = {name: value for name, value in metrics.items() if name.startswith("webhook_rejected_requests_total")}
    assert {name for name, value in counted.items() if value} == {
        f'webhook_rejected_requests_total{{reason="{reason}"}}'
    }
    assert [json.loads(line)["reason"] for line in lines] == [reason]


async def test_what_is_no_http_is_counted(server: Running) -> None:
    for sent in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", head(Transfer_Encoding="chunked") + b"zz\r\n"):
        await server.ask(sent)
    assert (await server.metrics())['webhook_rejected_requests_total{reason="not-http"}'] == 2


async def test_an_answer_that_comes_after_its_caller_has_left_is_counted(server: Running) -> None:
    async def slowly(admission: Request) -> None:
        await asyncio.sleep(1.1)

    server.endpoint.routes = {VALIDATE: Route("crews", Phase.VALIDATE, slowly)}
    await server.ask(post())
    await server.ask(post(path=f"{VALIDATE}?timeout=1s"))
    assert (await server.metrics())[f'webhook_deadline_exceeded_total{{webhook="{VALIDATE}"}}'] == 1


async def test_how_late_the_server_is_is_measured(server: Running) -> None:
    async def measured() -> bool:
        return (await server.metrics())["webhook_event_loop_lag_seconds_count"] > 0

    await until(measured)


async def test_labels_are_bounded_whatever_is_sent(server: Running) -> None:
    for place in range(30):
        await server.ask(head("GET", f"/{place}"))
        kind = {"group": "g", "version": "v1", "kind": f"K{place}"}
        await server.ask(post(body(kind=kind, operation="DELETE")))
    webhooks = {name for name in await server.metrics() if name.startswith("controller_runtime_webhook_requests_total")}
    assert webhooks == {
        'controller_runtime_webhook_requests_total{code="404",webhook="unknown"}',
        f'controller_runtime_webhook_requests_total{{code="200",webhook="{VALIDATE}"}}',
    }


# How lines are written


class Written(io.StringIO):
    """A stream that keeps apart what is written at once."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        self.parts.append(text)
        return len(text)


def record(message: str, level: int = logging.INFO, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("webhook", level, "", 0, message, None, None)
    record.fields = fields
    return record


def messages(parts: list[str]) -> list[str]:
    return [json.loads(line)["message"] for line in "".join(parts).splitlines()]


async def test_lines_are_written_together_and_an_error_takes_those_before_it_along() -> None:
    stream = Written()
    handler = BatchHandler(stream)
    handler.handle(record("alone"))
    assert messages(stream.parts) == ["alone"]
    with handler.batching():
        handler.handle(record("a"))
        handler.handle(record("b"))
        assert messages(stream.parts) == ["alone"]
        handler.handle(record("c", logging.ERROR))
        assert messages(stream.parts) == ["alone", "a", "b", "c"]
        handler.handle(record("last"))
    assert messages(stream.parts) == ["alone", "a", "b", "c", "last"]


async def test_lines_are_written_soon_though_no_more_come() -> None:
    stream = Written()
    handler = BatchHandler(stream)
    with handler.batching():
        handler.handle(record("a"))
        await asyncio.to_thread(handler.handle, record("b"))
        await until(lambda: messages(stream.parts) == ["a", "b"])


@pytest.mark.parametrize("value", ["é\u2028", "\ud800", 2**70, "\x1b", object(), None])
async def test_any_value_makes_a_line(value: Any) -> None:
    line = JSONFormatter().format(record("x", value=value))
    assert line.isascii()
    assert "value" in json.loads(line)

"""Spans, with OpenTelemetry's words played: its packages need not be installed."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.webhook.server.wire import VALIDATE, Running, head, post
from webhook.server.spans import OpenTelemetry
from webhook.trace import Trace

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop"])

ID, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class TraceFlags(int):
    SAMPLED = 1


class Tracer:
    """Keeps what spans are started with, and how they end."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []

    def start_span(self, name: str, **options: Any) -> SimpleNamespace:
        span = {"name": name, **options}
        self.spans.append(span)
        return SimpleNamespace(
            end=lambda end_time: span.update(end_time=end_time), set_status=lambda status: span.update(status=status)
        )


def played(tracer: Tracer) -> OpenTelemetry:
    api = SimpleNamespace(
        SpanKind=SimpleNamespace(SERVER="server"),
        StatusCode=SimpleNamespace(ERROR="error"),
        TraceFlags=TraceFlags,
        SpanContext=lambda **options: options,
        NonRecordingSpan=lambda context: context,
        set_span_in_context=lambda span: span,
    )
    return OpenTelemetry(tracer, api)


async def test_a_request_is_a_span_below_its_callers(server: Running) -> None:
    tracer = Tracer()
    server.endpoint.spans = played(tracer)
    await server.ask(post(Traceparent=f"00-{ID}-{PARENT}-01"))
    (span,) = tracer.spans
    assert (span["name"], span["kind"]) == (f"POST {VALIDATE}", "server")
    assert span["context"] == {
        "trace_id": int(ID, 16),
        "span_id": int(PARENT, 16),
        "is_remote": True,
        "trace_flags": 1,
    }
    assert span["start_time"] <= span["end_time"]
    assert span["attributes"]["webhook.verdict"] == "allowed"
    assert "webhook.user" not in span["attributes"]
    assert "status" not in span


async def test_a_request_of_no_trace_is_a_span_of_its_own_and_names_no_path_as_it_was_sent(server: Running) -> None:
    tracer = Tracer()
    server.endpoint.spans = played(tracer)
    await server.ask(head("GET", "/as-it-was-sent"))
    (span,) = tracer.spans
    assert (span["name"], span["context"]) == ("POST unknown", None)


@pytest.mark.parametrize("code, status", [(200, None), (429, None), (500, "error")])
async def test_a_failure_of_ours_is_an_error(code: int, status: str | None) -> None:
    tracer = Tracer()
    played(tracer).record("/x", Trace(ID, PARENT), (1, 2), {"code": code})
    assert tracer.spans[0].get("status") == status

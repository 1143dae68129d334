"""Spans of requests for OpenTelemetry, whose packages are imported only if spans are exported."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from webhook.server.product import NAMELESS, Product
from webhook.trace import Trace

#: Fields of a request's log line that a span has already, or that would identify a person.
_LEFT_OUT = frozenset({"path", "milliseconds", "trace", "user"})


class OpenTelemetry:
    """Records a server span for each request, as a child of the caller's span."""

    def __init__(self, tracer: Any, api: Any, product: Product = NAMELESS) -> None:
        """`tracer` creates spans; `api` is the module `opentelemetry.trace`."""
        self._tracer = tracer
        self._api = api
        self._product = product

    @classmethod
    def exporting(cls, product: Product = NAMELESS) -> OpenTelemetry:
        """Return an instance that sends spans to the collector of the variables `OTEL_EXPORTER_OTLP_…`.

        Raises:
            ImportError: the extra `traces` is not installed.
        """
        api = importlib.import_module("opentelemetry.trace")
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        export = importlib.import_module("opentelemetry.sdk.trace.export")
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        resources = importlib.import_module("opentelemetry.sdk.resources")
        provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": product.name}))
        provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
        return cls(provider.get_tracer(product.name), api, product)

    def record(self, path: str, trace: Trace | None, times: tuple[int, int], fields: Mapping[str, Any]) -> None:
        """Record an answered request as a span.

        Args:
            path: the path of the webhook, or `unknown`.
            trace: the trace of the request, or None for a new one.
            times: when it began and ended, in nanoseconds since the epoch.
            fields: the fields of its log line.
        """
        span = self._tracer.start_span(
            f"POST {path}",
            context=self._below(trace),
            kind=self._api.SpanKind.SERVER,
            attributes={f"{self._product.name}.{key}": value for key, value in fields.items() if key not in _LEFT_OUT},
            start_time=times[0],
        )
        if fields["code"] >= 500:
            span.set_status(self._api.StatusCode.ERROR)
        span.end(end_time=times[1])

    def _below(self, trace: Trace | None) -> Any:
        """Return the context in which the caller's span is the parent."""
        if trace is None:
            return None
        parent = self._api.SpanContext(
            trace_id=int(trace.id, 16),
            span_id=int(trace.parent, 16),
            is_remote=True,
            trace_flags=self._api.TraceFlags(self._api.TraceFlags.SAMPLED if trace.sampled else 0),
        )
        return self._api.set_span_in_context(self._api.NonRecordingSpan(parent))

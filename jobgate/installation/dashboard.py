"""The Grafana dashboard: requests, latency, denials, certificates."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

_COLUMNS, _WIDTH, _HEIGHT = 2, 12, 8
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Panel(NamedTuple):
    """A panel: title, unit of the axis, and lines as (PromQL, legend)."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]


def _quantile(quantile: float) -> str:
    buckets = "controller_runtime_webhook_latency_seconds_bucket"
    return f"histogram_quantile({quantile}, sum by (le) (rate({buckets}[$__rate_interval])))"


PANELS = (
    Panel(
        "Requests",
        "reqps",
        (("sum by (code) (rate(controller_runtime_webhook_requests_total[$__rate_interval]))", "{{code}}"),),
    ),
    Panel("Time to answer", "s", ((_quantile(0.5), "p50"), (_quantile(0.99), "p99"))),
    Panel(
        "Verdicts",
        "ops",
        (("sum by (kind, verdict) (rate(jobgate_reviews_total[$__rate_interval]))", "{{kind}} {{verdict}}"),),
    ),
    Panel(
        "Causes of denials",
        "ops",
        (("sum by (kind, reason) (rate(jobgate_denial_causes_total[$__rate_interval]))", "{{kind}} {{reason}}"),),
    ),
    Panel(
        "Certificate: time left",
        "s",
        (("jobgate_certificate_not_after_timestamp_seconds - time()", "{{pod}}"),),
    ),
    Panel("Certificate: generation served", "none", (("jobgate_certificate_generation", "{{pod}}"),)),
    Panel(
        "TLS handshakes that failed",
        "ops",
        (("sum by (reason) (rate(jobgate_tls_handshake_errors_total[$__rate_interval]))", "{{reason}}"),),
    ),
    Panel(
        "Load",
        "none",
        (
            ("sum(controller_runtime_webhook_requests_in_flight)", "in flight"),
            ("sum(jobgate_connections)", "connections"),
            ("sum(rate(jobgate_shed_requests_total[$__rate_interval]))", "rejected by overload, per second"),
        ),
    ),
)


def dashboard() -> str:
    """Return the dashboard as JSON."""
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    made = {
        "uid": "jobgate",
        "title": "jobgate",
        "tags": ["jobgate"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [source]},
        "panels": [_panel(number, panel) for number, panel in enumerate(PANELS)],
    }
    return json.dumps(made, indent=2) + "\n"


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": _SOURCE,
        "gridPos": {
            "x": number % _COLUMNS * _WIDTH,
            "y": number // _COLUMNS * _HEIGHT,
            "w": _WIDTH,
            "h": _HEIGHT,
        },
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(panel.lines)
        ],
    }

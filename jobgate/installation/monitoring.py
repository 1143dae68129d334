"""Monitoring, for the Prometheus operator and Grafana."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml

from jobgate.installation.choices import RUNS, namespaced
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import If, all_of, chart_file, setting

_NAME = "jobgate-metrics"
_LABELS = {**LABELS, "app.kubernetes.io/component": "metrics"}
_FILE = "dashboard.json"


def alerts() -> list[dict[str, Any]]:
    """Return the alerts as rules of Prometheus, from `alerts.yaml`."""
    found: list[dict[str, Any]] = yaml.safe_load(_text("alerts.yaml"))
    return found


def dashboard() -> str:
    """Return the Grafana dashboard as JSON: requests, latency, denials, certificates."""
    return _text(_FILE)


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def monitoring() -> list[Any]:
    """Return a Service of all metrics, the ServiceMonitor, the alerts and the dashboard, if they are enabled."""
    return [If(all_of(RUNS, setting("monitoring")), [_service(), _monitor(), _rules(), _dashboard()])]


def _service() -> dict[str, Any]:
    spec = {
        "clusterIP": "None",
        # Metrics are most important for a server that is not ready.
        "publishNotReadyAddresses": True,
        "selector": {"app.kubernetes.io/name": "jobgate"},
        # By name: pods without metrics have no such port.
        "ports": [{"name": "metrics", "port": setting("health_port"), "targetPort": "health", "protocol": "TCP"}],
    }
    return namespaced("v1", "Service", _NAME, {"spec": spec}, _LABELS)


def _monitor() -> dict[str, Any]:
    endpoint = {"port": "metrics", "path": "/metrics", "interval": "30s"}
    spec = {"selector": {"matchLabels": _LABELS}, "endpoints": [endpoint]}
    return namespaced("monitoring.coreos.com/v1", "ServiceMonitor", "jobgate", {"spec": spec})


def _rules() -> dict[str, Any]:
    spec = {"groups": [{"name": "jobgate", "rules": alerts()}]}
    return namespaced("monitoring.coreos.com/v1", "PrometheusRule", "jobgate", {"spec": spec})


def _dashboard() -> dict[str, Any]:
    labels = {**LABELS, "grafana_dashboard": "1"}
    return namespaced("v1", "ConfigMap", "jobgate-dashboard", {"data": {_FILE: chart_file(_FILE, dashboard())}}, labels)

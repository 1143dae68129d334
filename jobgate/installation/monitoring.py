"""Monitoring, for the Prometheus operator and Grafana."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml

from jobgate.installation.choices import INSTALLED, NAME, RUNS, namespaced
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import If, added_to, all_of, chart_file, setting

_LABELS = {**LABELS, "app.kubernetes.io/component": "metrics"}
_FILE = "dashboard.json"


def alerts() -> list[dict[str, Any]]:
    """Return the alerts as rules of Prometheus, from `alerts.yaml`."""
    rules: list[dict[str, Any]] = yaml.safe_load(_text("alerts.yaml"))
    return rules


def dashboard() -> str:
    """Return the Grafana dashboard as JSON: requests, latency, denials, certificates."""
    return _text(_FILE)


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def monitoring() -> list[Any]:
    """Return a Service of all metrics, the ServiceMonitor, the alerts and the dashboard, if they are enabled."""
    service = {
        "clusterIP": "None",
        # Metrics are most important for a server that is not ready.
        "publishNotReadyAddresses": True,
        "selector": {"app.kubernetes.io/name": "jobgate"},
        # By name: pods without metrics have no such port.
        "ports": [{"name": "metrics", "port": setting("health_port"), "targetPort": "health", "protocol": "TCP"}],
    }
    label = {"targetLabel": "installation", "replacement": NAME}
    endpoint = {"port": "metrics", "path": "/metrics", "interval": "30s", "relabelings": [label]}
    monitor = {"selector": {"matchLabels": _LABELS}, "endpoints": [endpoint]}
    selected = added_to(INSTALLED, setting("monitor_labels"))
    rules = {"groups": [{"name": "jobgate", "rules": alerts()}]}
    data, labels = {_FILE: chart_file(_FILE, dashboard())}, {**INSTALLED, "grafana_dashboard": "1"}
    trees = [
        namespaced("v1", "Service", "jobgate-metrics", {"spec": service}, {**INSTALLED, **_LABELS}),
        namespaced("monitoring.coreos.com/v1", "ServiceMonitor", "jobgate", {"spec": monitor}, selected),
        namespaced("monitoring.coreos.com/v1", "PrometheusRule", "jobgate", {"spec": rules}, selected),
        namespaced("v1", "ConfigMap", "jobgate-dashboard", {"data": data}, labels),
    ]
    return [If(all_of(RUNS, setting("monitoring")), trees)]

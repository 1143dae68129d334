"""What Prometheus' operator and Grafana take: where to scrape, when to alert, what to show."""

from __future__ import annotations

from typing import Any

from jobgate.installation.alerts import rules
from jobgate.installation.choices import RUNS, namespaced
from jobgate.installation.dashboard import dashboard
from jobgate.installation.installation import LABELS
from jobgate.installation.tree import File, Given, When, all_of

_NAME = "jobgate-metrics"
_LABELS = {**LABELS, "app.kubernetes.io/component": "metrics"}
_FILE = "dashboard.json"


def monitoring() -> list[Any]:
    """Return a Service of all metrics, who scrapes it, the alerts and the dashboard, where they are wanted."""
    return [When(all_of(RUNS, Given("monitoring")), [_service(), _monitor(), _rules(), _dashboard()])]


def _service() -> dict[str, Any]:
    spec = {
        "clusterIP": "None",
        # A server that is not ready is the one to hear of.
        "publishNotReadyAddresses": True,
        "selector": {"app.kubernetes.io/name": "jobgate"},
        # By name: pods of ours without metrics have no such port, and are left out.
        "ports": [{"name": "metrics", "port": Given("health_port"), "targetPort": "health", "protocol": "TCP"}],
    }
    return namespaced("v1", "Service", _NAME, {"spec": spec}, _LABELS)


def _monitor() -> dict[str, Any]:
    endpoint = {"port": "metrics", "path": "/metrics", "interval": "30s"}
    spec = {"selector": {"matchLabels": _LABELS}, "endpoints": [endpoint]}
    return namespaced("monitoring.coreos.com/v1", "ServiceMonitor", "jobgate", {"spec": spec})


def _rules() -> dict[str, Any]:
    spec = {"groups": [{"name": "jobgate", "rules": rules()}]}
    return namespaced("monitoring.coreos.com/v1", "PrometheusRule", "jobgate", {"spec": spec})


def _dashboard() -> dict[str, Any]:
    labels = {**LABELS, "grafana_dashboard": "1"}
    return namespaced("v1", "ConfigMap", "jobgate-dashboard", {"data": {_FILE: File(_FILE, dashboard())}}, labels)

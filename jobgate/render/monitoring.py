"""What Prometheus' operator and Grafana take: where to scrape, when to alert, what to show."""

from __future__ import annotations

from typing import Any

from jobgate.render.alerts import rules
from jobgate.render.choices import NAMESPACE, RUNS
from jobgate.render.dashboard import dashboard
from jobgate.render.installation import LABELS
from jobgate.render.tree import AllOf, File, Given, When

_NAME = "jobgate-metrics"
_LABELS = {**LABELS, "app.kubernetes.io/component": "metrics"}
_FILE = "dashboard.json"


def monitoring() -> list[Any]:
    """Return a Service of all metrics, who scrapes it, the alerts and the dashboard, where they are wanted."""
    return [When(AllOf((RUNS, Given("monitoring"))), [_service(), _monitor(), _rules(), _dashboard()])]


def _service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _NAME, "namespace": NAMESPACE, "labels": _LABELS},
        "spec": {
            "clusterIP": "None",
            # A server that is not ready is the one to hear of.
            "publishNotReadyAddresses": True,
            "selector": {"app.kubernetes.io/name": "jobgate"},
            # By name: pods of ours without metrics have no such port, and are left out.
            "ports": [{"name": "metrics", "port": Given("health_port"), "targetPort": "health", "protocol": "TCP"}],
        },
    }


def _monitor() -> dict[str, Any]:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {"name": "jobgate", "namespace": NAMESPACE, "labels": LABELS},
        "spec": {
            "selector": {"matchLabels": _LABELS},
            "endpoints": [{"port": "metrics", "path": "/metrics", "interval": "30s"}],
        },
    }


def _rules() -> dict[str, Any]:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "jobgate", "namespace": NAMESPACE, "labels": LABELS},
        "spec": {"groups": [{"name": "jobgate", "rules": rules()}]},
    }


def _dashboard() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "jobgate-dashboard",
            "namespace": NAMESPACE,
            "labels": {**LABELS, "grafana_dashboard": "1"},
        },
        "data": {_FILE: File(_FILE, dashboard())},
    }

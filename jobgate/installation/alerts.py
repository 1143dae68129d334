"""The alerts: each with the question that it asks of Prometheus, and what to do about it."""

from __future__ import annotations

from typing import Any, NamedTuple

#: What the API server calls our webhooks: the names of entries end so.
_OURS = 'name=~".*\\\\.jobgate\\\\.dev"'
_DAY = 86400


class Alert(NamedTuple):
    """One alert.

    Attributes:
        name: what it is called.
        expression: PromQL that gives something where it holds.
        lasts: how long it must hold.
        severity: `critical` needs action at once, `warning` within a working day.
        summary: what is wrong, and what to look at.
    """

    name: str
    expression: str
    lasts: str
    severity: str
    summary: str


_EXPIRES = "jobgate_certificate_not_after_timestamp_seconds"
_BEGAN = "jobgate_certificate_not_before_timestamp_seconds"
_LATENCY = "controller_runtime_webhook_latency_seconds_bucket"

ALERTS = (
    Alert(
        "JobgateCertificateExpiresSoon",
        f"0 < {_EXPIRES} - time() < {14 * _DAY}",
        "1h",
        "warning",
        "A server's certificate or its CA expires in less than 14 days. Run `jobgate certs status`.",
    ),
    Alert(
        "JobgateCertificateExpires",
        f"{_EXPIRES} - time() < {3 * _DAY}",
        "5m",
        "critical",
        "A server has no certificate, or it or its CA expires in less than 3 days. Run `jobgate certs rotate`.",
    ),
    Alert(
        # Renewed at two thirds of its life; a sixth more is the time of many tries.
        "JobgateRotationLate",
        f"time() - {_BEGAN} > 5 / 6 * ({_EXPIRES} - {_BEGAN}) > 0",
        "1h",
        "warning",
        "The certificate renewal is overdue by days. See the log of the rotation and `jobgate certs status`.",
    ),
    Alert(
        "JobgateCertificatesDiffer",
        "max(jobgate_certificate_generation) != min(jobgate_certificate_generation)",
        "15m",
        "warning",
        "Servers serve certificates of different generations: one does not load the new certificate.",
    ),
    Alert(
        "JobgateCertificateRefused",
        "increase(certwatcher_read_certificate_errors_total[15m]) > 0",
        "0m",
        "warning",
        "A server rejected a new certificate and serves the last good one. See its log for the reason.",
    ),
    Alert(
        "JobgateCertificateNotTrusted",
        'sum(increase(jobgate_tls_handshake_errors_total{reason="rejected"}[5m])) > 0',
        "2m",
        "critical",
        "Clients do not trust the served certificate: the caBundle of a webhook configuration lacks its CA.",
    ),
    Alert(
        "JobgateWebhookNotReached",
        f"sum by (name) (increase(apiserver_admission_webhook_rejection_count"
        f'{{{_OURS}, error_type="calling_webhook_error"}}[5m])) > 0',
        "2m",
        "critical",
        "The API server cannot call {{ $labels.name }}: jobs and their pods are denied.",
    ),
    Alert(
        "JobgateWebhookPassedOver",
        f"sum by (name) (increase(apiserver_admission_webhook_fail_open_count{{{_OURS}}}[5m])) > 0",
        "0m",
        "critical",
        "{{ $labels.name }} is unavailable, and its failurePolicy allows jobs without a review.",
    ),
    Alert(
        "JobgateSlow",
        f"histogram_quantile(0.99, sum by (le) (rate({_LATENCY}[5m]))) > 1",
        "5m",
        "warning",
        "1% of reviews take more than 1s; the timeout of API servers is 5s.",
    ),
    Alert(
        "JobgateFails",
        "increase(controller_runtime_webhook_panics_total[15m]) > 0",
        "0m",
        "warning",
        "A review failed with an internal error. See the server's log for the error and the request uid.",
    ),
    Alert(
        "JobgateShedsLoad",
        "sum(increase(jobgate_shed_requests_total[5m])) > 0",
        "5m",
        "warning",
        "Servers reject requests because they are overloaded. Add replicas.",
    ),
    Alert(
        "JobgateServersMissing",
        'sum(kube_deployment_status_replicas_ready{deployment="jobgate-webhook"}) < 2',
        "10m",
        "warning",
        "Fewer than two servers are ready: the next failure stops the admission of jobs.",
    ),
    Alert(
        "JobgateConversionFails",
        "sum by (crd_name) (increase("
        'apiserver_crd_conversion_webhook_duration_seconds_count{succeeded="false"}[5m])) > 0',
        "2m",
        "critical",
        "Objects of {{ $labels.crd_name }} cannot be converted: they cannot be listed or watched either.",
    ),
)


def rules() -> list[dict[str, Any]]:
    """Return the alerts as rules of Prometheus."""
    return [
        {
            "alert": alert.name,
            "expr": alert.expression,
            "for": alert.lasts,
            "labels": {"severity": alert.severity},
            "annotations": {"summary": alert.summary},
        }
        for alert in ALERTS
    ]

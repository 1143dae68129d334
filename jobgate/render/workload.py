"""Namespace, account, Service and Deployment of the server."""

from __future__ import annotations

from typing import Any

from jobgate.render.hardening import container_security, pod_security, probes, spread
from jobgate.render.installation import LABELS, Installation

SELECTOR = {"app.kubernetes.io/name": "jobgate", "app.kubernetes.io/component": "webhook"}
ACCOUNT = "jobgate-webhook"
_CERTIFICATES = "/etc/jobgate/tls"


def namespace(installation: Installation) -> dict[str, Any]:
    """Return the Namespace, held to the restricted Pod Security profile."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": installation.namespace, "labels": {**LABELS, **levels}},
    }


def account(installation: Installation) -> dict[str, Any]:
    """Return the ServiceAccount. Its token is given to nobody but the server's pods, and only where rules need it."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": installation.namespace, "labels": dict(LABELS)},
        "automountServiceAccountToken": False,
    }


def service(installation: Installation) -> dict[str, Any]:
    """Return the Service that the webhook configurations name."""
    spec: dict[str, Any]
    if installation.external_name:
        port = {"name": "webhook", "port": installation.service_port, "protocol": "TCP"}
        spec = {"type": "ExternalName", "externalName": installation.external_name, "ports": [port]}
    else:
        port = {"name": "webhook", "port": installation.service_port, "targetPort": "webhook", "protocol": "TCP"}
        spec = {"selector": dict(SELECTOR), "ports": [port]}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": installation.service, "namespace": installation.namespace, "labels": dict(LABELS)},
        "spec": spec,
    }


def deployment(installation: Installation, *, token: bool = False) -> dict[str, Any]:
    """Return the Deployment of the server: replicas on nodes of their own, replaced one more first.

    Args:
        installation: where and how.
        token: whether the server has credentials for the API server.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "jobgate-webhook", "namespace": installation.namespace, "labels": {**LABELS, **SELECTOR}},
        "spec": {
            "replicas": installation.replicas,
            "selector": {"matchLabels": dict(SELECTOR)},
            # With fewer than all replicas up, calls fail: a new one is ready before an old one goes.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {"metadata": {"labels": {**LABELS, **SELECTOR}}, "spec": _pod(installation, token=token)},
        },
    }


def _pod(installation: Installation, *, token: bool) -> dict[str, Any]:
    return {
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": token,
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 45,
        "securityContext": pod_security(),
        "topologySpreadConstraints": spread(SELECTOR),
        "containers": [_container(installation)],
        "volumes": [{"name": "tls", "secret": {"secretName": installation.secret, "defaultMode": 0o440}}],
    }


def _container(installation: Installation) -> dict[str, Any]:
    return {
        "name": "webhook",
        "image": installation.image,
        "args": [
            "serve",
            f"--port={installation.target_port}",
            f"--health-port={installation.health_port}",
            f"--tls-cert={_CERTIFICATES}/tls.crt",
            f"--tls-key={_CERTIFICATES}/tls.key",
            "--drain-seconds=15",
            *installation.told,
        ],
        "ports": [
            {"name": "webhook", "containerPort": installation.target_port, "protocol": "TCP"},
            {"name": "health", "containerPort": installation.health_port, "protocol": "TCP"},
        ],
        **probes(),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": container_security(),
        "volumeMounts": [{"name": "tls", "mountPath": _CERTIFICATES, "readOnly": True}],
    }

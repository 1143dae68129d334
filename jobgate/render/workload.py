"""Namespace, Service and Deployment of the server, and the settings of kinds that are mounted into it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.kinds.common.runner import runner_of
from jobgate.plugins import offered
from jobgate.render.choices import NAMESPACE, RUNS, plugin_on
from jobgate.render.hardening import (
    MIN_READY,
    SURGE_FIRST,
    component,
    container_security,
    disruption_budget,
    pod_security,
    priority,
    probes,
    spread,
)
from jobgate.render.installation import LABELS
from jobgate.render.tree import AllOf, Each, Equal, Given, Has, Item, Not, When, joined
from webhook import Kind
from webhook.context import DOMAIN

ACCOUNT = "jobgate-webhook"
SELECTOR = component("webhook")

_SETTINGS = "jobgate-kind-settings"
_SETTINGS_FOLDER = "/etc/jobgate/kinds"
_HAS_SETTINGS = Given("kind_settings")

#: All that know the names of Services are told their domain.
DOMAIN_TOLD = When(Not(Equal(Given("cluster_domain"), DOMAIN)), joined("--cluster-domain=", Given("cluster_domain")))
#: And all that have to do with pods, the system that queues them.
QUEUEING_TOLD = When(Given("queueing"), joined("--queueing=", Given("queueing")))
#: What the server and the controller are both told: both must wire pods alike.
_TOLD: list[Any] = [DOMAIN_TOLD, QUEUEING_TOLD]


def told(kinds: Iterable[Kind]) -> list[Any]:
    """Return what the server and the controller are both told."""
    names = dict.fromkeys(kind.qualified_plural for kind in kinds)
    return [
        *_TOLD,
        *(When(Not(plugin_on(name)), f"--without-plugin={name}") for name in offered()),
        *(When(Not(Given("kinds", name)), f"--without-kind={name}") for name in names),
    ]


def namespace() -> When:
    """Return the Namespace, held to the restricted Pod Security profile."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": {**LABELS, **levels}}}
    return When(Given("create_namespace"), made)


def service() -> dict[str, Any]:
    """Return the Service that the webhook configurations name."""
    outside = Given("external_name")
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": Given("service"), "namespace": NAMESPACE, "labels": LABELS},
        "spec": {
            "type": When(outside, "ExternalName"),
            "externalName": When(outside, outside),
            "selector": When(RUNS, SELECTOR),
            "ports": [
                {
                    "name": "webhook",
                    "port": Given("service_port"),
                    "targetPort": When(RUNS, "webhook"),
                    "protocol": "TCP",
                }
            ],
        },
    }


def server(kinds: Iterable[Kind]) -> When:
    """Return what runs the server: settings, Deployment, budget. Replicas are on nodes of their own."""
    return When(RUNS, [When(_HAS_SETTINGS, _settings()), _deployment(kinds), disruption_budget(ACCOUNT, SELECTOR)])


def _settings() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _SETTINGS, "namespace": NAMESPACE, "labels": LABELS},
        "data": Each(_HAS_SETTINGS, {joined(Item(key=True), ".yaml"): Item()}),
    }


def _deployment(kinds: Iterable[Kind]) -> dict[str, Any]:
    labels = {**LABELS, **SELECTOR}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": ACCOUNT, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": Given("replicas"),
            "minReadySeconds": MIN_READY,
            "selector": {"matchLabels": SELECTOR},
            "strategy": SURGE_FIRST,
            "template": {"metadata": {"labels": labels}, "spec": _pod(kinds)},
        },
    }


def _pod(kinds: Iterable[Kind]) -> dict[str, Any]:
    return {
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": True,
        "priorityClassName": priority(),
        # Longer than the drain, and the slowest answer after it: 15 + 30 seconds.
        "terminationGracePeriodSeconds": 60,
        "securityContext": pod_security(),
        "topologySpreadConstraints": spread(SELECTOR, required=True),
        "containers": [_container(kinds)],
        "volumes": When(_HAS_SETTINGS, [{"name": "kind-settings", "configMap": {"name": _SETTINGS}}]),
    }


def _queued(kinds: Iterable[Kind]) -> list[When]:
    """Return what says to the server of each kind that the runner has queues for its jobs."""
    return [
        When(AllOf((Given("queues"), Has(Given("run"), kind.qualified_plural))), f"--operator-can={kind.plural}/queue")
        for kind in kinds
        if runner_of(kind) is not None
    ]


def _container(kinds: Iterable[Kind]) -> dict[str, Any]:
    # A folder and no single files: those would never be refreshed.
    mounts = [{"name": "kind-settings", "mountPath": _SETTINGS_FOLDER, "readOnly": True}]
    return {
        "name": "webhook",
        "image": Given("image"),
        "args": [
            "serve",
            joined("--port=", Given("target_port")),
            joined("--health-port=", Given("health_port")),
            # Read through the API: a mounted one is refreshed minutes late, and at different times on each node.
            joined("--tls-secret=", NAMESPACE, "/", Given("secret")),
            joined("--tls-name=", Given("service"), ".", NAMESPACE, ".svc"),
            "--drain-seconds=15",
            *told(kinds),
            When(Equal(Given("mode"), "warn"), "--mode=warn"),
            Each(Given("run"), joined("--run=", Item())),
            Each(Given("operator_can"), joined("--operator-can=", Item())),
            *_queued(kinds),
            Each(Given("forgetful_writers"), joined("--forgetful-writer=", Item())),
            Each(
                _HAS_SETTINGS,
                joined("--kind-settings=", Item(key=True), f"={_SETTINGS_FOLDER}/", Item(key=True), ".yaml"),
            ),
        ],
        "ports": [
            {"name": "webhook", "containerPort": Given("target_port"), "protocol": "TCP"},
            {"name": "health", "containerPort": Given("health_port"), "protocol": "TCP"},
        ],
        **probes(),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": container_security(),
        "volumeMounts": When(_HAS_SETTINGS, mounts),
    }

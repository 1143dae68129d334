"""Namespace, Service and Deployment of the server, and the settings of kinds that are mounted into it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.installation.choices import NAMESPACE, RUNS, namespaced, plugin_on
from jobgate.installation.installation import LABELS
from jobgate.installation.pods import SURGE_FIRST, component, container, deployment, disruption_budget, pod, spread
from jobgate.installation.tree import Each, Given, Item, When, all_of, equal, has, joined, negated
from jobgate.kinds.common.runner import runner_of
from jobgate.plugins import offered
from webhook import Kind
from webhook.context import DOMAIN

ACCOUNT = "jobgate-webhook"
SELECTOR = component("webhook")

_SETTINGS = "jobgate-kind-settings"
_SETTINGS_FOLDER = "/etc/jobgate/kinds"
_HAS_SETTINGS = Given("kind_settings")

#: For every component that knows the names of Services.
DOMAIN_FLAG = When(
    negated(equal(Given("cluster_domain"), DOMAIN)), joined("--cluster-domain=", Given("cluster_domain"))
)
#: For every component that has to do with pods.
QUEUEING_FLAG = When(Given("queueing"), joined("--queueing=", Given("queueing")))
#: Settings of the server and the controller: both must wire pods alike.
_SHARED_FLAGS: list[Any] = [DOMAIN_FLAG, QUEUEING_FLAG]


def pod_settings(kinds: Iterable[Kind]) -> list[Any]:
    """Return the settings that the server and the controller share."""
    names = dict.fromkeys(kind.qualified_plural for kind in kinds)
    return [
        *_SHARED_FLAGS,
        *(When(negated(plugin_on(name)), f"--without-plugin={name}") for name in offered()),
        *(When(negated(Given("kinds", name)), f"--without-kind={name}") for name in names),
    ]


def namespace() -> When:
    """Return the Namespace, held to the restricted Pod Security profile."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": {**LABELS, **levels}}}
    return When(Given("create_namespace"), made)


def service() -> dict[str, Any]:
    """Return the Service that the webhook configurations name."""
    outside = Given("external_name")
    port = {
        "name": "webhook",
        "port": Given("service_port"),
        "targetPort": When(RUNS, "webhook"),
        "protocol": "TCP",
    }
    spec = {
        "type": When(outside, "ExternalName"),
        "externalName": When(outside, outside),
        "selector": When(RUNS, SELECTOR),
        "ports": [port],
    }
    return namespaced("v1", "Service", Given("service"), {"spec": spec})


def server(kinds: Iterable[Kind]) -> When:
    """Return what runs the server: settings, Deployment, budget. Replicas are on nodes of their own."""
    return When(RUNS, [When(_HAS_SETTINGS, _settings()), _deployment(kinds), disruption_budget(ACCOUNT, SELECTOR)])


def _settings() -> dict[str, Any]:
    data = Each(_HAS_SETTINGS, {joined(Item(key=True), ".yaml"): Item()})
    return namespaced("v1", "ConfigMap", _SETTINGS, {"data": data})


def _deployment(kinds: Iterable[Kind]) -> dict[str, Any]:
    made = pod(
        ACCOUNT,
        _container(kinds),
        # Longer than the drain, and the slowest answer after it: 15 + 30 seconds.
        grace=60,
        critical=True,
        topologySpreadConstraints=spread(SELECTOR, required=True),
        volumes=When(_HAS_SETTINGS, [{"name": "kind-settings", "configMap": {"name": _SETTINGS}}]),
    )
    return deployment(ACCOUNT, SELECTOR, made, Given("replicas"), strategy=SURGE_FIRST)


def _queued(kinds: Iterable[Kind]) -> list[When]:
    """Return what says to the server of each kind that the runner has queues for its jobs."""
    return [
        When(all_of(Given("queues"), has(Given("run"), kind.qualified_plural)), f"--operator-can={kind.plural}/queue")
        for kind in kinds
        if runner_of(kind) is not None
    ]


def _container(kinds: Iterable[Kind]) -> dict[str, Any]:
    # A folder and no single files: those would never be refreshed.
    mounts = [{"name": "kind-settings", "mountPath": _SETTINGS_FOLDER, "readOnly": True}]
    args = [
        "serve",
        joined("--port=", Given("target_port")),
        joined("--health-port=", Given("health_port")),
        # Read through the API: a mounted one is refreshed minutes late, and at different times on each node.
        joined("--tls-secret=", NAMESPACE, "/", Given("secret")),
        joined("--tls-name=", Given("service"), ".", NAMESPACE, ".svc"),
        "--drain-seconds=15",
        *pod_settings(kinds),
        When(equal(Given("mode"), "warn"), "--mode=warn"),
        Each(Given("run"), joined("--run=", Item())),
        Each(Given("operator_can"), joined("--operator-can=", Item())),
        *_queued(kinds),
        Each(Given("forgetful_writers"), joined("--forgetful-writer=", Item())),
        Each(
            _HAS_SETTINGS,
            joined("--kind-settings=", Item(key=True), f"={_SETTINGS_FOLDER}/", Item(key=True), ".yaml"),
        ),
    ]
    port = {"name": "webhook", "containerPort": Given("target_port"), "protocol": "TCP"}
    return container("webhook", args, "100m", "512Mi", ports=[port], volumeMounts=When(_HAS_SETTINGS, mounts))

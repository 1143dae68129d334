"""Namespace, Service and Deployment of the server, and the settings of kinds that are mounted into it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from crdgen import to_yaml
from jobgate.configured.catalogue import named_in_catalogue
from jobgate.configured.entry import LIKE
from jobgate.configured.kind import ConfiguredKind
from jobgate.installation.choices import INSTALLED, NAMESPACE, RUNS, denies, kind_on, namespaced, plugin_on
from jobgate.installation.pods import SURGE_FIRST, component, container, deployment, disruption_budget, pod, spread
from jobgate.installation.tree import (
    ITEM,
    KEY,
    ForEach,
    If,
    all_of,
    either,
    entry,
    equal,
    filled,
    has,
    joined,
    negated,
    setting,
)
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.runner import runner_of
from jobgate.limits import KEPT, LIMITS, server_memory
from jobgate.names import DOMAIN
from jobgate.plugins import offered

ACCOUNT = "jobgate-webhook"
SELECTOR = component("webhook")

_SETTINGS = "jobgate-kind-settings"
_SETTINGS_FOLDER = "/etc/jobgate/kinds"
_ENTRIES_FOLDER = "/etc/jobgate/configured"
#: Volume with the descriptions of configured kinds.
KINDS_VOLUME = "kinds"
_HAS_SETTINGS = setting("kind_settings")
_LIMITS = {name: entry("limits", name, default) for name, default in LIMITS.items()}
_KEPT = either(negated(setting("keep_reviews")), 0, KEPT)
_MEMORY = joined(server_memory(_KEPT, *_LIMITS.values()), "Mi")

#: Flag of every component that uses names of Services.
DOMAIN_FLAG = If(
    negated(equal(setting("cluster_domain"), DOMAIN)), joined("--cluster-domain=", setting("cluster_domain"))
)
#: Flag of every component that uses pods.
QUEUEING_FLAG = If(setting("queueing"), joined("--queueing=", setting("queueing")))


def pod_settings(kinds: Iterable[CustomKind]) -> list[Any]:
    """Return the flags that the server and the controller share, because they must wire pods alike."""
    kinds = tuple(kinds)
    names = dict.fromkeys(kind.qualified_plural for kind in kinds if kind.resource)
    return [
        DOMAIN_FLAG,
        QUEUEING_FLAG,
        *(If(negated(plugin_on(name)), f"--without-plugin={name}") for name in offered()),
        *(If(negated(setting("kinds", name)), f"--without-kind={name}") for name in names),
        *(If(kind_on(kind), f"--kinds={_source(kind)}") for kind in kinds if not kind.resource),
    ]


def _is_catalogued(kind: ConfiguredKind) -> bool:
    """Return whether the server has the description of a kind in its own catalogue."""
    return kind.entry in named_in_catalogue(kind.qualified_plural)


def _source(kind: CustomKind) -> str:
    name = kind.qualified_plural
    return name if isinstance(kind, ConfiguredKind) and _is_catalogued(kind) else f"{_ENTRIES_FOLDER}/{name}.yaml"


def entries(kinds: Iterable[CustomKind]) -> dict[str, str]:
    """Return the files of the configured kinds that are not in the catalogue, by name."""
    written = [kind for kind in kinds if isinstance(kind, ConfiguredKind) and not _is_catalogued(kind)]
    options: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_defaults": True, "exclude": LIKE}
    return {f"{kind.qualified_plural}.yaml": to_yaml(kind.entry.model_dump(**options)) for kind in written}


def entries_map(kinds: Iterable[CustomKind]) -> list[dict[str, Any]]:
    """Return the ConfigMap with the files of configured kinds, if there are some."""
    files = entries(kinds)
    return [namespaced("v1", "ConfigMap", _entries_name(files), {"data": files})] if files else []


def _entries_name(files: Mapping[str, str]) -> str:
    """Return the name of the ConfigMap, which changes with its content, so that pods are replaced."""
    return f"jobgate-kinds-{hashlib.sha256(repr(files).encode()).hexdigest()[:8]}"


def entries_mounted(kinds: Iterable[CustomKind]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the mounts and the volumes for the files of configured kinds."""
    files = entries(kinds)
    mount = {"name": KINDS_VOLUME, "mountPath": _ENTRIES_FOLDER, "readOnly": True}
    return ([mount], [{"name": KINDS_VOLUME, "configMap": {"name": _entries_name(files)}}]) if files else ([], [])


def namespace() -> If:
    """Return the Namespace, which enforces the restricted Pod Security level."""
    levels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    manifest = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": {**INSTALLED, **levels}},
    }
    return If(setting("create_namespace"), manifest)


def service() -> dict[str, Any]:
    """Return the Service that webhooks call."""
    outside = setting("external_name")
    port = {"name": "webhook", "port": setting("service_port"), "targetPort": If(RUNS, "webhook"), "protocol": "TCP"}
    spec = {
        "type": If(outside, "ExternalName"),
        "externalName": If(outside, outside),
        "selector": If(RUNS, SELECTOR),
        "ports": [port],
    }
    return namespaced("v1", "Service", setting("service"), {"spec": spec})


def server(kinds: Iterable[CustomKind]) -> If:
    """Return the settings of kinds, the Deployment and the disruption budget of the server."""
    settings = namespaced("v1", "ConfigMap", _SETTINGS, {"data": ForEach(_HAS_SETTINGS, {joined(KEY, ".yaml"): ITEM})})
    return If(
        RUNS,
        [If(_HAS_SETTINGS, settings), *entries_map(kinds), _deployment(kinds), disruption_budget(ACCOUNT, SELECTOR)],
    )


def _some(always: list[dict[str, Any]], if_settings: list[dict[str, Any]]) -> Any:
    """Return parts that are always there, and some only if kinds have settings."""
    return [*always, *(If(_HAS_SETTINGS, part) for part in if_settings)] if always else If(_HAS_SETTINGS, if_settings)


def _deployment(kinds: Iterable[CustomKind]) -> dict[str, Any]:
    _, volumes = entries_mounted(kinds)
    template = pod(
        ACCOUNT,
        _container(kinds),
        # Longer than the drain, and the slowest answer after it: 15 + 30 seconds.
        grace=60,
        critical=True,
        topologySpreadConstraints=spread(SELECTOR, required=True),
        volumes=_some(volumes, [{"name": "kind-settings", "configMap": {"name": _SETTINGS}}]),
    )
    return deployment(ACCOUNT, SELECTOR, template, setting("replicas"), strategy=SURGE_FIRST)


def _queued(kinds: Iterable[CustomKind]) -> list[If]:
    """Return the flags for kinds with jobs that the runner queues."""
    return [
        If(all_of(setting("queues"), has(setting("run"), kind.qualified_plural)), f"--operator-can={kind.plural}/queue")
        for kind in kinds
        if runner_of(kind) is not None
    ]


def _container(kinds: Iterable[CustomKind]) -> dict[str, Any]:
    # A folder, because single files are never refreshed.
    mounts = [{"name": "kind-settings", "mountPath": _SETTINGS_FOLDER, "readOnly": True}]
    args = [
        "serve",
        joined("--port=", setting("target_port")),
        joined("--health-port=", setting("health_port")),
        # Read from the API: a mounted Secret is refreshed minutes late, at different times on each node.
        joined("--tls-secret=", NAMESPACE, "/", setting("secret")),
        joined("--tls-name=", setting("service"), ".", NAMESPACE, ".svc"),
        "--drain-seconds=15",
        *pod_settings(kinds),
        *(If(denies(kind), f"--deny={kind.qualified_plural}") for kind in kinds if not kind.resource),
        If(equal(setting("mode"), "warn"), "--mode=warn"),
        joined("--job-pods=", setting("job_pods")),
        *(
            If(negated(equal(limit, limit.default)), joined(f"--limit={name}=", limit))
            for name, limit in _LIMITS.items()
        ),
        If(setting("keep_reviews"), joined("--keep-reviews=", setting("keep_reviews"))),
        ForEach(setting("run"), joined("--run=", ITEM)),
        ForEach(setting("operator_can"), joined("--operator-can=", ITEM)),
        *_queued(kinds),
        ForEach(setting("forgetful_writers"), joined("--forgetful-writer=", ITEM)),
        ForEach(_HAS_SETTINGS, joined("--kind-settings=", KEY, f"={_SETTINGS_FOLDER}/", KEY, ".yaml")),
    ]
    port = {"name": "webhook", "containerPort": setting("target_port"), "protocol": "TCP"}
    return container(
        "webhook",
        args,
        ports=[port],
        volumeMounts=_some(entries_mounted(kinds)[0], mounts),
        resources=filled(entry("resources", "webhook", {}), "limits", "memory", _MEMORY),
    )

"""The companion controller: who it is, what it may do, and the Deployment that runs it.

It may read jobs, and keep ConfigMaps, Services and NetworkPolicies: RBAC cannot say "those with our label", which the
controller sees to by itself. It may write no job, no status, and, unless a namespace is named for it, no Secret. What
no plugin needs that is on, it may not have; where none needs anything, there is no controller.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.kinds.common.wiring import wired
from jobgate.plugins import offered
from jobgate.plugins.queueing import GROUPS
from jobgate.render.choices import NAMESPACE, RUNS, plugin_on, some_on
from jobgate.render.hardening import (
    MIN_READY,
    component,
    container_security,
    disruption_budget,
    pod_security,
    probes,
    spread,
)
from jobgate.render.installation import LABELS
from jobgate.render.rbac import READ, account, bound, rule
from jobgate.render.tree import AllOf, AnyOf, Begins, Each, Given, Item, When, Word, any_of, joined
from jobgate.render.workload import told
from webhook import Kind

ACCOUNT = "jobgate-controller"
#: The Lease that one of the replicas holds; what `jobgate control` calls it by itself.
LEASE = "jobgate-controller"
SELECTOR = component("controller")

#: One works, and another takes over within seconds when its node fails.
REPLICAS = 2

_KEEP = (*READ, "create", "patch", "delete")

#: Of the plugins that are built in, those that need no ConfigMap, Service or NetworkPolicy. One of a package may.
_WITHOUT_MORE_RIGHTS = frozenset({"env", "ssh"})


def controller(kinds: Iterable[Kind]) -> list[Any]:
    """Return all that the controller needs. Where the server runs outside the cluster, so does the controller."""
    kinds = wired(kinds)
    if not kinds:
        return []
    return [
        When(
            AllOf((some_on(kinds), _needed())),
            [
                account(ACCOUNT),
                *bound(ACCOUNT, _rules(kinds)),
                *bound(ACCOUNT, _LEASE_RULES, NAMESPACE),
                When(plugin_on("ssh"), Each(Given("secrets_in"), _secrets())),
                When(RUNS, [_deployment(kinds), disruption_budget(ACCOUNT, SELECTOR)]),
            ],
        )
    ]


def _keeping() -> Word:
    """Return whether a plugin is on that needs more than Secrets."""
    return any_of(plugin_on(name) for name in offered() if name not in _WITHOUT_MORE_RIGHTS)


def _needed() -> Word:
    return AnyOf((_keeping(), plugin_on("ssh"), Given("queueing")))


def _rules(kinds: Iterable[Kind]) -> list[Any]:
    jobs: dict[tuple[str, str], list[Kind]] = {}
    for kind in kinds:
        jobs.setdefault((kind.group, kind.plural), []).append(kind)
    return [
        *(When(some_on(jobs[job]), rule(*job, verbs=READ)) for job in sorted(jobs)),
        When(
            _keeping(),
            [
                rule("", "configmaps", "services", verbs=_KEEP),
                rule("networking.k8s.io", "networkpolicies", verbs=_KEEP),
            ],
        ),
        rule("", "events", verbs=("create", "patch")),
        # The groups of pods of the system that queues them.
        *(
            When(Begins(Given("queueing"), system), rule(api_version.rpartition("/")[0], plural, verbs=_KEEP))
            for system, (api_version, plural) in GROUPS.items()
        ),
    ]


#: No name can be given for what is created.
_LEASE_RULES = [
    rule("coordination.k8s.io", "leases", verbs=("create",)),
    rule("coordination.k8s.io", "leases", verbs=("get", "patch"), names=(LEASE,)),
]


def _secrets() -> list[Any]:
    """Return the right to make Secrets in a namespace. They cannot be listed, changed or deleted by it."""
    return bound(ACCOUNT, [rule("", "secrets", verbs=("get", "create"))], Item(), name=f"{ACCOUNT}-secrets")


def _deployment(kinds: Iterable[Kind]) -> dict[str, Any]:
    labels = {**LABELS, **SELECTOR}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": ACCOUNT, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": REPLICAS,
            "minReadySeconds": MIN_READY,
            "selector": {"matchLabels": SELECTOR},
            "template": {"metadata": {"labels": labels}, "spec": _pod(kinds)},
        },
    }


def _pod(kinds: Iterable[Kind]) -> dict[str, Any]:
    return {
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": True,
        "terminationGracePeriodSeconds": 30,
        "securityContext": pod_security(),
        "topologySpreadConstraints": spread(SELECTOR),
        "containers": [_container(kinds)],
    }


def _container(kinds: Iterable[Kind]) -> dict[str, Any]:
    return {
        "name": "controller",
        "image": Given("image"),
        "args": ["control", joined("--health-port=", Given("health_port")), f"--lease-name={LEASE}", *told(kinds)],
        "ports": [{"name": "health", "containerPort": Given("health_port"), "protocol": "TCP"}],
        **probes(),
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": container_security(),
    }

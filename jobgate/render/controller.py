"""The companion controller: who it is, what it may do, and the Deployment that runs it.

It may read jobs, and keep ConfigMaps, Services and NetworkPolicies: RBAC cannot say "those with our label, of a job",
which an admission policy does. It may write no job, no status but that of prerequisites, and, unless a namespace is
named for it, no Secret. What no plugin needs that is on, it may not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.kinds.common.wiring import wired
from jobgate.names import MANAGED_BY, OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.plugins import BUILT_IN, offered
from jobgate.plugins.queueing import GROUPS
from jobgate.plugins.ssh.plugin import FILES
from jobgate.prerequisites.models import DEFINED, GROUP
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
from jobgate.render.policies import holds, policy, rules
from jobgate.render.rbac import READ, account, bound, rule
from jobgate.render.tree import Begins, Each, Given, Item, When, Word, any_of, joined
from jobgate.render.workload import told
from webhook import Kind

ACCOUNT = "jobgate-controller"
#: The Lease that one of the replicas holds; what `jobgate control` calls it by itself.
LEASE = "jobgate-controller"
SELECTOR = component("controller")

#: One works, and another takes over within seconds when its node fails.
REPLICAS = 2

_ITEMS = tuple(one.names.plural for one in DEFINED)

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
            some_on(kinds),
            [
                account(ACCOUNT),
                *bound(ACCOUNT, _rules(kinds)),
                *bound(ACCOUNT, _LEASE_RULES, NAMESPACE),
                *_policy(kinds),
                When(plugin_on("ssh"), Each(Given("secrets_in"), _secrets())),
                When(RUNS, [_deployment(kinds), disruption_budget(ACCOUNT, SELECTOR)]),
            ],
        )
    ]


def _keeping() -> Word:
    """Return whether a plugin is on that needs more than Secrets."""
    return any_of(plugin_on(name) for name in offered() if name not in _WITHOUT_MORE_RIGHTS)


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
        rule(GROUP, *_ITEMS, verbs=("list", "watch")),
        rule(GROUP, *(f"{one}/status" for one in _ITEMS), verbs=("patch",)),
        # Which namespaces have opted out.
        rule("", "namespaces", verbs=("list", "watch")),
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


def _policy(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """Return the policy by which the controller writes nothing but what is ours and a job's, where jobs are handled.

    It does what the controller does by itself: who takes its token over cannot do more by it.
    """
    operations = ("CREATE", "UPDATE", "DELETE")
    constraints = {
        "resourceRules": [
            rules("", "configmaps", "services", "secrets", operations=operations),
            rules("networking.k8s.io", "networkpolicies", operations=operations),
            *(rules(version.rpartition("/")[0], plural, operations=operations) for version, plural in GROUPS.values()),
        ]
    }
    served = ", ".join(f"'{kind.kind}.{kind.group}'" for kind in kinds)
    system = ", ".join(f"'{name}'" for name in SYSTEM_NAMESPACES)
    variables: dict[str, str | Word] = {
        "served": f"[{served}]",
        # The object before, the object after, or both.
        "objects": "[object, oldObject].filter(one, one != null)",
    }
    mark = "=".join(MANAGED_BY)
    ours = f"variables.objects.all(one, {_labelled('one', *MANAGED_BY)})"
    of_a_job = (
        "variables.objects.all(one, one.metadata.?ownerReferences.orValue([]).exists(owner, "
        "(owner.kind + '.' + owner.apiVersion.split('/')[0]) in variables.served && "
        "(one.metadata.name == owner.name || one.metadata.name.startsWith(owner.name + '-'))))"
    )
    opted_out = _labelled("namespaceObject", OPT_OUT_LABEL, OPT_OUT_VALUE)
    inside = "object.spec.type == 'ClusterIP' && !has(object.spec.externalIPs)"
    selective = "object.spec.podSelector.?matchLabels.orValue({}).size() > 0"
    may = "this account may write"
    validations = [
        holds(joined(f"!(request.namespace in [{system}, '", NAMESPACE, "'])"), f"{may} nothing in system namespaces"),
        holds(f"!({opted_out})", f"{may} nothing in namespaces labelled {OPT_OUT_LABEL}={OPT_OUT_VALUE}"),
        holds(ours, f"{may} only objects labelled {mark}"),
        holds(of_a_job, f"{may} only objects that a job owns and that are named after it, <job> or <job>-…"),
        holds(_of("secrets", _secret()), f"{may} only Secrets of type Opaque, as the plugin ssh needs them"),
        holds(_of("services", inside), f"{may} only Services of type ClusterIP without externalIPs"),
        holds(_of("networkpolicies", selective), f"{may} only NetworkPolicies that select pods by their labels"),
    ]
    return policy(ACCOUNT, constraints, validations, variables)


def _labelled(what: str, key: str, value: str) -> str:
    return f"{what}.metadata.?labels[?'{key}'].orValue('') == '{value}'"


def _of(resource: str, expression: str) -> str:
    """Return what must hold for an object of this resource that is written; of others, and what is deleted, nothing."""
    return f"request.resource.resource != '{resource}' || object == null || ({expression})"


def _secret() -> str:
    """Return what must hold for a Secret. What those of a package's plugin are called, and hold, is not known here."""
    opaque = "object.type == 'Opaque'"
    if not set(offered()) <= {plugin.name for plugin in BUILT_IN}:
        return opaque
    files = ", ".join(f"'{file}'" for file in FILES)
    return f"{opaque} && object.metadata.name.endsWith('-ssh') && object.?data.orValue({{}}).all(key, key in [{files}])"


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

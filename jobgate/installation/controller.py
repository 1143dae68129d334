"""The companion controller: who it is, what it may do, and the Deployment that runs it.

It may read jobs, and keep ConfigMaps, Services and NetworkPolicies: RBAC cannot say "those with our label, of a job",
which an admission policy does. It may write no job, no status but that of prerequisites, and, unless a namespace is
named for it, no Secret. What no plugin needs that is on, it may not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobgate.installation.choices import NAMESPACE, RUNS, plugin_on, some_on
from jobgate.installation.pods import component, container, deployment, disruption_budget, pod, spread
from jobgate.installation.policies import OBJECTS, holds, labelled, of, policy, rules, within_bounds
from jobgate.installation.rbac import READ, account, bound, lease, rule
from jobgate.installation.tree import Each, Given, Item, When, Word, all_of, any_of, begins, joined
from jobgate.installation.workload import pod_settings
from jobgate.kinds.common.wiring import members_of, wired
from jobgate.names import MANAGED_BY
from jobgate.plugins import BUILT_IN, offered
from jobgate.plugins.queueing import GROUPS
from jobgate.plugins.ssh.plugin import FILES
from jobgate.prerequisites.models import DEFINED, GROUP
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
WITHOUT_MORE_RIGHTS = frozenset({"env", "ssh"})


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
                *bound(ACCOUNT, lease(LEASE), NAMESPACE),
                *_policy(kinds),
                When(plugin_on("ssh"), Each(Given("secrets_in"), _secrets())),
                When(RUNS, [_deployment(kinds), disruption_budget(ACCOUNT, SELECTOR)]),
            ],
        )
    ]


def _keeping() -> Word:
    """Return whether a plugin is on that needs more than Secrets."""
    return any_of(plugin_on(name) for name in offered() if name not in WITHOUT_MORE_RIGHTS)


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
        # Which pods are there, of operators that delete any on a scale-down: the lists of svc name these.
        When(all_of(some_on(_deleting_any(kinds)), plugin_on("svc")), rule("", "pods", verbs=("list", "watch"))),
        rule("", "events", verbs=("create", "patch")),
        rule(GROUP, *_ITEMS, verbs=("list", "watch")),
        rule(GROUP, *(f"{one}/status" for one in _ITEMS), verbs=("patch",)),
        # Which namespaces have opted out.
        rule("", "namespaces", verbs=("list", "watch")),
        # The groups of pods of the system that queues them.
        *(
            When(begins(Given("queueing"), system), rule(api_version.rpartition("/")[0], plural, verbs=_KEEP))
            for system, (api_version, plural) in GROUPS.items()
        ),
    ]


def _deleting_any(kinds: Iterable[Kind]) -> list[Kind]:
    return [kind for kind in kinds if (members := members_of(kind)) and members.deletes_any]


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
    mark = "=".join(MANAGED_BY)
    ours = f"variables.objects.all(one, {labelled('one', *MANAGED_BY)})"
    of_a_job = (
        "variables.objects.all(one, one.metadata.?ownerReferences.orValue([]).exists(owner, "
        "(owner.kind + '.' + owner.apiVersion.split('/')[0]) in variables.served && "
        "(one.metadata.name == owner.name || one.metadata.name.startsWith(owner.name + '-'))))"
    )
    selective = "object.spec.podSelector.?matchLabels.orValue({}).size() > 0"
    may = "this account may write"
    validations = within_bounds(
        may,
        holds(ours, f"{may} only objects labelled {mark}"),
        holds(of_a_job, f"{may} only objects that a job owns and that are named after it, <job> or <job>-…"),
        holds(of("secrets", _secret()), f"{may} only Secrets of type Opaque, as the plugin ssh needs them"),
    )
    policies = f"{may} only NetworkPolicies that select pods by their labels"
    validations.append(holds(of("networkpolicies", selective), policies))
    return policy(ACCOUNT, constraints, validations, {"served": f"[{served}]", "objects": OBJECTS})


def _secret() -> str:
    """Return what must hold for a Secret. What those of a package's plugin are called, and hold, is not known here."""
    opaque = "object.type == 'Opaque'"
    if not set(offered()) <= {plugin.name for plugin in BUILT_IN}:
        return opaque
    files = ", ".join(f"'{file}'" for file in FILES)
    return f"{opaque} && object.metadata.name.endsWith('-ssh') && object.?data.orValue({{}}).all(key, key in [{files}])"


def _deployment(kinds: Iterable[Kind]) -> dict[str, Any]:
    args = ["control", joined("--health-port=", Given("health_port")), f"--lease-name={LEASE}", *pod_settings(kinds)]
    controls = container("controller", args, "50m", "512Mi")
    return deployment(ACCOUNT, SELECTOR, pod(ACCOUNT, controls, topologySpreadConstraints=spread(SELECTOR)), REPLICAS)

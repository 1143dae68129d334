"""The companion controller: its account, permissions and Deployment.

It may read jobs, and manage the objects that enabled plugins create, such as Services. RBAC cannot
limit these to objects of jobs, so an admission policy does. It may not write jobs, statuses except those of
prerequisites, or Secrets, except in the namespaces of the setting `secretsIn`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from jobgate.installation.choices import (
    NAMESPACE,
    RUNS,
    SERVED_FLAG,
    kind_on,
    may_be_wired,
    named,
    plugin_on,
    some_on,
    wires,
)
from jobgate.installation.pods import component, container, deployment, disruption_budget, pod, spread
from jobgate.installation.policies import OBJECTS, for_resource, has_label, policy, rules, validation, within_bounds
from jobgate.installation.rbac import MANAGE, READ, account, bound, lease, rule
from jobgate.installation.tree import ITEM, Expression, ForEach, If, all_of, any_of, begins, either, joined, setting
from jobgate.installation.workload import entries_mounted, pod_settings
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.wiring import members_of
from jobgate.ownership import MANAGED_BY
from jobgate.plugins import SECRET, ObjectType, installed
from jobgate.plugins.queueing import GROUPS
from jobgate.plugins.ssh.plugin import FILES, Ssh
from jobgate.prerequisites.models import DEFINED
from jobgate.prerequisites.reference import GROUP

ACCOUNT = "jobgate-controller"
#: The Lease of the controller; the default of `jobgate control`.
LEASE = "jobgate-controller"
SELECTOR = component("controller")
_SECRETS = f"{ACCOUNT}-secrets"

#: One replica is active; the other takes over within seconds if its node fails.
REPLICAS = 2

_ITEMS = tuple(resource.names.plural for resource in DEFINED)


def controller(kinds: Iterable[CustomKind]) -> list[Any]:
    """Return the objects of the controller. It runs outside the cluster if the server does."""
    mounted = entries_mounted(kinds := tuple(kinds))
    kinds = may_be_wired(kinds)
    if not kinds:
        return []
    secrets = [rule("", "secrets", verbs=("get", "create"))]
    return [
        If(
            any_of(map(wires, kinds)),
            [
                account(ACCOUNT),
                *bound(ACCOUNT, _rules(kinds)),
                *bound(ACCOUNT, lease(named(LEASE)), NAMESPACE),
                *_policy(kinds),
                # To create Secrets in these namespaces, but not to list, change or delete them.
                If(_creating(SECRET), ForEach(setting("secrets_in"), bound(ACCOUNT, secrets, ITEM, name=_SECRETS))),
                If(RUNS, [_deployment(kinds, *mounted), disruption_budget(ACCOUNT, SELECTOR)]),
            ],
        )
    ]


def _creating(*types: ObjectType) -> Expression:
    """Return whether a plugin that creates objects of one of these types is enabled."""
    return any_of(plugin_on(name) for name, plugin in installed().items() if not set(types).isdisjoint(plugin.creates))


def _types() -> list[ObjectType]:
    """Return the types of the objects that plugins create."""
    return list(dict.fromkeys(type_ for plugin in installed().values() for type_ in plugin.creates))


def _by_group(types: Iterable[ObjectType]) -> dict[str, list[str]]:
    """Return the plurals of types by API group."""
    plurals: dict[str, list[str]] = {}
    for type_ in types:
        plurals.setdefault(type_.group, []).append(type_.plural)
    return plurals


def _managing() -> Iterator[Any]:
    """Yield the rights to manage what plugins create, except Secrets."""
    by_plugins: dict[Expression, list[ObjectType]] = {}
    for type_ in _types():
        if type_ != SECRET:
            by_plugins.setdefault(_creating(type_), []).append(type_)
    for condition, types in by_plugins.items():
        yield If(condition, [rule(group, *plurals, verbs=MANAGE) for group, plurals in _by_group(types).items()])


def _rules(kinds: Iterable[CustomKind]) -> list[Any]:
    jobs: dict[tuple[str, str], list[CustomKind]] = {}
    for kind in kinds:
        jobs.setdefault((kind.group, kind.plural), []).append(kind)
    deleting_any = [kind for kind in kinds if (members := members_of(kind)) and members.deletes_any]
    return [
        *(If(any_of(map(wires, jobs[job])), rule(*job, verbs=READ)) for job in sorted(jobs)),
        *_managing(),
        # To name the existing pods, if the operator deletes pods of any index when it scales down.
        If(all_of(some_on(deleting_any), _listing_pods()), rule("", "pods", verbs=("list", "watch"))),
        rule("", "events", verbs=("create",)),
        rule(GROUP, *_ITEMS, verbs=("list", "watch")),
        rule(GROUP, *(f"{plural}/status" for plural in _ITEMS), verbs=("patch",)),
        # To see which namespaces have opted out.
        rule("", "namespaces", verbs=("list", "watch")),
        # PodGroups of the system that queues pods.
        *(
            If(begins(setting("queueing"), system), rule(api_version.rpartition("/")[0], plural, verbs=MANAGE))
            for system, (api_version, plural) in GROUPS.items()
        ),
    ]


def _listing_pods() -> Expression:
    """Return whether a plugin is enabled whose objects depend on which pods exist."""
    return any_of(plugin_on(name) for name, plugin in installed().items() if plugin.lists_pods)


def _policy(kinds: Iterable[CustomKind]) -> list[dict[str, Any]]:
    """Return the policy that lets the controller write only objects that jobs own.

    The controller writes no others anyway; the policy is for the case that its token is stolen.
    """
    operations = ("CREATE", "UPDATE", "DELETE")
    constraints = {
        "resourceRules": [
            *(rules(group, *plurals, operations=operations) for group, plurals in _by_group(_types()).items()),
            *(rules(version.rpartition("/")[0], plural, operations=operations) for version, plural in GROUPS.values()),
        ]
    }
    built_in = ", ".join(f"'{kind.kind}.{kind.group}'" for kind in kinds if kind.resource)
    others = (either(kind_on(kind), f"'{kind.kind}.{kind.group}', ", "") for kind in kinds if not kind.resource)
    served = joined("[", *others, built_in, "]")
    mark = "=".join(MANAGED_BY)
    ours = f"variables.objects.all(one, {has_label('one', *MANAGED_BY)})"
    of_a_job = (
        "variables.objects.all(one, one.metadata.?ownerReferences.orValue([]).exists(owner, "
        "(owner.kind + '.' + owner.apiVersion.split('/')[0]) in variables.served && "
        "(one.metadata.name == owner.name || one.metadata.name.startsWith(owner.name + '-'))))"
    )
    selective = "object.spec.podSelector.?matchLabels.orValue({}).size() > 0"
    may = "this account may write"
    validations = within_bounds(
        may,
        validation(ours, f"{may} only objects labelled {mark}"),
        validation(of_a_job, f"{may} only objects that a job owns and that are named after it, <job> or <job>-…"),
        validation(
            for_resource("secrets", _secret()), f"{may} only Secrets of type Opaque, as the plugin ssh needs them"
        ),
    )
    policies = f"{may} only NetworkPolicies that select pods by their labels"
    validations.append(validation(for_resource("networkpolicies", selective), policies))
    return policy(ACCOUNT, constraints, validations, {"served": served, "objects": OBJECTS})


def _secret() -> str:
    """Return the condition for Secrets. Names and contents are only known for those of the plugin ssh."""
    opaque = "object.type == 'Opaque'"
    if any(SECRET in plugin.creates and not isinstance(plugin, Ssh) for plugin in installed().values()):
        return opaque
    files = ", ".join(f"'{file}'" for file in FILES)
    return f"{opaque} && object.metadata.name.endsWith('-ssh') && object.?data.orValue({{}}).all(key, key in [{files}])"


def _deployment(
    kinds: Iterable[CustomKind], mounts: list[dict[str, Any]], volumes: list[dict[str, Any]]
) -> dict[str, Any]:
    health = joined("--health-port=", setting("health_port"))
    run = ForEach(setting("run"), joined("--run=", ITEM))
    args = ["control", health, joined("--lease-name=", named(LEASE)), SERVED_FLAG, *pod_settings(kinds), run]
    mounted: dict[str, Any] = {"volumeMounts": mounts} if mounts else {}
    added: dict[str, Any] = {"volumes": volumes} if volumes else {}
    controls = container("controller", args, **mounted)
    template = pod(ACCOUNT, controls, topologySpreadConstraints=spread(SELECTOR), **added)
    return deployment(ACCOUNT, SELECTOR, template, REPLICAS)

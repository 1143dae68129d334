"""The runner: who it is, what it may do, and the Deployment that runs it. There is none where no kind is named for it.

It may write jobs of the kinds that it runs, their statuses, and the batch Jobs, Services and PodGroups that they own.
It may make no pod: Kubernetes' own Job controller does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from jobgate.kinds.common.runner import RUN_BY, runner_of
from jobgate.plugins.crew import KIND_LABEL, RUN_LABEL
from jobgate.plugins.queueing import GROUPS, KUEUE_CRD, NATIVE_GROUP, System
from jobgate.render.choices import NAMESPACE, RUNS, namespaced
from jobgate.render.pods import component, container, deployment, disruption_budget, pod, spread
from jobgate.render.policies import OBJECTS, holds, policy, policy_for_all, rules, within_bounds
from jobgate.render.rbac import READ, account, bound, lease, rule
from jobgate.render.tree import Each, Given, Item, When, begins, has, joined
from jobgate.render.workload import DOMAIN_FLAG, QUEUEING_FLAG
from webhook import Kind

ACCOUNT: Final = "jobgate-runner"
#: The Lease that one of the replicas holds; what `jobgate run` calls it by itself.
LEASE: Final = "jobgate-runner"
SELECTOR: Final = component("runner")
REPLICAS: Final = 2

_RUN: Final = Given("run")
_QUEUES: Final = Given("queues")
_QUEUES_FOLDER: Final = "/etc/jobgate/queues"
_QUEUES_FILE: Final = "queues.yaml"
_QUEUES_MAP: Final = "jobgate-queues"
KINDS_FLAG: Final = Each(_RUN, joined("--run=", Item()))
_KEEP: Final = (*READ, "create", "patch", "delete")
#: The API groups of the PodGroups of each system.
_GROUPS_OF: Final = {
    System.KUBERNETES: NATIVE_GROUP,
    **{system: one.rpartition("/")[0] for system, (one, _) in GROUPS.items()},
}


def runner(kinds: Iterable[Kind]) -> list[Any]:
    """Return all that the runner needs."""
    kinds = [kind for kind in kinds if runner_of(kind) is not None]
    if not kinds:
        return []
    return [
        When(
            _RUN,
            [
                account(ACCOUNT),
                *bound(ACCOUNT, _rules(kinds)),
                *bound(ACCOUNT, lease(LEASE), NAMESPACE),
                *_policy(),
                *_taken_over(kinds),
                When(RUNS, [When(_QUEUES, _queues()), _deployment(), disruption_budget(ACCOUNT, SELECTOR)]),
            ],
        )
    ]


def _rules(kinds: Iterable[Kind]) -> list[Any]:
    mine = [(kind, has(_RUN, kind.qualified_plural)) for kind in kinds]
    return [
        *(
            When(
                runs,
                [
                    rule(kind.group, kind.plural, verbs=(*READ, "patch", "delete")),
                    rule(kind.group, f"{kind.plural}/status", verbs=("patch",)),
                    # To own objects that hold up the job's deletion (OwnerReferencesPermissionEnforcement).
                    rule(kind.group, f"{kind.plural}/finalizers", verbs=("update",)),
                ],
            )
            for kind, runs in mine
        ),
        rule("batch", "jobs", verbs=_KEEP),
        rule("", "services", verbs=_KEEP),
        # Pods that wait for too long, or that a policy restarts, are deleted; none is made or changed.
        rule("", "pods", verbs=(*READ, "delete")),
        *(
            When(begins(Given("queueing"), system), rule(group, "podgroups", verbs=_KEEP))
            for system, group in _GROUPS_OF.items()
        ),
        When(
            _QUEUES,
            [
                rule("", "resourcequotas", verbs=("list", "watch")),
                rule(NATIVE_GROUP, "priorityclasses", verbs=("list", "watch")),
            ],
        ),
        rule("", "events", verbs=("create",)),
        rule("", "namespaces", verbs=("list", "watch")),
        # Whether an operator of a kind is alive, and may do its work.
        rule("authorization.k8s.io", "subjectaccessreviews", verbs=("create",)),
        # Whether Kueue is installed.
        rule("apiextensions.k8s.io", "customresourcedefinitions", verbs=("get",), names=(KUEUE_CRD,)),
        rule("apps", "deployments", verbs=("list",)),
        rule("coordination.k8s.io", "leases", verbs=("list",)),
    ]


def _policy() -> list[dict[str, Any]]:
    """Return the policy by which the runner writes nothing but what is of a job that it runs."""
    constraints = {
        "resourceRules": [
            rules("batch", "jobs", operations=("CREATE", "UPDATE", "DELETE")),
            rules("", "services", operations=("CREATE", "UPDATE", "DELETE")),
            rules("", "pods", operations=("DELETE",)),
            *(rules(group, "podgroups", operations=("CREATE", "UPDATE", "DELETE")) for group in _GROUPS_OF.values()),
        ]
    }
    owned = (
        "variables.objects.all(one, one.kind == 'Pod' || one.metadata.?ownerReferences.orValue([]).exists(owner, "
        f"owner.uid == one.metadata.labels['{RUN_LABEL}']))"
    )
    may = "this account writes"
    labels = f"'{RUN_LABEL}' in one.metadata.?labels.orValue({{}}) && '{KIND_LABEL}' in one.metadata.labels"
    validations = within_bounds(
        may,
        holds(f"variables.objects.all(one, {labels})", f"{may} only objects labelled {RUN_LABEL}"),
        holds(owned, f"{may} only objects that the job of the label {RUN_LABEL} owns"),
    )
    return policy(ACCOUNT, constraints, validations, {"objects": OBJECTS})


def _taken_over(kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """Return the policy by which a job that was taken over stays so: two operators must not run one job."""
    groups: dict[str, list[str]] = {}
    for kind in kinds:
        groups.setdefault(kind.group, []).append(kind.plural)
    constraints = {
        "resourceRules": [rules(group, *plurals, operations=("UPDATE",)) for group, plurals in sorted(groups.items())]
    }

    def said(which: str) -> str:
        return f"{which}.metadata.?annotations[?'{RUN_BY}'].orValue('')"

    validations = [
        holds(f"{said('oldObject')} in ['', {said('object')}]", f"annotation {RUN_BY} may not change once it is set")
    ]
    return policy_for_all(f"{ACCOUNT}-jobs", constraints, validations)


def _deployment() -> dict[str, Any]:
    args = [
        "run",
        KINDS_FLAG,
        QUEUEING_FLAG,
        When(_QUEUES, f"--queues={_QUEUES_FOLDER}/{_QUEUES_FILE}"),
        Each(Given("ignore_operators"), joined("--ignore-operator=", Item())),
        joined("--health-port=", Given("health_port")),
        f"--lease-name={LEASE}",
        DOMAIN_FLAG,
    ]
    mounts = [{"name": "queues", "mountPath": _QUEUES_FOLDER, "readOnly": True}]
    volumes = [{"name": "queues", "configMap": {"name": _QUEUES_MAP}}]
    runs = container("runner", args, "100m", "1Gi", volumeMounts=When(_QUEUES, mounts))
    made = pod(ACCOUNT, runs, topologySpreadConstraints=spread(SELECTOR), volumes=When(_QUEUES, volumes))
    return deployment(ACCOUNT, SELECTOR, made, REPLICAS)


def _queues() -> dict[str, Any]:
    return namespaced("v1", "ConfigMap", _QUEUES_MAP, {"data": {_QUEUES_FILE: _QUEUES}})

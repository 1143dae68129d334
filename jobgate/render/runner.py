"""The runner: who it is, what it may do, and the Deployment that runs it. There is none where no kind is named for it.

It may write jobs of the kinds that it runs, their statuses, and the batch Jobs, Services and PodGroups that they own.
It may make no pod: Kubernetes' own Job controller does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from jobgate.kinds.common.runner import RUN_BY, runner_of
from jobgate.names import OPT_OUT_LABEL, OPT_OUT_VALUE, SYSTEM_NAMESPACES
from jobgate.plugins.crew import KIND_LABEL, RUN_LABEL
from jobgate.plugins.queueing import GROUPS, NATIVE_GROUP, System
from jobgate.render.choices import NAMESPACE, RUNS
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
from jobgate.render.policies import holds, policy, policy_for_all, rules
from jobgate.render.rbac import READ, account, bound, rule
from jobgate.render.tree import Begins, Each, Given, Has, Item, When, joined
from jobgate.render.workload import DOMAIN_TOLD, QUEUEING_TOLD
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
#: Told to the server and to the runner alike.
KINDS_TOLD: Final = Each(_RUN, joined("--run=", Item()))
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
                *bound(ACCOUNT, _LEASE_RULES, NAMESPACE),
                *_policy(),
                *_taken_over(kinds),
                When(RUNS, [When(_QUEUES, _queues()), _deployment(), disruption_budget(ACCOUNT, SELECTOR)]),
            ],
        )
    ]


def _rules(kinds: Iterable[Kind]) -> list[Any]:
    mine = [(kind, Has(_RUN, kind.qualified_plural)) for kind in kinds]
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
            When(Begins(Given("queueing"), system), rule(group, "podgroups", verbs=_KEEP))
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
        rule("apps", "deployments", verbs=("list",)),
        rule("coordination.k8s.io", "leases", verbs=("list",)),
    ]


#: No name can be given for what is created.
_LEASE_RULES: Final = [
    rule("coordination.k8s.io", "leases", verbs=("create",)),
    rule("coordination.k8s.io", "leases", verbs=("get", "patch"), names=(LEASE,)),
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
    system = ", ".join(f"'{name}'" for name in SYSTEM_NAMESPACES)
    label = f"namespaceObject.metadata.?labels[?'{OPT_OUT_LABEL}'].orValue('') == '{OPT_OUT_VALUE}'"
    objects = "[object, oldObject].filter(one, one != null)"
    owned = (
        "variables.objects.all(one, one.kind == 'Pod' || one.metadata.?ownerReferences.orValue([]).exists(owner, "
        f"owner.uid == one.metadata.labels['{RUN_LABEL}']))"
    )
    inside = "object.spec.type == 'ClusterIP' && !has(object.spec.externalIPs)"
    may = "this account writes"
    validations = [
        holds(joined(f"!(request.namespace in [{system}, '", NAMESPACE, "'])"), f"{may} nothing in system namespaces"),
        holds(f"!({label})", f"{may} nothing in namespaces labelled {OPT_OUT_LABEL}={OPT_OUT_VALUE}"),
        holds(
            f"variables.objects.all(one, '{RUN_LABEL}' in one.metadata.?labels.orValue({{}}) && "
            f"'{KIND_LABEL}' in one.metadata.labels)",
            f"{may} only objects labelled {RUN_LABEL}",
        ),
        holds(owned, f"{may} only objects that the job of the label {RUN_LABEL} owns"),
        holds(
            f"request.resource.resource != 'services' || object == null || ({inside})",
            f"{may} only Services of type ClusterIP without externalIPs",
        ),
    ]
    return policy(ACCOUNT, constraints, validations, {"objects": objects})


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
    labels = {**LABELS, **SELECTOR}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": ACCOUNT, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": REPLICAS,
            "minReadySeconds": MIN_READY,
            "selector": {"matchLabels": SELECTOR},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "serviceAccountName": ACCOUNT,
                    "automountServiceAccountToken": True,
                    "terminationGracePeriodSeconds": 30,
                    "securityContext": pod_security(),
                    "topologySpreadConstraints": spread(SELECTOR),
                    "containers": [_container()],
                    "volumes": When(_QUEUES, [{"name": "queues", "configMap": {"name": _QUEUES_MAP}}]),
                },
            },
        },
    }


def _queues() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _QUEUES_MAP, "namespace": NAMESPACE, "labels": LABELS},
        "data": {_QUEUES_FILE: _QUEUES},
    }


def _container() -> dict[str, Any]:
    return {
        "name": "runner",
        "image": Given("image"),
        "args": [
            "run",
            KINDS_TOLD,
            QUEUEING_TOLD,
            When(_QUEUES, f"--queues={_QUEUES_FOLDER}/{_QUEUES_FILE}"),
            Each(Given("ignore_operators"), joined("--ignore-operator=", Item())),
            joined("--health-port=", Given("health_port")),
            f"--lease-name={LEASE}",
            DOMAIN_TOLD,
        ],
        "ports": [{"name": "health", "containerPort": Given("health_port"), "protocol": "TCP"}],
        **probes(),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": container_security(),
        "volumeMounts": When(_QUEUES, [{"name": "queues", "mountPath": _QUEUES_FOLDER, "readOnly": True}]),
    }

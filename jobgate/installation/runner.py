"""The runner: its account, permissions and Deployment. It is installed if it runs any kind.

It may write jobs of the kinds that it runs, their statuses, and the batch Jobs, Services and PodGroups that they own.
It may not create pods, as the Job controller of Kubernetes does. Of pods it may only remove the finalizer of the Job
controller, and set the annotation by which a group of Kueue ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from jobgate.installation.choices import NAMESPACE, ONLY_SERVED, RUNS, SERVED_FLAG, kind_on, named, namespaced
from jobgate.installation.pods import component, container, deployment, disruption_budget, pod, spread
from jobgate.installation.policies import (
    GROUP,
    OBJECTS,
    by_account,
    for_resource,
    policy,
    rules,
    validation,
    within_bounds,
)
from jobgate.installation.rbac import MANAGE, READ, account, bound, lease, rule
from jobgate.installation.tree import (
    ITEM,
    Expression,
    ForEach,
    If,
    all_of,
    any_of,
    begins,
    has,
    joined,
    negated,
    setting,
)
from jobgate.installation.workload import DOMAIN_FLAG, QUEUEING_FLAG
from jobgate.jobs.kind import CustomKind, JobKind, job_kinds
from jobgate.jobs.runner import runner_of
from jobgate.plugins.crew import (
    ATTEMPT_LABEL,
    COMPLETION_INDEX,
    FINALIZER,
    JOB_LABEL,
    KIND_LABEL,
    RUN_LABEL,
    TASK_LABEL,
)
from jobgate.plugins.queueing import GROUPS, KUEUE_CRD, KUEUE_RETRIABLE, NATIVE_GROUP, System

ACCOUNT: Final = "jobgate-runner"
#: The Lease of the runner; the default of `jobgate run`.
LEASE: Final = "jobgate-runner"
SELECTOR: Final = component("runner")
REPLICAS: Final = 2

_BOTH: Final = ("CREATE", "UPDATE")
_RUN: Final = setting("run")
_QUEUES: Final = setting("queues")
_NODES: Final = all_of(setting("queues"), setting("elastic_nodes"))
_NOTIFIES: Final = setting("notify_secret")
_SERVES: Final = setting("di_server")
#: Name and target port of the Service of the server that DIJobs ask for replicas.
SERVER, SERVER_PORT = "jobgate-di-server", 8443
_FOLDERS: Final = "/etc/jobgate"
_QUEUES_FILE: Final = "queues.yaml"
_QUEUES_MAP: Final = "jobgate-queues"
#: Volumes of the runner: name, which is also that of the folder, condition, and source.
_VOLUMES: Final[tuple[tuple[str, Expression, dict[str, Any]], ...]] = (
    ("queues", _QUEUES, {"configMap": {"name": _QUEUES_MAP}}),
    ("notify", _NOTIFIES, {"secret": {"secretName": _NOTIFIES}}),
    ("di-server", _SERVES, {"secret": {"secretName": f"{SERVER}-tls", "optional": True}}),
)
KINDS_FLAG: Final = ForEach(_RUN, joined("--run=", ITEM))
#: Labels by which objects belong to a job, and pods to a batch Job, which releases pods with other labels.
_LABELS: Final = (
    *(RUN_LABEL, KIND_LABEL, JOB_LABEL, TASK_LABEL, ATTEMPT_LABEL),
    *(f"{prefix}{name}" for prefix in ("", "batch.kubernetes.io/") for name in ("controller-uid", "job-name")),
    COMPLETION_INDEX,
)
#: Users that create the pods of batch Jobs: the Job controller, with an account of its own or of all controllers.
_JOB_CONTROLLERS: Final = ("system:serviceaccount:kube-system:job-controller", "system:kube-controller-manager")
#: Account that removes references to deleted owners, if each controller has an account of its own.
_COLLECTOR: Final = "system:serviceaccount:kube-system:generic-garbage-collector"
#: CEL: whether the user is an administrator. These policies do not apply to administrators.
_CHANGES_POLICIES: Final = (
    f"authorizer.group('{GROUP}').resource('validatingadmissionpolicies').check('update').allowed()"
)
#: The API groups of the PodGroups of each system.
_GROUPS_OF: Final = {
    System.KUBERNETES: NATIVE_GROUP,
    **{system: version.rpartition("/")[0] for system, (version, _) in GROUPS.items()},
}
_KUEUE: Final = KUEUE_CRD.partition(".")[2]


def runner(kinds: Iterable[CustomKind]) -> list[Any]:
    """Return the objects of the runner."""
    every = tuple(kinds)
    kinds = [kind for kind in every if runner_of(kind) is not None]
    if not kinds:
        return []
    service = {"selector": SELECTOR, "ports": [{"name": "https", "port": 443, "targetPort": SERVER_PORT}]}
    creators = [kind for kind in job_kinds(every) if kind.creates in kinds]
    queues = namespaced("v1", "ConfigMap", _QUEUES_MAP, {"data": {_QUEUES_FILE: _QUEUES}})
    return [
        If(
            _RUN,
            [
                account(ACCOUNT),
                *bound(ACCOUNT, [*_rules(kinds), *_creating(creators, _of_creators(creators))]),
                *bound(ACCOUNT, lease(named(LEASE)), NAMESPACE),
                *_policy(creators),
                *_labels(),
                *_together(kinds),
                *_creating(creators, _authors(creators)),
                If(RUNS, [If(_QUEUES, queues), _deployment(creators), disruption_budget(ACCOUNT, SELECTOR)]),
                If(all_of(RUNS, _SERVES), namespaced("v1", "Service", SERVER, {"spec": service})),
            ],
        )
    ]


def _rules(kinds: Iterable[CustomKind]) -> list[Any]:
    served = [(kind, has(_RUN, kind.qualified_plural)) for kind in kinds]
    return [
        *(
            If(
                runs,
                [
                    rule(kind.group, kind.plural, verbs=(*READ, "patch", "delete")),
                    rule(kind.group, f"{kind.plural}/status", verbs=("patch",)),
                    # To own objects that block the deletion of the job (OwnerReferencesPermissionEnforcement).
                    rule(kind.group, f"{kind.plural}/finalizers", verbs=("update",)),
                ],
            )
            for kind, runs in served
        ),
        rule("batch", "jobs", verbs=MANAGE),
        rule("", "services", verbs=MANAGE),
        *(
            If(runs, rule("", "persistentvolumeclaims", verbs=("get", "create")))
            for kind, runs in served
            if (runner := runner_of(kind)) and runner.creates_claims
        ),
        *(
            If(runs, rule("bus.volcano.sh", "commands", verbs=("list", "watch", "delete")))
            for kind, runs in served
            if (runner := runner_of(kind)) and runner.takes_commands
        ),
        # To delete pods that wait too long, or that a policy restarts, and to remove finalizers.
        rule("", "pods", verbs=(*READ, "patch", "delete")),
        # To find out whether the node of a pod answers that does not end.
        If(setting("replace_lost_after"), rule("", "nodes", verbs=("get",))),
        If(_NODES, rule("", "nodes", verbs=("list", "watch"))),
        *(
            If(begins(setting("queueing"), system), rule(group, "podgroups", verbs=MANAGE))
            for system, group in _GROUPS_OF.items()
        ),
        # To find out why Kueue has not admitted pods.
        If(begins(setting("queueing"), System.KUEUE), rule(_KUEUE, "workloads", verbs=("get",))),
        If(
            _QUEUES,
            [
                rule("", "resourcequotas", verbs=("list", "watch")),
                rule(NATIVE_GROUP, "priorityclasses", verbs=("list", "watch")),
            ],
        ),
        # Only Events say that the Job controller cannot create pods.
        rule("", "events", verbs=("create", "list")),
        rule("", "namespaces", verbs=("list", "watch")),
        # To find out whether an operator of a kind is running, and has its permissions.
        rule("authorization.k8s.io", "subjectaccessreviews", verbs=("create",)),
        # To find out whether Kueue is installed.
        rule("apiextensions.k8s.io", "customresourcedefinitions", verbs=("get",), names=(KUEUE_CRD,)),
        # To find out which pod calls the server.
        If(_SERVES, rule("authentication.k8s.io", "tokenreviews", verbs=("create",))),
        rule("apps", "deployments", verbs=("list",)),
        rule("coordination.k8s.io", "leases", verbs=("list",)),
    ]


def _creating(creators: Sequence[JobKind], then: list[Any]) -> list[If]:
    """Return what is installed if the runner creates jobs from the objects of these kinds."""
    tests = (*map(kind_on, creators), *(has(_RUN, f"{plural}.{group}") for group, plural in _made(creators)))
    return [If(all_of(*tests), then)] if tests else []


def _made(creators: Iterable[JobKind]) -> list[tuple[str, str]]:
    """Return group and plural of the jobs that are created from the objects of these kinds."""
    return sorted({(jobs.group, jobs.plural) for kind in creators if (jobs := kind.creates)})


def _of_creators(creators: Iterable[JobKind]) -> list[dict[str, Any]]:
    """Return the rules to create jobs from the objects of these kinds."""
    suffixes = (("", READ), ("/status", ("patch",)))
    return [
        *(rule(kind.group, f"{kind.plural}{suffix}", verbs=verbs) for kind in creators for suffix, verbs in suffixes),
        # JobFlows own the Jobs that are created for them, and templates own none.
        *(rule(kind.group, f"{kind.plural}/finalizers", verbs=("update",)) for kind in creators if kind.part == "flow"),
        *(rule(*jobs, verbs=("create",)) for jobs in _made(creators)),
    ]


def _authors(creators: Iterable[JobKind]) -> list[dict[str, Any]]:
    """Return the policy that only users who may create jobs write objects from which the runner creates jobs."""
    written = [rules(kind.group, kind.plural, operations=_BOTH) for kind in creators]
    constraints = {**ONLY_SERVED, "resourceRules": written}
    may = "authorizer.group('{}').resource('{}').namespace(request.namespace).check('create').allowed()"
    why = "jobgate creates {1}.{0} from it: you need the right to create these"
    validations = [validation(may.format(*jobs), why.format(*jobs)) for jobs in _made(creators)]
    changes = "oldObject == null || object.spec != oldObject.spec"
    return policy(f"{ACCOUNT}-authors", constraints, validations, condition=changes)


def _policy(creators: Iterable[JobKind]) -> list[dict[str, Any]]:
    """Return the policy that lets the runner write only objects of jobs that it runs, and jobs of creators."""
    created = f"request.resource.group in {[group for group, _ in _made(creators)]}"
    owner = f"owner.?controller.orValue(false) && owner.kind in {[kind.kind for kind in creators]}"
    constraints = {
        "resourceRules": [
            rules("batch", "jobs", operations=("CREATE", "UPDATE", "DELETE")),
            rules("", "services", operations=("CREATE", "UPDATE", "DELETE")),
            rules("", "pods", operations=("UPDATE", "DELETE")),
            rules("", "persistentvolumeclaims", operations=("CREATE",)),
            *(rules(group, "podgroups", operations=("CREATE", "UPDATE", "DELETE")) for group in _GROUPS_OF.values()),
            *(rules(group, plural, operations=("CREATE",)) for group, plural in _made(creators)),
        ]
    }
    owned = (
        "variables.objects.all(one, one.kind == 'Pod' || one.metadata.?ownerReferences.orValue([]).exists(owner, "
        f"owner.uid == one.metadata.labels['{RUN_LABEL}']))"
    )
    may = "this account writes"
    labels = f"'{RUN_LABEL}' in one.metadata.?labels.orValue({{}}) && '{KIND_LABEL}' in one.metadata.labels"
    kept = ("spec", "metadata.?labels", "metadata.?ownerReferences")
    new, old = (f"{subject}.metadata.?annotations.orValue({{}})" for subject in ("object", "oldObject"))
    finalizers, old_finalizers = (f"{subject}.metadata.?finalizers.orValue([])" for subject in ("object", "oldObject"))
    ends = f"key == '{KUEUE_RETRIABLE}' && {new}[key] == 'false'"
    same = " && ".join(
        [
            *(f"object.{field} == oldObject.{field}" for field in kept),
            f"{new}.all(key, ({ends}) || {old}[?key].orValue('') == {new}[key])",
            f"{old}.all(key, key in {new})",
            f"{finalizers}.all(one, one in {old_finalizers})",
            f"{old_finalizers}.all(one, one in {finalizers} || one == '{FINALIZER}')",
        ]
    )
    validations = within_bounds(
        may,
        validation(
            for_resource("pods", same),
            f"this account may only remove the finalizer {FINALIZER} from pods, and set {KUEUE_RETRIABLE}=false",
        ),
        validation(f"{created} || variables.objects.all(one, {labels})", f"{may} only objects labelled {RUN_LABEL}"),
        validation(f"{created} || {owned}", f"{may} only objects that the job of the label {RUN_LABEL} owns"),
        validation(
            f"!({created}) || object.metadata.?ownerReferences.orValue([]).exists(owner, {owner})",
            f"{may} only jobs that are created from an object which owns them",
        ),
    )
    return policy(ACCOUNT, constraints, validations, {"objects": OBJECTS})


def _labels() -> list[dict[str, Any]]:
    """Return the policy for batch Jobs and pods with the label of the runner's objects.

    The runner and the pod webhook recognize the objects of a job by their labels, which any user could write without
    the policy. It does not apply to administrators: users who may change policies.
    """
    # Writes to the status subresources can change metadata, too.
    constraints = {
        **ONLY_SERVED,
        "resourceRules": [
            rules("batch", "jobs", "jobs/status", operations=_BOTH),
            rules("", "pods", "pods/status", operations=_BOTH),
        ],
    }
    marked = " || ".join(
        f"'{RUN_LABEL}' in {subject}.metadata.?labels.orValue({{}})" for subject in ("one", "one.spec.?template")
    )
    condition = f"{OBJECTS}.exists(one, {marked})"
    of_a_job = "request.resource.resource == 'jobs'"
    label, old_label = (f"{subject}.metadata.?labels[?key].orValue('')" for subject in ("object", "oldObject"))
    index, old_index = (
        f"{subject}.metadata.?annotations[?'{COMPLETION_INDEX}'].orValue('')" for subject in ("object", "oldObject")
    )
    same_labels = f"{list(_LABELS)}.all(key, {label} == {old_label}) && {index} == {old_index}"
    same_spec = f"!({of_a_job}) || object.spec == oldObject.spec"
    owners, old_owners = (f"{subject}.metadata.?ownerReferences.orValue([])" for subject in ("object", "oldObject"))
    same_owners = f"{owners} == {old_owners} || request.userInfo.username in {[*_JOB_CONTROLLERS, _COLLECTOR]}"
    # A finalizer would keep a deleted batch Job, and its pods, after its job is gone.
    finalizers, old_finalizers = (f"{subject}.metadata.?finalizers.orValue([])" for subject in ("object", "oldObject"))
    no_finalizers = f"!({of_a_job}) || {finalizers}.all(one, one in {old_finalizers})"
    same = " && ".join(f"({subject})" for subject in (same_labels, same_spec, same_owners, no_finalizers))
    by_controller = f"request.resource.resource == 'pods' && request.userInfo.username in {list(_JOB_CONTROLLERS)}"
    expression = joined(
        f"(oldObject != null && {same}) || ({by_controller}) || {_CHANGES_POLICIES} || ", by_account(ACCOUNT)
    )
    message = (
        f"only the runner creates Jobs with the label {RUN_LABEL}, and the Job controller their pods; others may not "
        "change by which labels these belong to a job, or their owner references, nor the spec of such a Job, nor add "
        "finalizers to it"
    )
    return policy(f"{ACCOUNT}-labels", constraints, [validation(expression, message)], condition=condition)


def _together(kinds: Iterable[CustomKind]) -> list[dict[str, Any]]:
    """Return the policy that prevents the deletion of jobs, and of their batch Jobs, without their pods.

    Orphaned pods would run on, in no queue, and nothing would end them.
    """
    groups: dict[str, list[str]] = {"batch": ["jobs"]}
    for kind in kinds:
        groups.setdefault(kind.group, []).append(kind.plural)
    every = ("CREATE", "UPDATE", "DELETE")
    constraints = {
        **ONLY_SERVED,
        "resourceRules": [rules(group, *plurals, operations=every) for group, plurals in sorted(groups.items())],
    }
    condition = (
        "request.resource.group != 'batch' || "
        f"{OBJECTS}.exists(one, '{RUN_LABEL}' in one.metadata.?labels.orValue({{}}))"
    )
    orphans = "'orphan' in {}.metadata.?finalizers.orValue([])"
    kept = f"object == null || !({orphans.format('object')}) || (oldObject != null && {orphans.format('oldObject')})"
    options = (
        "request.?options.?propagationPolicy.orValue('') == 'Orphan' || "
        "request.?options.?orphanDependents.orValue(false)"
    )
    message = (
        "jobgate runs this job, and deletes it with its pods: leave out --cascade=orphan, and the finalizer orphan"
    )
    expression = f"(({kept}) && (request.operation != 'DELETE' || !({options}))) || {_CHANGES_POLICIES}"
    return policy(f"{ACCOUNT}-deletions", constraints, [validation(expression, message)], condition=condition)


def _deployment(creators: Iterable[JobKind]) -> dict[str, Any]:
    args = [
        "run",
        KINDS_FLAG,
        *(If(negated(kind_on(kind)), f"--without-kind={kind.qualified_plural}") for kind in creators),
        QUEUEING_FLAG,
        If(_QUEUES, f"--queues={_FOLDERS}/queues/{_QUEUES_FILE}"),
        If(_NODES, "--elastic-nodes"),
        If(_NOTIFIES, f"--notify-secret={_FOLDERS}/notify/secret"),
        If(all_of(_NOTIFIES, setting("notify")), joined("--notify=", setting("notify"))),
        If(_SERVES, joined("--di-server-url=https://", SERVER, ".", NAMESPACE, ".", setting("cluster_domain"))),
        If(_SERVES, f"--di-server-tls={_FOLDERS}/di-server"),
        ForEach(setting("ignore_operators"), joined("--ignore-operator=", ITEM)),
        joined("--replace-lost-after=", setting("replace_lost_after")),
        joined("--health-port=", setting("health_port")),
        joined("--lease-name=", named(LEASE)),
        SERVED_FLAG,
        DOMAIN_FLAG,
    ]
    some = any_of(test for _, test, _ in _VOLUMES)
    mounts = [
        If(test, {"name": name, "mountPath": f"{_FOLDERS}/{name}", "readOnly": True}) for name, test, _ in _VOLUMES
    ]
    volumes = [If(test, {"name": name, **source}) for name, test, source in _VOLUMES]
    runs = container("runner", args, volumeMounts=If(some, mounts))
    template = pod(ACCOUNT, runs, topologySpreadConstraints=spread(SELECTOR), volumes=If(some, volumes))
    return deployment(ACCOUNT, SELECTOR, template, REPLICAS)

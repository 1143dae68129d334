"""The kinds whose pods are wired, and how their pods are recognized; shared by the server and the installation."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, NamedTuple

from crdgen.labels import selects
from jobgate.jobs.kind import CustomKind, JobKind, job_kinds
from jobgate.jobs.members import Claim, Members, marked_claim
from jobgate.jobs.operator import Operator
from jobgate.plugins.crew import KIND_LABEL
from webhook import Phase
from webhook.values import labels_of

#: Webhook paths for pods of all kinds.
PATHS: Mapping[Phase, str] = {phase: f"/{phase}--v1-pod" for phase in Phase}
#: Webhook paths for the validation of workloads with prerequisites, and of prerequisites.
WORKLOADS_PATH = "/validate-workloads"
ITEMS_PATH = "/validate-jobgate-dev-v1alpha1-prerequisite"

#: The workloads of Kubernetes that create pods; their authors need the permission to use the pods' prerequisites.
WORKLOADS: Final = frozenset(
    {
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
        ("", "ReplicationController"),
    }
)


class ClaimedJob(NamedTuple):
    """The kind of the job that a pod claims to belong to, and the claim."""

    kind: JobKind
    claim: Claim


def wired(kinds: Iterable[CustomKind], runs: Container[str] = ()) -> list[JobKind]:
    """Return the kinds whose pods are wired: jobgate `runs` their jobs, or these can request plugins of jobgate."""
    jobs = (kind for kind in job_kinds(kinds) if isinstance(kind.operator, Operator) and kind.creates is None)
    return [kind for kind in jobs if kind.qualified_plural in runs or requests_plugins(kind)]


def requests_plugins(kind: CustomKind) -> bool:
    """Return whether jobs of a kind can request plugins, and its operator does not implement all of them."""
    return bool(kind.field("plugins").attributes) and not provides_all(kind)


def provides_all(kind: CustomKind) -> bool:
    """Return whether the operator of a kind implements all plugins that its jobs can request, as Volcano does."""
    members = members_of(kind)
    return members is not None and members.own_plugins


def followed(kinds: Iterable[CustomKind]) -> list[JobKind]:
    """Return the kinds whose jobs the pod webhook remembers: those that may be wired, and those with identifiable pods.

    A pod may name prerequisites that were checked with its job.
    """
    kinds = job_kinds(kinds)
    may_be_wired = wired(kinds, {kind.qualified_plural for kind in kinds if kind.runner is not None})
    return [kind for kind in kinds if kind in may_be_wired or members_of(kind) is not None]


def members_of(kind: CustomKind) -> Members | None:
    """Return how the pods of a kind's operator identify their job, or None if they do not."""
    operator = kind.operator if isinstance(kind, JobKind) else None
    return operator.members if isinstance(operator, Operator) else None


def claimed_job(pod: Mapping[str, Any], kinds: Iterable[JobKind]) -> ClaimedJob | None:
    """Return the job that a pod claims to belong to, or None.

    Labels of an operator take precedence over jobgate's own, which a user may have written into a template.
    """
    labels = labels_of(pod)
    marked: ClaimedJob | None = None
    for kind in kinds:
        members = members_of(kind)
        if members and selects(members.selector, labels) and (claim := members.claim(pod)):
            return ClaimedJob(kind, claim)
        if labels.get(KIND_LABEL) == kind.qualified_plural and (claim := marked_claim(pod)):
            marked = ClaimedJob(kind, claim)
    return marked


def jobs_of(kind: CustomKind) -> str:
    """Return the resource of a kind's jobs, as `<plural>.<version>.<group>`."""
    return f"{kind.plural}.{kind.version}.{kind.group}"


def marked_selector(kinds: Iterable[CustomKind]) -> Mapping[str, Any]:
    """Return the LabelSelector of the pods that jobgate's own labels assign to one of these kinds."""
    plurals = [kind.qualified_plural for kind in kinds]
    return {"matchExpressions": [{"key": KIND_LABEL, "operator": "In", "values": plurals}]}

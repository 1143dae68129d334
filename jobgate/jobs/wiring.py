"""Which kinds have pods that are wired, and how the API server knows such pods: what server and installation share."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, NamedTuple

from jobgate.jobs.kind import JobKind
from jobgate.jobs.members import Claim, Members, marked_claim, selects
from jobgate.jobs.operator import Operator
from jobgate.plugins.crew import KIND_LABEL
from webhook import Phase
from webhook.values import labels_of

#: Where the API server sends pods, whatever kind of job they belong to.
PATHS: Mapping[Phase, str] = {phase: f"/{phase}--v1-pod" for phase in Phase}
#: Where it sends workloads whose pods name prerequisites, and prerequisites themselves: for validation only.
WORKLOADS_PATH = "/validate-workloads"
ITEMS_PATH = "/validate-jobgate-dev-v1alpha1-prerequisite"

#: The workloads of Kubernetes whose controllers make pods: who creates one is asked for the right to its items.
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
    """The kind of job that a pod says it belongs to, and which one."""

    kind: JobKind
    claim: Claim


def wired(kinds: Iterable[JobKind], runs: Container[str] = ()) -> list[JobKind]:
    """Return the kinds into whose pods something is put.

    Their jobs can ask for plugins, and there is one that their operator does not see to itself; or jobgate `runs` them.
    """
    return [kind for kind in kinds if _asks(kind) and (not provides_all(kind) or kind.qualified_plural in runs)]


def provides_all(kind: JobKind) -> bool:
    """Return whether the operator of a kind carries out all plugins that its jobs can ask for, as Volcano does."""
    members = members_of(kind)
    return members is not None and members.own_plugins


def followed(kinds: Iterable[JobKind]) -> list[JobKind]:
    """Return the kinds whose jobs the pod webhook knows: those that are wired, and those whose pods say whose they are.

    Such a pod may name prerequisites, for which its job was checked.
    """
    kinds = tuple(kinds)
    into = wired(kinds)
    return [kind for kind in kinds if kind in into or members_of(kind) is not None]


def _asks(kind: JobKind) -> bool:
    return isinstance(kind, JobKind) and isinstance(kind.operator, Operator) and bool(kind.field("plugins").attributes)


def members_of(kind: JobKind) -> Members | None:
    """Return how the pods are known that a kind's operator makes, or None where they are not."""
    operator = kind.operator if isinstance(kind, JobKind) else None
    return operator.members if isinstance(operator, Operator) else None


def whose(pod: Mapping[str, Any], kinds: Iterable[JobKind]) -> ClaimedJob | None:
    """Return which job a pod belongs to, or None.

    What an operator has written counts before our own labels, which a template may carry: it names the job's uid.
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


def jobs_of(kind: JobKind) -> str:
    """Return the resource of a kind's jobs, as `<plural>.<version>.<group>`."""
    return f"{kind.plural}.{kind.version}.{kind.group}"


def marked_selector(kinds: Iterable[JobKind]) -> Mapping[str, Any]:
    """Return the LabelSelector of the pods that our own labels give to one of these kinds."""
    plurals = [kind.qualified_plural for kind in kinds]
    return {"matchExpressions": [{"key": KIND_LABEL, "operator": "In", "values": plurals}]}

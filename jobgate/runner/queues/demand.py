"""What a job asks for in all, and what ResourceQuotas leave to jobs: by resource, named as a ResourceQuota does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from jobgate.jobs.elastic import Bounds
from jobgate.jobs.job import priority_class_of
from jobgate.podchecks.quantity import parse
from jobgate.runner.placement import PODS, amounts_of, shape_of
from jobgate.runner.queues.admission import Amounts, sum_of
from jobgate.runner.subject import Sight, Subject
from webhook.values import mapping, spec_of, text

#: Where a batch Job as it is kept has what a pod of it asks for.
ASKS: Final = "asks"
#: What a name, and the amount that it may have, take in memory, without the characters of the name.
ENTRY_BYTES: Final = 200
#: What a ResourceQuota counts that is no resource of a pod: https://kubernetes.io/docs/concepts/policy/resource-quotas/.
_OTHERS: Final = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
        "requests.storage",
    }
)


def resource(name: str) -> str | None:
    """Return the full name of a resource of pods that a quota names; None if it is no resource of pods.

    Kubernetes takes `cpu` for `requests.cpu`.
    """
    if name in {PODS, f"count/{PODS}"}:
        return PODS
    if name in _OTHERS or name.startswith("count/") or ".storageclass.storage.k8s.io/" in name:
        return None
    return name if name.startswith(("requests.", "limits.")) else f"requests.{name}"


@dataclass(frozen=True, slots=True)
class Demand:
    """What queues need to know of a job's spec. It is small, however large the job is.

    Attributes:
        pods: what a pod asks for, by task.
        sizes: how many pods a task has.
        total: what all pods ask for.
        queue: that the job names; empty for none.
        priority: of the job itself; None if its priority classes have it.
        classes: the priority classes of its tasks; empty for a task without one.
        suspended: whether the user has suspended it.
        gate: what every task waits for, whatever room there is; empty for nothing.
        bounds: of its elastic tasks.
        preemptible: whether it shrinks before others.
        shapes: by task, how its pods are placed on nodes, if that counts.
    """

    pods: Mapping[str, Amounts]
    total: Amounts
    sizes: Mapping[str, int] = field(default_factory=dict)
    queue: str = ""
    priority: int | None = None
    classes: frozenset[str] = frozenset()
    suspended: bool = False
    gate: str = ""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    preemptible: bool = False
    shapes: Mapping[str, bytes] = field(default_factory=dict)

    def at(self, sizes: Mapping[str, int]) -> Demand:
        """Return what the job requests if tasks have these sizes."""
        return replace(self, sizes={**self.sizes, **sizes}) if sizes else self

    @property
    def size(self) -> int:
        """Roughly the memory that it takes, in bytes."""
        names = (name for amounts in (*self.pods.values(), self.total) for name in amounts)
        texts = (self.queue, self.gate, *self.classes, *self.pods, *names, *self.shapes.values())
        return sum(ENTRY_BYTES + len(part) for part in texts)


def demand_of(subject: Subject, *, shapes: bool = False) -> Demand:
    """Return what a job requests, and from which queue."""
    job = subject.job
    templates = {name: subject.operator.pod(subject.job, task) for name, task in subject.tasks.items()}
    pods = {name: amounts_of(template) for name, template in templates.items()}
    sizes = {name: subject.replicas(name) for name in pods}
    return Demand(
        pods=pods,
        total=sum_of((amounts, sizes[name]) for name, amounts in pods.items()),
        sizes=sizes,
        queue=text(job.get("queue")),
        priority=subject.runner.priority(job),
        classes=frozenset(priority_class_of(job, task) for task in job.tasks),
        suspended=subject.suspended,
        gate=subject.gate,
        bounds=subject.bounds,
        preemptible=subject.runner.is_preemptible(job),
        shapes={name: shape_of(spec_of(template)) for name, template in templates.items()} if shapes else {},
    )


def requests_of_live_pods(demand: Demand, sight: Sight) -> Amounts:
    """Return the resources that the unfinished pods of a job request, as a ResourceQuota counts them."""
    live = {
        name: sum(pod.phase not in {"Succeeded", "Failed"} for pod in seen.pods) for name, seen in sight.tasks.items()
    }
    return sum_of((demand.pods.get(name, {}), count) for name, count in live.items() if count)


def written_amounts(amounts: Amounts) -> dict[str, str]:
    """Return amounts as they are stored, without those of nothing."""
    return {name: f"{amount.normalize():f}" for name, amount in sorted(amounts.items()) if amount > 0}


def read_amounts(written: Mapping[str, str]) -> Amounts:
    """Return amounts that were stored."""
    return {name: Decimal(amount) for name, amount in written.items()}


def left_to_jobs(quotas: Iterable[Mapping[str, Any]], present: Amounts) -> Amounts:
    """Return what the ResourceQuotas of a namespace leave to jobs, those that run included.

    `present` is what pods of jobs use by now; the rest of what is used is used by others. A quota with scopes counts
    some pods only, and is left to the API server.
    """
    left: dict[str, Decimal] = {}
    for quota in quotas:
        spec, status = spec_of(quota), mapping(quota.get("status"))
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        used = _read(mapping(status.get("used")))
        for name, hard in _read(mapping(status.get("hard")) or mapping(spec.get("hard"))).items():
            others = max(used.get(name, Decimal(0)) - present.get(name, Decimal(0)), Decimal(0))
            left[name] = min(hard - others, left.get(name, hard - others))
    return left


def _read(given: Mapping[str, Any]) -> dict[str, Decimal]:
    return {full: parse(value) for name, value in given.items() if (full := resource(name))}

"""How the pods of an operator's jobs tell whose they are, and what they are promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from jobgate.jobs.job import Job
from jobgate.plugins.crew import COMPLETION_INDEX, INDEX_LABEL, JOB_LABEL, RUN_LABEL, TASK_LABEL, Contract
from webhook.values import items, labels_of, mapping, metadata_of, objects


@dataclass(frozen=True, slots=True)
class Claim:
    """The owner that a pod claims. Anyone can write labels, so the claim must be looked up.

    Attributes:
        job: the name of the job.
        task: the name of the task, as the operator writes it.
        index: which pod of the task it is, from 0, or None where that cannot be read.
        uid: of the job, where an owner reference names it; else empty.
        owned: whether an owner reference names a job of the kind at all.
        facts: of the job (`Crew.facts`), as the pod has them: where the job is known with others, or without, what is
            known of it is behind, or is of another one.
    """

    job: str
    task: str
    index: int | None
    uid: str = ""
    owned: bool = False
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Members:
    """How pods are known as a kind's, and what the kind promises them.

    Attributes:
        selector: the LabelSelector of the pods that the operator makes.
        claim: reads whose a pod says it is; None where it says nothing.
        labels: the labels that all pods of one job carry, each a pattern of `job` and `namespace`; none where the
            operator sets none that tell the job, and pods get ours.
        contract: gives the variables that the kind promises to a pod.
        corrects: the names of those that the operator sets wrong at times.
        facts: gives what the contract needs of a job beside the neutral words.
        provides: the plugins that the operator carries out by itself.
        own_plugins: whether jobs can ask for no other plugins than these.
        deletes_any: whether on a scale-down it deletes pods of any index, not the last ones.
    """

    selector: Mapping[str, Any]
    claim: Callable[[Mapping[str, Any]], Claim | None]
    labels: Mapping[str, str] = field(default_factory=dict)
    contract: Contract = lambda _: ()
    corrects: frozenset[str] = frozenset()
    facts: Callable[[Job[Any]], Mapping[str, str]] = lambda _: {}
    provides: frozenset[str] = frozenset()
    own_plugins: bool = False
    deletes_any: bool = False


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Return whether a valid LabelSelector selects these labels; an empty one selects all."""
    for key, value in mapping(selector.get("matchLabels")).items():
        if labels.get(key) != value:
            return False
    return all(_OPERATORS[one["operator"]](one, labels) for one in items(selector.get("matchExpressions")))


#: The operators of a LabelSelector; the API server rejects others.
_OPERATORS: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]]] = {
    "In": lambda one, labels: labels.get(one["key"]) in one["values"],
    "NotIn": lambda one, labels: labels.get(one["key"]) not in one["values"],
    "Exists": lambda one, labels: one["key"] in labels,
    "DoesNotExist": lambda one, labels: one["key"] not in labels,
}


def owners(pod: Mapping[str, Any], group: str, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the owner references of a pod to objects of a kind, of any version."""
    for _, one in objects(metadata_of(pod).get("ownerReferences")):
        if one.get("kind") == kind and str(one.get("apiVersion")).startswith(f"{group}/"):
            yield one


def index_of(text: Any) -> int | None:
    """Return the index that a label says, or None where it says none."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 9 else None


def labelled_claim(
    pod: Mapping[str, Any], *, job: str, task: str, index: Any, group: str = "", kind: str = ""
) -> Claim | None:
    """Return the owner of a pod that labels with the keys `job` and `task` name; `group` and `kind` are the job's."""
    labels = labels_of(pod)
    if not isinstance(labels.get(job), str) or not isinstance(labels.get(task), str):
        return None
    owner = next(owners(pod, group, kind), {})
    return Claim(labels[job], labels[task], index_of(index), uid=str(owner.get("uid") or ""), owned=bool(owner))


def marked_claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod is by our own labels: one that no operator has made.

    A pod of the runner names its job by uid, and has its index from Kubernetes.
    """
    labels = labels_of(pod)
    uid = labels.get(RUN_LABEL)
    index = labels.get(INDEX_LABEL, labels.get(COMPLETION_INDEX))
    claim = labelled_claim(pod, job=JOB_LABEL, task=TASK_LABEL, index=index)
    if claim is None or not isinstance(uid, str) or not uid:
        return claim
    return replace(claim, uid=uid, owned=True, facts={RUN_LABEL: uid})

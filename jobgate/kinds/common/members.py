"""How the pods of an operator's jobs tell whose they are, and what they are promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobgate.kinds.common.pod.reading import mapping
from jobgate.plugins.crew import INDEX_LABEL, JOB_LABEL, KIND_LABEL, TASK_LABEL, Contract
from webhook import Job


@dataclass(frozen=True, slots=True)
class Claim:
    """Whose a pod says it is. Anybody can write a label: what it says has to be looked up.

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
    """

    selector: Mapping[str, Any]
    claim: Callable[[Mapping[str, Any]], Claim | None]
    labels: Mapping[str, str] = field(default_factory=dict)
    contract: Contract = lambda _: ()
    corrects: frozenset[str] = frozenset()
    facts: Callable[[Job[Any]], Mapping[str, str]] = lambda _: {}
    provides: frozenset[str] = frozenset()


def labels_of(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the labels of a pod."""
    return mapping(mapping(pod.get("metadata")).get("labels"))


def owners(pod: Mapping[str, Any], group: str, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the owner references of a pod to objects of a kind, of any version."""
    references = mapping(pod.get("metadata")).get("ownerReferences")
    for one in references if isinstance(references, list) else ():
        if isinstance(one, dict) and one.get("kind") == kind and str(one.get("apiVersion")).startswith(f"{group}/"):
            yield one


def index_of(text: Any) -> int | None:
    """Return the index that a label says, or None where it says none."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 9 else None


def marked_claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return whose a pod is by our own labels: one that no operator has made."""
    labels = labels_of(pod)
    job, task = labels.get(JOB_LABEL), labels.get(TASK_LABEL)
    if not isinstance(job, str) or not isinstance(task, str):
        return None
    return Claim(job, task, index_of(labels.get(INDEX_LABEL)))


def marked_selector(plural: str) -> Mapping[str, Any]:
    """Return the LabelSelector of the pods that our own labels give to a kind."""
    return {"matchLabels": {KIND_LABEL: plural}}

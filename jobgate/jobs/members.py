"""How the pods of an operator identify their job, and the variables that the kind guarantees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from jobgate.jobs.job import Job
from jobgate.plugins.crew import COMPLETION_INDEX, INDEX_LABEL, JOB_LABEL, RUN_LABEL, TASK_LABEL, Contract
from webhook.values import labels_of, metadata_of, objects


class Claim(Struct, frozen=True):
    """The owner that a pod claims. Anyone can write labels, so the claim must be looked up.

    Attributes:
        job: the name of the job.
        task: the name of the task, as the operator writes it.
        index: the index of the pod in the task, from 0; None if it cannot be read.
        uid: of the job, if an owner reference names it; else empty.
        owned: whether an owner reference names a job of the kind at all.
        facts: facts of the job (`Crew.facts`) that the pod contains. If the cached job has other facts, or lacks them,
            the cache is behind, or it is another job.
    """

    job: str
    task: str
    index: int | None
    uid: str = ""
    owned: bool = False
    facts: Mapping[str, str] = {}


class Members(Struct, frozen=True, kw_only=True):
    """How the pods of a kind are recognized, and the variables that the kind guarantees them.

    Attributes:
        selector: the LabelSelector of the operator's pods.
        claim: reads the claim of a pod; None if it has none.
        labels: labels of all pods of a job, as patterns of `job` and `namespace`; empty if the operator sets no labels
            that identify the job: then jobgate sets its own.
        contract: returns the variables that the kind promises to a pod.
        corrects: the names of variables that the operator sometimes sets incorrectly.
        facts: returns more values of a job that the contract needs.
        provides: the plugins that the operator implements itself.
        own_plugins: whether jobs can request no other plugins than these.
        deletes_any: whether the operator deletes pods with any index when a job is scaled down, not the last ones.
    """

    selector: Mapping[str, Any]
    claim: Callable[[Mapping[str, Any]], Claim | None]
    labels: Mapping[str, str] = {}
    contract: Contract = lambda _: ()
    corrects: frozenset[str] = frozenset()
    facts: Callable[[Job[Any]], Mapping[str, str]] = lambda _: {}
    provides: frozenset[str] = frozenset()
    own_plugins: bool = False
    deletes_any: bool = False


def owners(pod: Mapping[str, Any], group: str, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the owner references of a pod to objects of a kind, of any version."""
    for _, owner in objects(metadata_of(pod).get("ownerReferences")):
        if owner.get("kind") == kind and str(owner.get("apiVersion")).startswith(f"{group}/"):
            yield owner


def index_of(text: Any) -> int | None:
    """Return the index in a label's value, or None if it is not an index."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 9 else None


def labelled_claim(
    pod: Mapping[str, Any], *, job: str, task: str, index: Any, group: str = "", kind: str = ""
) -> Claim | None:
    """Return the claim in the labels with the keys `job` and `task`; `group` and `kind` are the job's."""
    labels = labels_of(pod)
    if not isinstance(labels.get(job), str) or not isinstance(labels.get(task), str):
        return None
    owner = next(owners(pod, group, kind), {})
    return Claim(labels[job], labels[task], index_of(index), uid=str(owner.get("uid") or ""), owned=bool(owner))


def marked_claim(pod: Mapping[str, Any]) -> Claim | None:
    """Return the claim in jobgate's own labels.

    A pod of the runner names its job by uid, and gets its index from Kubernetes.
    """
    labels = labels_of(pod)
    uid = labels.get(RUN_LABEL)
    index = labels.get(INDEX_LABEL, labels.get(COMPLETION_INDEX))
    claim = labelled_claim(pod, job=JOB_LABEL, task=TASK_LABEL, index=index)
    if claim is None or not isinstance(uid, str) or not uid:
        return claim
    return replace(claim, uid=uid, owned=True, facts={RUN_LABEL: uid})

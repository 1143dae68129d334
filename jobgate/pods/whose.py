"""Which job a pod belongs to, by its labels and owner references. It has to be looked up: anyone can write a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from jobgate.kinds.common.members import Claim, labels_of, marked_claim
from jobgate.kinds.common.pod.reading import items, mapping
from jobgate.kinds.common.wiring import members_of
from jobgate.plugins.crew import KIND_LABEL
from webhook import Kind


class ClaimedJob(NamedTuple):
    """The kind of job that a pod says it belongs to, and which one."""

    kind: Kind
    claim: Claim


def whose(pod: Mapping[str, Any], kinds: Iterable[Kind]) -> ClaimedJob | None:
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

"""Whose a pod is: what its labels and owner references say. It has to be looked up: anybody can write a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from jobgate.kinds.common.members import Claim, labels_of, marked_claim
from jobgate.kinds.common.pod.reading import items, mapping
from jobgate.kinds.common.wiring import members_of
from jobgate.plugins.crew import KIND_LABEL
from webhook import Kind


class Whose(NamedTuple):
    """The kind of job that a pod says it belongs to, and which one."""

    kind: Kind
    claim: Claim


def whose(pod: Mapping[str, Any], kinds: Iterable[Kind]) -> Whose | None:
    """Return whose a pod is, or None where it says nothing.

    What an operator has written counts before our own labels, which a template may carry: it names the job's uid.
    """
    labels = labels_of(pod)
    marked: Whose | None = None
    for kind in kinds:
        members = members_of(kind)
        if members and selects(members.selector, labels) and (claim := members.claim(pod)):
            return Whose(kind, claim)
        if labels.get(KIND_LABEL) == kind.qualified_plural and (claim := marked_claim(pod)):
            marked = Whose(kind, claim)
    return marked


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Return whether a LabelSelector, which we have written, selects these labels."""
    for key, value in mapping(selector.get("matchLabels")).items():
        if labels.get(key) != value:
            return False
    return all(_meets(one, labels) for one in items(selector.get("matchExpressions")))


def _meets(requirement: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Return whether labels meet one requirement.

    Raises:
        ValueError: the operator is none of LabelSelector's.
    """
    key, values = requirement["key"], requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case other:
            raise ValueError(f"unknown LabelSelector operator {other!r}")

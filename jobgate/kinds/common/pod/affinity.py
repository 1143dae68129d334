"""Affinity: which nodes a pod wants or needs, and which pods it wants beside it or away from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jobgate import names
from jobgate.kinds.common.pod.reading import items, mapping, metadata_of, objects, spec_of, text
from jobgate.kinds.common.pod.selectors import (
    LABEL_KEY,
    NODE_EXPRESSION,
    PREFERRED_NODE_EXPRESSION,
    SELECTOR,
    WITH_VALUES,
    match_label_keys,
)
from jobgate.kinds.common.pod.values import (
    Finding,
    ValueRule,
    family,
    fields,
    listed,
    need,
    not_empty,
    number,
    rare,
    required,
    texts,
)
from webhook.cause import Cause, Invalid, Required
from webhook.path import Path

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

#: The one field of a node that `matchFields` knows.
NODE_NAME: Final = "metadata.name"


def _node_field(field: Any, path: Path) -> Iterator[Cause]:
    """A term on a node's fields compares its name with one name.

    From `core/v1` validation, `ValidateNodeFieldSelectorRequirement`.
    """
    operator, key, values = field.get("operator"), field.get("key"), items(field.get("values"))
    if operator in WITH_VALUES:
        if len(values) != 1:
            yield Required(path / "values", "must have exactly one value in matchFields")
    elif operator is not None:
        yield Invalid(path / "operator", operator, "must be In or NotIn in matchFields")
    if key == NODE_NAME:
        for index, value in enumerate(values):
            if fault := names.dns_subdomain(text(value)):
                yield Invalid(path / "values" / index, value, fault)
    elif key is not None:
        yield Invalid(path / "key", key, f"must be {NODE_NAME}, the only supported node field")


def _keys_of_terms(pod: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """The label keys of the terms on pods are well-formed; they depend on the labels of the pod itself."""
    labels = mapping(metadata_of(pod).get("labels"))
    for name in ("podAffinity", "podAntiAffinity"):
        affinity = mapping(mapping(spec_of(pod).get("affinity")).get(name))
        here = path / "spec" / "affinity" / name
        for index, term in objects(affinity.get(REQUIRED)):
            yield from match_label_keys(term, labels, here / REQUIRED / index)
        for index, preferred in objects(affinity.get(PREFERRED)):
            term = mapping(preferred.get("podAffinityTerm"))
            yield from match_label_keys(term, labels, here / PREFERRED / index / "podAffinityTerm")


def _terms(expression: ValueRule) -> ValueRule:
    return fields(matchExpressions=listed(expression), matchFields=listed(fields(_node_field)))


def _affinity(required_: ValueRule, preferred: ValueRule, term: str) -> ValueRule:
    weighted = fields(weight=required(number(1, 100)), **{term: required(preferred)})
    return fields(**{REQUIRED: required_, PREFERRED: listed(weighted)})


#: A required selector has at least one term (`core/v1` validation, `ValidateNodeSelector`).
_NODE_SELECTOR: Final = fields(nodeSelectorTerms=need(listed(_terms(NODE_EXPRESSION)), "must have at least one term"))
#: From `core/v1` validation, `validatePodAffinityTerm`.
_POD_TERM: Final = fields(
    labelSelector=SELECTOR,
    namespaceSelector=rare(SELECTOR),
    namespaces=rare(texts(names.dns_label)),
    topologyKey=not_empty("must be the key of the node label that defines the topology", LABEL_KEY),
)
_PODS: Final = _affinity(listed(_POD_TERM), _POD_TERM, "podAffinityTerm")

FAMILY = family(
    _keys_of_terms,
    spec={
        "affinity": fields(
            nodeAffinity=_affinity(_NODE_SELECTOR, _terms(PREFERRED_NODE_EXPRESSION), "preference"),
            podAffinity=_PODS,
            podAntiAffinity=_PODS,
        )
    },
)

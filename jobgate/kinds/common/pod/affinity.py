"""Affinity: which nodes a pod wants or needs, and which pods it wants beside it or away from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from jobgate import names
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import items, mapping, metadata_of, objects, spec_of, text, whole
from jobgate.kinds.common.pod.selectors import (
    WITH_VALUES,
    WITHOUT_VALUES,
    PlainExpression,
    PlainSelector,
    label_key,
    label_keys,
    label_selector,
    label_values,
    merged_keys,
)
from jobgate.kinds.common.pod.shapes import Plain, QualifiedName
from webhook.cause import Cause, Forbidden, Invalid, Notice, Required
from webhook.path import Path

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

#: Operators that compare a node's label with one whole number.
COMPARING: Final = ("Gt", "Lt")

#: How much a preference weighs at most.
WEIGHT_LIMIT: Final = 100
_Weight: TypeAlias = Annotated[int, Meta(ge=1, le=WEIGHT_LIMIT)]

#: The one field of a node that `matchFields` knows.
NODE_NAME: Final = "metadata.name"


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the pod's affinity to nodes, to pods, and away from pods."""
    affinity = mapping(spec_of(pod).get("affinity"))
    if not affinity:
        return
    path = path / "spec" / "affinity"
    if node := affinity.get("nodeAffinity"):
        yield from _node_affinity(mapping(node), path / "nodeAffinity")
    labels = mapping(metadata_of(pod).get("labels"))
    for field in ("podAffinity", "podAntiAffinity"):
        if affinity.get(field):
            yield from _pod_affinity(mapping(affinity[field]), labels, path / field)


def _node_affinity(affinity: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    required = affinity.get(REQUIRED)
    if isinstance(required, dict):
        yield from _node_selector(required, path / REQUIRED)
    for index, preferred in objects(affinity.get(PREFERRED)):
        item = path / PREFERRED / index
        yield from _weight(preferred.get("weight"), item / "weight")
        # A preferred value that no label can have merely never matches, and Kubernetes lets it be.
        yield from _node_term(mapping(preferred.get("preference")), item / "preference", any_value=True)


def _node_selector(selector: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """A required selector has at least one term.

    From `core/v1` validation, `ValidateNodeSelector`.
    """
    terms = selector.get("nodeSelectorTerms")
    if terms == []:
        yield Required(path / "nodeSelectorTerms", "must have at least one term")
    for index, term in objects(terms):
        yield from _node_term(term, path / "nodeSelectorTerms" / index, any_value=False)


def _node_term(term: Mapping[str, Any], path: Path, *, any_value: bool) -> Iterator[Cause]:
    for index, expression in objects(term.get("matchExpressions")):
        yield from _node_expression(expression, path / "matchExpressions" / index, any_value=any_value)
    for index, field in objects(term.get("matchFields")):
        yield from _node_field(field, path / "matchFields" / index)


def _node_expression(expression: Mapping[str, Any], path: Path, *, any_value: bool) -> Iterator[Cause]:
    """The operator is known and has the values that it needs; key and values have the formats of labels.

    From `core/v1` validation, `ValidateNodeSelectorRequirement`.
    """
    operator, values = expression.get("operator"), items(expression.get("values"))
    if operator in WITH_VALUES:
        if not values:
            yield Required(path / "values", "must have at least one value when the operator is In or NotIn")
    elif operator in WITHOUT_VALUES:
        if values:
            yield Forbidden(path / "values", "may not be set when the operator is Exists or DoesNotExist")
    elif operator in COMPARING:
        if len(values) != 1:
            yield Required(path / "values", "must have exactly one value when the operator is Gt or Lt")
    elif operator is not None:
        yield Invalid(path / "operator", operator, "must be In, NotIn, Exists, DoesNotExist, Gt or Lt")
    yield from label_key(expression.get("key"), path / "key")
    if not any_value:
        yield from label_values(values, path / "values")


def _node_field(field: Mapping[str, Any], path: Path) -> Iterator[Cause]:
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


def _pod_affinity(affinity: Mapping[str, Any], labels: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    for index, term in objects(affinity.get(REQUIRED)):
        yield from _pod_term(term, labels, path / REQUIRED / index)
    for index, preferred in objects(affinity.get(PREFERRED)):
        item = path / PREFERRED / index
        yield from _weight(preferred.get("weight"), item / "weight")
        yield from _pod_term(mapping(preferred.get("podAffinityTerm")), labels, item / "podAffinityTerm")


def _pod_term(term: Mapping[str, Any], labels: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Selectors, namespaces, label keys and the topology key are well-formed.

    From `core/v1` validation, `validatePodAffinityTerm`.
    """
    selector = term.get("labelSelector")
    yield from label_selector(selector, path / "labelSelector")
    yield from label_selector(term.get("namespaceSelector"), path / "namespaceSelector")
    for index, namespace in enumerate(items(term.get("namespaces"))):
        if fault := names.dns_label(text(namespace)):
            yield Invalid(path / "namespaces" / index, namespace, fault)
    if term.get("matchLabelKeys") or term.get("mismatchLabelKeys"):
        match, mismatch = term.get("matchLabelKeys"), term.get("mismatchLabelKeys")
        yield from label_keys(match, path / "matchLabelKeys", selector=selector)
        yield from label_keys(mismatch, path / "mismatchLabelKeys", selector=selector)
        yield from merged_keys(selector, match, mismatch, labels, path)
    topology_key = term.get("topologyKey")
    if topology_key == "":
        yield Required(path / "topologyKey", "must be the key of the node label that defines the topology")
    else:
        yield from label_key(topology_key, path / "topologyKey")


def _weight(weight: Any, path: Path) -> Iterator[Cause]:
    """A preference weighs 1 to 100."""
    number = whole(weight)
    if number is not None and not 1 <= number <= WEIGHT_LIMIT:
        yield Invalid(path, weight, f"must be between 1 and {WEIGHT_LIMIT}")


class _NodeTerm(Plain):
    match_expressions: list[PlainExpression] = msgspec.field(default_factory=list)


class _NodeSelector(Plain):
    node_selector_terms: Annotated[list[_NodeTerm], Meta(min_length=1)]


class _PreferredNode(Plain):
    weight: _Weight
    preference: _NodeTerm


class _NodeAffinity(Plain):
    required: _NodeSelector | UnsetType = msgspec.field(name=REQUIRED, default=UNSET)
    preferred: list[_PreferredNode] = msgspec.field(name=PREFERRED, default_factory=list)


class _PodTerm(Plain):
    topology_key: QualifiedName
    label_selector: PlainSelector | UnsetType = UNSET


class _PreferredPod(Plain):
    weight: _Weight
    pod_affinity_term: _PodTerm


class _PodAffinity(Plain):
    required: list[_PodTerm] = msgspec.field(name=REQUIRED, default_factory=list)
    preferred: list[_PreferredPod] = msgspec.field(name=PREFERRED, default_factory=list)


class _Affinity(Plain):
    node_affinity: _NodeAffinity | UnsetType = UNSET
    pod_affinity: _PodAffinity | UnsetType = UNSET
    pod_anti_affinity: _PodAffinity | UnsetType = UNSET


FAMILY = Family(check=check, spec={"affinity": _Affinity})

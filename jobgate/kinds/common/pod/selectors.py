"""Selectors by label: of nodes (`nodeSelector`) and, as parts of other fields, of pods and namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import field

from jobgate import names
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import items, mapping, objects, spec_of, text
from jobgate.kinds.common.pod.shapes import Labels, LabelValue, Plain, QualifiedName
from webhook.cause import Cause, Forbidden, Invalid, Notice, Required
from webhook.path import Path

#: Operators of a label selector's expression: those that need values, and those that may have none.
WITH_VALUES: Final = ("In", "NotIn")
WITHOUT_VALUES: Final = ("Exists", "DoesNotExist")


class PlainExpression(Plain):
    """The plain shape of an expression on labels, of nodes or of pods."""

    key: QualifiedName
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[LabelValue] = field(default_factory=list)

    def __post_init__(self) -> None:
        if bool(self.values) != (self.operator in WITH_VALUES):
            raise ValueError("an operator without its values, or with too many")


class PlainSelector(Plain):
    """The plain shape of a label selector."""

    match_labels: Labels = field(default_factory=dict)
    match_expressions: list[PlainExpression] = field(default_factory=list)


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the pod's own selector of nodes."""
    if selector := spec_of(pod).get("nodeSelector"):
        yield from labels(selector, path / "spec" / "nodeSelector")


def labels(pairs: Any, path: Path) -> Iterator[Cause]:
    """Keys and values have the formats of labels.

    From `k8s.io/apimachinery/pkg/apis/meta/v1/validation`, `ValidateLabels`.
    """
    for key, value in mapping(pairs).items():
        if fault := names.qualified_name(key):
            yield Invalid(path, key, fault)
        if fault := names.label_value(text(value)):
            yield Invalid(path.key(key), value, fault)


def label_selector(selector: Any, path: Path) -> Iterator[Cause]:
    """Check a label selector, its pairs and its expressions.

    From `k8s.io/apimachinery/pkg/apis/meta/v1/validation`, `ValidateLabelSelector`.
    """
    if not isinstance(selector, dict):
        return
    if pairs := selector.get("matchLabels"):
        yield from labels(pairs, path / "matchLabels")
    for index, expression in objects(selector.get("matchExpressions")):
        yield from _expression(expression, path / "matchExpressions" / index)


def _expression(expression: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    operator, values = expression.get("operator"), items(expression.get("values"))
    if operator in WITH_VALUES:
        if not values:
            yield Required(path / "values", "must have at least one value when the operator is In or NotIn")
    elif operator in WITHOUT_VALUES:
        if values:
            yield Forbidden(path / "values", "may not be set when the operator is Exists or DoesNotExist")
    elif operator is not None:
        yield Invalid(path / "operator", operator, "must be In, NotIn, Exists or DoesNotExist")
    yield from label_key(expression.get("key"), path / "key")
    yield from label_values(values, path / "values")


def label_key(key: Any, path: Path) -> Iterator[Cause]:
    """Check the key of a label where one is given."""
    if isinstance(key, str) and (fault := names.qualified_name(key)):
        yield Invalid(path, key, fault)


def label_values(values: Any, path: Path) -> Iterator[Cause]:
    """Check the values that a label may have."""
    for index, value in enumerate(items(values)):
        if fault := names.label_value(text(value)):
            yield Invalid(path / index, value, fault)


def label_keys(keys: Any, path: Path, *, selector: Any) -> Iterator[Cause]:
    """Check `matchLabelKeys` or `mismatchLabelKeys`: keys of labels, beside a label selector that they add to.

    From `core/v1` validation, `validateLabelKeys`.
    """
    if not items(keys):
        return
    if not isinstance(selector, dict):
        yield Forbidden(path, "may not be set without labelSelector")
        return
    for index, key in enumerate(items(keys)):
        yield from label_key(text(key), path / index)


def merged_keys(selector: Any, match: Any, mismatch: Any, pod_labels: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """No key of `matchLabelKeys` is told twice by the selector.

    On CREATE the API server turns each key that the pod has a label of into an expression of the selector, and only
    then looks for expressions that repeat what the selector says already. So the rule depends on the pod's labels.
    From `core/v1` validation, `ValidateMatchLabelKeysAndMismatchLabelKeys`, and the pod strategy's merging.
    """
    places = {key: index for index, key in enumerate(items(match)) if isinstance(key, str)}
    if not places:
        return
    if isinstance(selector, dict):
        told = set(mapping(selector.get("matchLabels")))
        expressions = [text(expression.get("key")) for _, expression in objects(selector.get("matchExpressions"))]
        merged = [key for key in (*items(match), *items(mismatch)) if isinstance(key, str) and key in pod_labels]
        reported = set()
        for key in (*expressions, *merged):
            if key in places and key in told and key not in reported:
                reported.add(key)
                yield Invalid(
                    path / "matchLabelKeys" / places[key],
                    key,
                    "labelSelector or another key already selects on this label: list it once",
                )
            told.add(key)
    other = {key for key in items(mismatch) if isinstance(key, str)}
    for key, index in places.items():
        if key in other:
            yield Invalid(path / "matchLabelKeys" / index, key, "may not also be listed in mismatchLabelKeys")


FAMILY = Family(check=check, spec={"nodeSelector": Labels})

"""Selectors by label: of nodes (`nodeSelector`) and, as parts of other fields, of pods and namespaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from jobgate import names
from jobgate.kinds.common.pod.reading import items, mapping, objects, text
from jobgate.kinds.common.pod.shapes import Labels, LabelValue, QualifiedName
from jobgate.kinds.common.pod.values import (
    Finding,
    ValueRule,
    anything,
    family,
    fields,
    formatted,
    listed,
    required,
    texts,
)
from webhook.cause import Cause, Forbidden, Invalid, Required
from webhook.path import Path

#: Operators of an expression: those that need values, those that may have none, and, of nodes, those that compare.
WITH_VALUES: Final = ("In", "NotIn")
WITHOUT_VALUES: Final = ("Exists", "DoesNotExist")
COMPARING: Final = ("Gt", "Lt")

LABEL_KEY: Final = formatted(names.qualified_name, QualifiedName, empty=True)


def _labels(pairs: Any, path: Path) -> Iterator[Cause]:
    """Keys and values have the formats of labels.

    From `k8s.io/apimachinery/pkg/apis/meta/v1/validation`, `ValidateLabels`.
    """
    for key, value in mapping(pairs).items():
        if fault := names.qualified_name(key):
            yield Invalid(path, key, fault)
        if fault := names.label_value(text(value)):
            yield Invalid(path.key(key), value, fault)


def _expression(values: ValueRule, *, of_nodes: bool = False) -> ValueRule:
    """Return the rule of an expression: its operator is known, and has the values that it needs.

    From `ValidateLabelSelector` of `meta/v1`, and `ValidateNodeSelectorRequirement` of `core/v1` validation.
    """
    known = "In, NotIn, Exists, DoesNotExist, Gt or Lt" if of_nodes else "In, NotIn, Exists or DoesNotExist"

    def check(expression: Any, path: Path) -> Iterator[Finding]:
        operator, count = expression.get("operator"), len(items(expression.get("values")))
        if operator in WITH_VALUES:
            if not count:
                yield Required(path / "values", "must have at least one value when the operator is In or NotIn")
        elif operator in WITHOUT_VALUES:
            if count:
                yield Forbidden(path / "values", "may not be set when the operator is Exists or DoesNotExist")
        elif of_nodes and operator in COMPARING:
            if count != 1:
                yield Required(path / "values", "must have exactly one value when the operator is Gt or Lt")
        elif operator is not None:
            yield Invalid(path / "operator", operator, f"must be {known}")

    return fields(
        check,
        lambda plain: bool(plain.values) == (plain.operator in WITH_VALUES),
        operator=required(anything(Literal["In", "NotIn", "Exists", "DoesNotExist"])),
        key=required(LABEL_KEY),
        values=values,
    )


LABELS: Final = ValueRule(_labels, Labels)
_VALUES: Final = texts(names.label_value, LabelValue)
SELECTOR: Final = fields(matchLabels=LABELS, matchExpressions=listed(_expression(_VALUES)))
NODE_EXPRESSION: Final = _expression(_VALUES, of_nodes=True)
#: A preferred value that no label can have merely never matches, and Kubernetes lets it be.
PREFERRED_NODE_EXPRESSION: Final = _expression(anything(list[LabelValue]), of_nodes=True)


def match_label_keys(owner: Mapping[str, Any], pod_labels: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """Check `matchLabelKeys` and `mismatchLabelKeys`: keys of labels that add to a label selector, each once.

    On CREATE the API server turns each key that the pod has a label of into an expression of the selector, and only
    then looks for expressions that repeat what the selector says already. From `core/v1` validation,
    `validateLabelKeys`, `ValidateMatchLabelKeysAndMismatchLabelKeys`, and the pod strategy's merging.
    """
    selector = owner.get("labelSelector")
    match, mismatch = (items(owner.get(field)) for field in ("matchLabelKeys", "mismatchLabelKeys"))
    for field, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and not isinstance(selector, dict):
            yield Forbidden(path / field, "may not be set without labelSelector")
        for index, key in enumerate(keys if isinstance(selector, dict) else ()):
            yield from LABEL_KEY.check(text(key), path / field / index)
    expressions = objects(mapping(selector).get("matchExpressions"))
    selected = Counter([*mapping(mapping(selector).get("matchLabels"))])
    selected.update(text(expression.get("key")) for _, expression in expressions)
    selected.update(key for key in match if isinstance(key, str) and key in pod_labels)
    for key, index in {key: index for index, key in enumerate(match) if isinstance(key, str)}.items():
        if selected[key] > 1:
            detail = "labelSelector or another key already selects on this label: list it once"
            yield Invalid(path / "matchLabelKeys" / index, key, detail)
        if key in mismatch:
            yield Invalid(path / "matchLabelKeys" / index, key, "may not also be listed in mismatchLabelKeys")


FAMILY = family(spec={"nodeSelector": LABELS})

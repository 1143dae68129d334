"""Tolerations: the taints of a node that a pod tolerates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

from msgspec import UNSET

from jobgate import names
from jobgate.kinds.common.pod.reading import text
from jobgate.kinds.common.pod.shapes import LARGE, LabelValue, QualifiedName
from jobgate.kinds.common.pod.values import anything, family, fields, formatted, listed, one_of, required
from webhook.cause import Cause, Invalid
from webhook.path import Path

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")

#: The operators that every cluster takes; Lt and Gt are behind a feature gate that is off
#: (`TaintTolerationComparisonOperators`).
OPERATORS: Final = ("Equal", "Exists")


def _agreement(toleration: Any, path: Path) -> Iterator[Cause]:
    """Without a key, every taint is tolerated; Exists takes no value; only an eviction can be put off."""
    operator, value = text(toleration.get("operator")), text(toleration.get("value"))
    effect = text(toleration.get("effect"))
    if not text(toleration.get("key")) and operator != "Exists":
        yield Invalid(path / "operator", operator, "must be Exists when key is empty, which matches all taints")
    if operator in {"", "Equal"}:
        if fault := names.label_value(value):
            yield Invalid(path / "value", value, fault)
    elif operator == "Exists" and value:
        yield Invalid(path / "value", value, "must be empty when the operator is Exists")
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield Invalid(path / "effect", effect, "must be NoExecute when tolerationSeconds is set")


def _agrees(plain: Any) -> bool:
    contradicts = plain.value and plain.operator == "Exists"
    return not contradicts and (plain.tolerationSeconds is UNSET or plain.effect == "NoExecute")


#: From `core/v1` validation, `ValidateTolerations`.
TOLERATIONS: Final = listed(
    fields(
        _agreement,
        _agrees,
        key=required(formatted(names.qualified_name, QualifiedName)),
        operator=one_of(OPERATORS),
        value=anything(LabelValue),
        effect=one_of(EFFECTS),
        tolerationSeconds=anything(Annotated[int, LARGE]),
    )
)
FAMILY = family(spec={"tolerations": TOLERATIONS})

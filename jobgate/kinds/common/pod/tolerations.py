"""Tolerations: the taints of a node that a pod puts up with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import UNSET, UnsetType

from jobgate import names
from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import objects, spec_of, text
from jobgate.kinds.common.pod.shapes import LARGE, LabelValue, Plain, QualifiedName
from webhook.cause import Cause, Invalid, Notice, NotSupported
from webhook.path import Path

Effect: TypeAlias = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
EFFECTS: Final = get_args(Effect)

#: The operators that every cluster takes; Lt and Gt are behind a feature gate that is off
#: (`TaintTolerationComparisonOperators`).
Operator: TypeAlias = Literal["Equal", "Exists"]
OPERATORS: Final = get_args(Operator)


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the pod's tolerations."""
    if tolerations := spec_of(pod).get("tolerations"):
        yield from each(tolerations, path / "spec" / "tolerations")


def each(tolerations: Any, path: Path) -> Iterator[Cause]:
    """Check every toleration of a list.

    From `core/v1` validation, `ValidateTolerations`.
    """
    for index, toleration in objects(tolerations):
        item = path / index
        yield from _key(toleration, item)
        yield from _operator_and_value(toleration, item)
        yield from _effect(toleration, item)


def _key(toleration: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The key is a label's; without one, the toleration is of every taint, and its operator says so."""
    key = text(toleration.get("key"))
    if key:
        if fault := names.qualified_name(key):
            yield Invalid(path / "key", key, fault)
    elif toleration.get("operator") != "Exists":
        yield Invalid(
            path / "operator",
            text(toleration.get("operator")),
            "must be Exists when key is empty, which matches all taints",
        )


def _operator_and_value(toleration: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Equal, which is the default, compares a value; Exists takes none."""
    operator, value = text(toleration.get("operator")), text(toleration.get("value"))
    if operator in {"", "Equal"}:
        if fault := names.label_value(value):
            yield Invalid(path / "value", value, fault)
    elif operator == "Exists":
        if value:
            yield Invalid(path / "value", value, "must be empty when the operator is Exists")
    else:
        yield NotSupported(path / "operator", operator, OPERATORS)


def _effect(toleration: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The effect is known or empty, which is all; and only eviction can be put off."""
    effect = text(toleration.get("effect"))
    if effect and effect not in EFFECTS:
        yield NotSupported(path / "effect", effect, EFFECTS)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield Invalid(path / "effect", effect, "must be NoExecute when tolerationSeconds is set")


class _Toleration(Plain):
    key: QualifiedName
    operator: Operator = "Equal"
    value: LabelValue = ""
    effect: Effect | UnsetType = UNSET
    toleration_seconds: Annotated[int, LARGE] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.value and self.operator == "Exists") or (
            self.toleration_seconds is not UNSET and self.effect != "NoExecute"
        ):
            raise ValueError("contradicts itself")


FAMILY = Family(check=check, spec={"tolerations": list[_Toleration]})

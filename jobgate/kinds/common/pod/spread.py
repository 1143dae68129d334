"""Topology spread constraints: how evenly pods are laid out over zones, nodes or other domains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from msgspec import UNSET, UnsetType

from jobgate.kinds.common.pod.family import Family
from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of, whole
from jobgate.kinds.common.pod.selectors import PlainSelector, label_keys, label_selector, merged_keys
from jobgate.kinds.common.pod.shapes import POSITIVE, Plain, Text
from webhook.cause import Cause, Duplicate, Invalid, Notice, NotSupported, Required
from webhook.path import Path

Action: TypeAlias = Literal["DoNotSchedule", "ScheduleAnyway"]
ACTIONS: Final = get_args(Action)
NODE_POLICIES: Final = ("Honor", "Ignore")


def check(pod: Mapping[str, Any], path: Path) -> Iterator[Cause | Notice]:
    """Check the pod's topology spread constraints, each and against each other.

    From `core/v1` validation, `validateTopologySpreadConstraints`.
    """
    constraints = spec_of(pod).get("topologySpreadConstraints")
    if not constraints:
        return
    path = path / "spec" / "topologySpreadConstraints"
    labels = mapping(metadata_of(pod).get("labels"))
    for index, constraint in objects(constraints):
        item = path / index
        yield from _skew(constraint, item)
        yield from _action(constraint, item)
        yield from _node_policies(constraint, item)
        yield from _selector(constraint, labels, item)
    yield from _one_of_a_kind(constraints, path)


def _skew(constraint: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Domains may differ by one pod at least, and are told by a label of nodes."""
    skew = whole(constraint.get("maxSkew"))
    if skew is not None and skew < 1:
        yield Invalid(path / "maxSkew", skew, "must be at least 1")
    if constraint.get("topologyKey") == "":
        yield Required(path / "topologyKey", "must be the key of the node label that defines the domains")


def _action(constraint: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """What to do when there is no even place is known; only DoNotSchedule can ask for a number of domains."""
    action = constraint.get("whenUnsatisfiable")
    if action is not None and action not in ACTIONS:
        yield NotSupported(path / "whenUnsatisfiable", action, ACTIONS)
    domains = whole(constraint.get("minDomains"))
    if domains is None:
        return
    if domains < 1:
        yield Invalid(path / "minDomains", domains, "must be at least 1")
    if action is not None and action != "DoNotSchedule":
        yield Invalid(path / "minDomains", domains, "may only be set when whenUnsatisfiable is DoNotSchedule")


def _node_policies(constraint: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """Whether node affinity and taints count is Honor or Ignore."""
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        policy = constraint.get(field)
        if policy is not None and policy not in NODE_POLICIES:
            yield NotSupported(path / field, policy, NODE_POLICIES)


def _selector(constraint: Mapping[str, Any], labels: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    """The pods that count are told by a well-formed selector, and each label once."""
    selector, keys = constraint.get("labelSelector"), constraint.get("matchLabelKeys")
    if selector:
        yield from label_selector(selector, path / "labelSelector")
    if keys:
        yield from label_keys(keys, path / "matchLabelKeys", selector=selector)
        yield from merged_keys(selector, keys, (), labels, path)


def _one_of_a_kind(constraints: Any, path: Path) -> Iterator[Cause]:
    """No two constraints share topology key and action.

    From `core/v1` validation, `ValidateSpreadConstraintNotRepeat`.
    """
    seen: set[tuple[str, str]] = set()
    for index, constraint in objects(constraints):
        kind = str(constraint.get("topologyKey") or ""), str(constraint.get("whenUnsatisfiable") or "")
        if kind in seen:
            yield Duplicate(
                path / index, "{" + ", ".join(kind) + "}", "must be unique by topologyKey and whenUnsatisfiable"
            )
        seen.add(kind)


class _Constraint(Plain):
    max_skew: Annotated[int, POSITIVE]
    topology_key: Text
    when_unsatisfiable: Action
    label_selector: PlainSelector | UnsetType = UNSET


def _each_is_of_its_own_kind(spec: Mapping[str, Any], _: Sequence[Mapping[str, Any]]) -> bool:
    constraints = spec.get("topologySpreadConstraints")
    return not constraints or len(
        {(constraint["topologyKey"], constraint["whenUnsatisfiable"]) for constraint in constraints}
    ) == len(constraints)


FAMILY = Family(check=check, spec={"topologySpreadConstraints": list[_Constraint]}, agree=_each_is_of_its_own_kind)

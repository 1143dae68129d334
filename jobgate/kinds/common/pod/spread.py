"""Topology spread constraints: how evenly pods are laid out over zones, nodes or other domains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jobgate.kinds.common.pod.reading import mapping, metadata_of, objects, spec_of, whole
from jobgate.kinds.common.pod.selectors import SELECTOR, match_label_keys
from jobgate.kinds.common.pod.values import (
    Finding,
    family,
    fields,
    listed,
    not_empty,
    number,
    one_of,
    rare,
    required,
)
from webhook.cause import Duplicate, Invalid
from webhook.path import Path

ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
NODE_POLICIES: Final = ("Honor", "Ignore")


def _agreement(pod: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    """No two constraints share topology key and action, and only DoNotSchedule can ask for a number of domains.

    From `core/v1` validation, `validateTopologySpreadConstraints` and `ValidateSpreadConstraintNotRepeat`.
    """
    path = path / "spec" / "topologySpreadConstraints"
    labels = mapping(metadata_of(pod).get("labels"))
    seen: set[tuple[str, str]] = set()
    for index, constraint in objects(spec_of(pod).get("topologySpreadConstraints")):
        action, domains = constraint.get("whenUnsatisfiable"), whole(constraint.get("minDomains"))
        if domains is not None and action not in (None, "DoNotSchedule"):
            detail = "may only be set when whenUnsatisfiable is DoNotSchedule"
            yield Invalid(path / index / "minDomains", domains, detail)
        yield from match_label_keys(constraint, labels, path / index)
        kind = str(constraint.get("topologyKey") or ""), str(action or "")
        if kind in seen:
            detail = "must be unique by topologyKey and whenUnsatisfiable"
            yield Duplicate(path / index, "{" + ", ".join(kind) + "}", detail)
        seen.add(kind)


def _each_is_of_its_own_kind(spec: Mapping[str, Any], _: Sequence[Mapping[str, Any]]) -> bool:
    constraints = spec.get("topologySpreadConstraints")
    return not constraints or len(
        {(constraint["topologyKey"], constraint["whenUnsatisfiable"]) for constraint in constraints}
    ) == len(constraints)


_CONSTRAINT: Final = fields(
    maxSkew=required(number(1)),
    topologyKey=not_empty("must be the key of the node label that defines the domains"),
    whenUnsatisfiable=required(one_of(ACTIONS, empty=True)),
    minDomains=rare(number(1)),
    nodeAffinityPolicy=rare(one_of(NODE_POLICIES, empty=True)),
    nodeTaintsPolicy=rare(one_of(NODE_POLICIES, empty=True)),
    labelSelector=SELECTOR,
)
FAMILY = family(_agreement, spec={"topologySpreadConstraints": listed(_CONSTRAINT)}, agree=_each_is_of_its_own_kind)

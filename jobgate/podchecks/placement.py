"""The placement of pods: node selectors, affinity, tolerations and topology spread constraints.

The rules are those of `core/v1` validation of Kubernetes (`ValidateNodeSelector`, `validatePodAffinityTerm`,
`ValidateTolerations`, `validateTopologySpreadConstraints`), and of `ValidateLabelSelector` of `meta/v1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET

from jobgate import names
from jobgate.podchecks.shapes import LARGE, Labels, LabelValue, QualifiedName
from jobgate.podchecks.values import (
    ValueRule,
    agreed,
    anything,
    family,
    fields,
    formatted,
    listed,
    need,
    not_empty,
    number,
    one_of,
    rare,
    required,
    texts,
)
from webhook.cause import Cause, Duplicate, Forbidden, Invalid, Notice, Required
from webhook.path import Path
from webhook.values import items, mapping, objects, text, whole

#: Operators of an expression: those that need values, those that forbid values, and, for nodes, comparisons.
WITH_VALUES: Final = ("In", "NotIn")
WITHOUT_VALUES: Final = ("Exists", "DoesNotExist")
COMPARING: Final = ("Gt", "Lt")

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"

LABEL_KEY: Final = formatted(names.qualified_name, QualifiedName, empty=True)


def _labels(pairs: Any, path: Path) -> Iterator[Cause]:
    """Keys and values have the formats of labels (`ValidateLabels` of `meta/v1`)."""
    for key, value in mapping(pairs).items():
        if fault := names.qualified_name(key):
            yield Invalid(path, key, fault)
        if fault := names.label_value(text(value)):
            yield Invalid(path.key(key), value, fault)


def _expression(values: ValueRule, *, of_nodes: bool = False) -> ValueRule:
    """Return the rule for an expression: its operator is known, and has the right number of values."""
    known = "In, NotIn, Exists, DoesNotExist, Gt or Lt" if of_nodes else "In, NotIn, Exists or DoesNotExist"

    def check(expression: Any, path: Path) -> Iterator[Notice]:
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
_NODE_EXPRESSION: Final = _expression(_VALUES, of_nodes=True)
#: Kubernetes accepts an invalid value in a preference: it just never matches.
_PREFERRED_NODE_EXPRESSION: Final = _expression(anything(list[LabelValue]), of_nodes=True)


def _label_keys(owner: Any, path: Path) -> Iterator[Notice]:
    """Check `matchLabelKeys` and `mismatchLabelKeys`: keys of labels that extend a label selector."""
    match, mismatch = (items(owner.get(field)) for field in ("matchLabelKeys", "mismatchLabelKeys"))
    for field, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and not isinstance(owner.get("labelSelector"), dict):
            yield Forbidden(path / field, "may not be set without labelSelector")
            continue
        for index, key in enumerate(keys):
            yield from LABEL_KEY.check(text(key), path / field / index)
            if field == "matchLabelKeys" and key in mismatch:
                yield Invalid(path / field / index, key, "may not also be listed in mismatchLabelKeys")


def _terms(expression: ValueRule) -> ValueRule:
    return fields(matchExpressions=listed(expression))


def _affinity(required_: ValueRule, preferred: ValueRule, term: str) -> ValueRule:
    weighted = fields(weight=required(number(1, 100)), **{term: required(preferred)})
    return fields(**{REQUIRED: required_, PREFERRED: listed(weighted)})


_NODE_SELECTOR: Final = fields(nodeSelectorTerms=need(listed(_terms(_NODE_EXPRESSION)), "must have at least one term"))
_POD_TERM: Final = fields(
    _label_keys,
    agreed,
    labelSelector=SELECTOR,
    namespaceSelector=rare(SELECTOR),
    namespaces=rare(texts(names.dns_label)),
    topologyKey=not_empty("must be the key of the node label that defines the topology", LABEL_KEY),
)
_PODS: Final = _affinity(listed(_POD_TERM), _POD_TERM, "podAffinityTerm")
_AFFINITY: Final = fields(
    nodeAffinity=_affinity(_NODE_SELECTOR, _terms(_PREFERRED_NODE_EXPRESSION), "preference"),
    podAffinity=_PODS,
    podAntiAffinity=_PODS,
)


def _toleration(toleration: Any, path: Path) -> Iterator[Cause]:
    """Without a key the operator is Exists; Exists takes no value; only NoExecute can be delayed."""
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


def _toleration_agrees(plain: Any) -> bool:
    contradicts = plain.value and plain.operator == "Exists"
    return not contradicts and (plain.tolerationSeconds is UNSET or plain.effect == "NoExecute")


_TOLERATION: Final = fields(
    _toleration,
    _toleration_agrees,
    key=required(formatted(names.qualified_name, QualifiedName)),
    # Lt and Gt are behind a feature gate that is off (`TaintTolerationComparisonOperators`).
    operator=one_of(("Equal", "Exists")),
    value=anything(LabelValue),
    effect=one_of(("NoSchedule", "PreferNoSchedule", "NoExecute")),
    tolerationSeconds=anything(Annotated[int, LARGE]),
)


def _constraint(constraint: Any, path: Path) -> Iterator[Notice]:
    """Only DoNotSchedule can require a number of domains."""
    action, domains = constraint.get("whenUnsatisfiable"), whole(constraint.get("minDomains"))
    if domains is not None and action not in (None, "DoNotSchedule"):
        yield Invalid(path / "minDomains", domains, "may only be set when whenUnsatisfiable is DoNotSchedule")
    yield from _label_keys(constraint, path)


def _constraints_differ(constraints: Any, path: Path) -> Iterator[Cause]:
    """No two constraints share topology key and action."""
    seen: set[tuple[str, str]] = set()
    for index, constraint in objects(constraints):
        identity = text(constraint.get("topologyKey")), text(constraint.get("whenUnsatisfiable"))
        if identity in seen:
            detail = "must be unique by topologyKey and whenUnsatisfiable"
            yield Duplicate(path / index, "{" + ", ".join(identity) + "}", detail)
        seen.add(identity)


_POLICY: Final = rare(one_of(("Honor", "Ignore"), empty=True))
_CONSTRAINT: Final = fields(
    _constraint,
    agreed,
    maxSkew=required(number(1)),
    topologyKey=not_empty("must be the key of the node label that defines the domains"),
    whenUnsatisfiable=required(one_of(("DoNotSchedule", "ScheduleAnyway"), empty=True)),
    minDomains=rare(number(1)),
    nodeAffinityPolicy=_POLICY,
    nodeTaintsPolicy=_POLICY,
    labelSelector=SELECTOR,
)


def _plain_constraints_differ(spec: Mapping[str, Any], _: Sequence[Mapping[str, Any]]) -> bool:
    constraints = spec["topologySpreadConstraints"]
    return len({(each["topologyKey"], each["whenUnsatisfiable"]) for each in constraints}) == len(constraints)


FAMILY = family(
    spec={
        "nodeSelector": LABELS,
        "affinity": _AFFINITY,
        "tolerations": listed(_TOLERATION),
        "topologySpreadConstraints": listed(_CONSTRAINT, _constraints_differ, agreed=True),
    },
    agree=_plain_constraints_differ,
    agree_on="topologySpreadConstraints",
)

"""The rule for the estimated cost of CEL rules."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from crdgen import cel
from crdgen.cel.cost import LIMIT, LIMIT_OF_ALL, UNKNOWN, Estimate, estimate, most_in_a_request
from crdgen.lint.node import Node
from crdgen.lint.rule import Problem, warning
from crdgen.lint.validations import expressions

# The parts of the limits from which on there is a warning: the estimate is rough, and a small change multiplies it.
_NEAR: Final = 0.1
_NEAR_OF_ALL: Final = 0.5
# How many rules are named of those that are too many.
_NAMED: Final = 4

_ALLOWED: Final = "what the API server allows"
# What to do about sizes that no schema bounds.
_COMPUTED: Final = "walk the field itself, which has a bound, and write !(a == b) in place of a != b"


class _RuleCost(NamedTuple):
    """An expression: where it is, its keyword, its estimate, and what it costs as often as it may be evaluated."""

    node: Node
    path: str
    keyword: str
    estimate: Estimate
    cost: int


@warning("apiextensions validation.go, StaticEstimatedCostLimit; cel-go, checker/cost.go")
def rules_are_cheap(root: Node) -> Iterator[Problem]:
    """The API server rejects CEL rules whose estimated cost is too high; fields without a bound count as huge."""
    if not root.is_root:
        return
    costs = [each for node in _unbranched(root) for each in _costs(root, node)]
    for each in costs:
        if each.cost >= LIMIT * _NEAR:
            problem = f"the {each.keyword} is estimated to cost {_share(each.cost, LIMIT)} {_ALLOWED}"
            yield Problem(each.path, problem, _fix(each))
    affordable = [each for each in costs if each.cost <= LIMIT]
    total = sum(each.cost for each in affordable)
    if total >= LIMIT_OF_ALL * _NEAR_OF_ALL:
        dearest = sorted(affordable, key=lambda each: -each.cost)[:_NAMED]
        problem = f"all rules together are estimated to cost {_share(total, LIMIT_OF_ALL)} {_ALLOWED}"
        fix = f"bound what they walk, the most expensive first: {', '.join(each.path for each in dearest)}"
        yield Problem("", problem, fix)


def _unbranched(node: Node) -> Iterator[Node]:
    """Yield the node and those below it, without branches, in which no rules are."""
    yield node
    for child in node.children:
        if not child.branch:
            yield from _unbranched(child)


def _costs(root: Node, node: Node) -> Iterator[_RuleCost]:
    for path, rule, expression, message in expressions(node):
        optional = rule.get("optionalOldSelf") is True
        for keyword, text in (("rule", expression), ("messageExpression", message)):
            try:
                found = cel.compiled(text, node.schema, root=node.is_resource, optional_old_self=optional)
            except (cel.CompilationError, cel.NotEvaluated):
                continue
            # A message is made for one value only: the API server does not ask how often.
            times = 1 if keyword == "messageExpression" else _times(node, most_in_a_request(found.self_type))
            price = estimate(found.tree, found.types, found.self_type)
            at = f"{node.path.removeprefix(root.path)}.{path}.{keyword}".lstrip(".")
            yield _RuleCost(node, at, keyword, price, price.cost * times)


def _times(node: Node, most: int) -> int:
    """Return how many values there may be: by the bounds around them, or as many as fit into a request.

    Source: apiextensions cel_validation.go, extractMaxElements; schema/cel/compilation.go, maxCardinality
    """
    product = 1
    for around, keyword in _around(node):
        if keyword not in around.schema:
            return most
        product *= max(0, around.schema[keyword])
    return product


def _around(node: Node) -> Iterator[tuple[Node, str]]:
    """Yield the lists and maps around a node, with the keyword that bounds each."""
    around = node.parent
    while around is not None:
        if around.type == "array":
            yield around, "maxItems"
        elif around.type == "object" and "additionalProperties" in around.schema:
            yield around, "maxProperties"
        around = around.parent


def _fix(each: _RuleCost) -> str:
    """Return which bounds to add, or else which to lower."""
    bounds = [(place.path, place.keyword, place.bounded) for place in each.estimate.places]
    if each.keyword == "rule":
        bounds += [(node.field or "the root", word, word in node.schema) for node, word in _around(each.node)]
    missing = [f"{name} {keyword}" for name, keyword, bounded in bounds if not bounded]
    if missing:
        return f"give {' and '.join(missing)}, directly and not in allOf"
    if each.estimate.cost >= UNKNOWN or not bounds:
        return _COMPUTED
    return f"lower {' and '.join(f'{keyword} of {name}' for name, keyword, _ in bounds)}, or simplify the expression"


def _share(cost: int, limit: int) -> str:
    """Return a cost as it is said before `what the API server allows`."""
    if cost > 100 * limit:
        return "more than 100 times"
    return f"about {cost / limit:.1f} times" if cost > limit else f"about {cost / limit:.0%} of".replace("%", " %")

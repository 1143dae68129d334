"""Rules for the estimated cost of CEL rules."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from crdgen import cel
from crdgen.cel.cost import LIMIT, LIMIT_OF_ALL, Estimate, estimate, most_in_a_request
from crdgen.lint.node import Node
from crdgen.lint.rule import COMPILED, Problem, error, warning
from crdgen.lint.validations import expressions

# From which part of a limit on it is worth saying. A rule grows with the bounds around it, and there are few dear ones;
# a sum of many that are cheap is more certain.
_NOTABLE: Final = 0.1
_NOTABLE_OF_ALL: Final = 0.5
# How many rules are named of those that are too many.
_NAMED: Final = 4

# What to do about sizes that nothing tells.
_COMPUTED: Final = "walk the field itself, which has a bound, and write !(a == b) in place of a != b"


class _RuleCost(NamedTuple):
    """An expression: where it is, its keyword, its estimate, and how often it may be evaluated."""

    node: Node
    at: str
    word: str
    estimate: Estimate
    times: int

    @property
    def cost(self) -> int:
        return self.estimate.cost * self.times


@error("apiextensions validation.go, StaticEstimatedCostLimit; cel-go, checker/cost.go", phase=COMPILED)
def rules_are_affordable(node: Node) -> Iterator[Problem]:
    """The API server rejects CEL rules whose estimated cost is too high; fields without a bound count as huge."""
    affordable = []
    for each in _all_costs(node) if node.is_root else ():
        if each.cost > LIMIT:
            yield Problem(_below(node, each), *_of_one(each))
        else:
            affordable.append(each)
    if sum(each.cost for each in affordable) > LIMIT_OF_ALL:
        yield Problem("", *_of_all(node, affordable))


@warning("apiextensions validation.go, StaticEstimatedCostLimit; cel-go, checker/cost.go")
def rules_are_cheap(node: Node) -> Iterator[Problem]:
    """A CEL rule close to the cost limit may be rejected after a small change, or by an older API server."""
    affordable = [each for each in _all_costs(node) if each.cost <= LIMIT] if node.is_root else []
    for each in affordable:
        if each.cost >= LIMIT * _NOTABLE or each.estimate.ranges:
            yield Problem(_below(node, each), *_of_one(each))
    if LIMIT_OF_ALL * _NOTABLE_OF_ALL <= sum(each.cost for each in affordable) <= LIMIT_OF_ALL:
        yield Problem("", *_of_all(node, affordable))


@lru_cache(maxsize=1)  # for the second of the two rules, which looks at the same schema after the first
def _all_costs(root: Node) -> tuple[_RuleCost, ...]:
    return tuple(each for below in _seen(root) for each in _costs(below))


def _seen(node: Node) -> Iterator[Node]:
    """Yield the node and those below it; what is in branches has no rules."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(child for child in reversed(current.children) if not child.branch)


def _costs(node: Node) -> Iterator[_RuleCost]:
    for path, rule, expression, message in expressions(node):
        optional = rule.get("optionalOldSelf") is True
        for word, text in (("rule", expression), ("messageExpression", message)):
            try:
                found = cel.compiled(text, node.schema, root=node.is_resource, optional_old_self=optional)
            except (cel.CompilationError, cel.NotEvaluated):
                continue
            # A message is made for one value only: the API server does not ask how often.
            times = 1 if word == "messageExpression" else _times(node, most_in_a_request(found.self_type))
            price = estimate(found.tree, found.types, found.self_type)
            yield _RuleCost(node, f"{path}.{word}", word, price, times)


def _times(node: Node, most: int) -> int:
    """Return how many values there may be: by the bounds around them, or as many as fit into a request.

    Source: apiextensions cel_validation.go, extractMaxElements; schema/cel/compilation.go, maxCardinality
    """
    product = 1
    for _, bound in _around(node):
        if bound is None:
            return most
        product *= max(0, bound)
    return product


def _around(node: Node) -> Iterator[tuple[Node, int | None]]:
    """Yield the lists and maps around a node, with their bounds."""
    around = node.parent
    while around is not None:
        if around.type == "array":
            yield around, around.schema.get("maxItems")
        elif around.type == "object" and "additionalProperties" in around.schema:
            yield around, around.schema.get("maxProperties")
        around = around.parent


def _below(root: Node, priced: _RuleCost) -> str:
    return f"{priced.node.path.removeprefix(root.path)}.{priced.at}".lstrip(".")


def _of_one(priced: _RuleCost) -> tuple[str, str]:
    """Return what is wrong with one expression, and how to fix it."""
    sources = dict.fromkeys([*priced.estimate.ranges, *priced.estimate.sources])
    around = list(_around(priced.node))[::-1] if priced.times > 1 else []
    bounds = {source.name: source.keyword for source in sources if source.keyword} | {
        _place(place): _keyword(place) for place, _ in around
    }
    endless = {source.name for source in sources if source.keyword and not source.bounded}
    repeated = {_place(place) for place, bound in around if bound is None}
    computed = [source.name for source in sources if not source.keyword]
    problem = f"the {priced.word} is estimated to cost {_share(priced.cost, LIMIT)} what the API server allows"
    if computed:
        problem += f": the API server cannot determine the size of {_and(computed)}"
    unbounded = [f"{name} {keyword}" for name, keyword in bounds.items() if name in endless | repeated]
    if unbounded:
        return f"{problem}: without a bound it counts with as many as fit into a request", (
            f"give {_and(unbounded)}, directly and not in allOf"
        )
    if computed:
        return problem, _COMPUTED
    lowered = [f"{keyword} of {name}" for name, keyword in bounds.items()]
    return problem, f"lower {_and(lowered)}, or simplify the expression" if lowered else "simplify the expression"


def _of_all(root: Node, priced: list[_RuleCost]) -> tuple[str, str]:
    """Return what is to be said of the sum; those that may not stay anyway are left out."""
    total = sum(each.cost for each in priced)
    dearest = sorted(priced, key=lambda each: -each.cost)[:_NAMED]
    named = [f"{_below(root, each)} ({_share(each.cost, total)} it)" for each in dearest]
    problem = f"all rules together are estimated to cost {_share(total, LIMIT_OF_ALL)} what the API server allows"
    return problem, f"bound what they walk, the dearest first: {', '.join(named)}"


def _share(cost: int, limit: int) -> str:
    """Return a cost as it is said before `what is allowed`."""
    if cost > 100 * limit:
        return "more than 100 times"
    if cost > limit:
        return f"about {cost / limit:.1f} times" if cost > 1.05 * limit else "a little more than"
    return f"about {cost / limit:.0%} of".replace("%", " %") if cost * 100 >= limit else "less than 1 % of"


def _place(node: Node) -> str:
    return node.field or "the root"


def _keyword(node: Node) -> str:
    return "maxItems" if node.type == "array" else "maxProperties"


def _and(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last

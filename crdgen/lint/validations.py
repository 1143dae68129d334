"""Rules for CEL validation rules, and for what they may cost."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crdgen import cel
from crdgen.cel.cost import LIMIT, LIMIT_OF_ALL, UNKNOWN, Estimate, estimate, most_in_a_request
from crdgen.cel.types import type_of
from crdgen.lint.fieldpath import PathError, resolve
from crdgen.lint.node import Node
from crdgen.lint.rule import COMPILED, Issue, error, warning
from crdgen.schema import LIST_TYPE, PRESERVE, VALIDATIONS

if TYPE_CHECKING:
    from crdgen.cel.engine import CompiledExpression

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_LINE_BREAKS: Final = frozenset("\n\r")
_BOTH: Final = ("rule", "messageExpression")
_RESULTS: Final = {"rule": ("BOOL", "true or false"), "messageExpression": ("STRING", "a text")}


class _RuleText(NamedTuple):
    """A rule or messageExpression that can be compiled, with its path and the rule that it is in."""

    path: str
    keyword: str
    text: str
    rule: Mapping[str, Any]

    def compiled(self, node: Node) -> "CompiledExpression":
        return cel.compiled(
            self.text, node.schema, root=node.is_resource, optional_old_self=self.rule.get("optionalOldSelf") is True
        )


def _expressions(node: Node, *keywords: str) -> Iterator[_RuleText]:
    """Yield the expressions with these keywords, of rules that say something."""
    for path, rule in _rules(node):
        for keyword in keywords if rule.get("rule", "").strip() else ():
            if rule.get(keyword, "").strip():
                yield _RuleText(f"{path}.{keyword}", keyword, rule[keyword], rule)


def _rules(node: Node) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, rule in enumerate(node.schema.get(VALIDATIONS, ())):
        yield f"{VALIDATIONS}[{index}]", rule


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def rule_is_complete(node: Node) -> Iterator[Issue]:
    """A CEL rule has an expression, a reason of four, and a message of one line, at least if it has several lines."""
    for path, rule in _rules(node):
        expression, message, computed = (rule.get(word, "") for word in ("rule", "message", "messageExpression"))
        if not expression.strip():
            yield Issue(f"{path}.rule", "the rule is empty", "write an expression that is true for valid values")
        if computed and not computed.strip():
            yield Issue(f"{path}.messageExpression", "the messageExpression is empty", "write it, or remove it")
        if message and not message.strip():
            yield Issue(f"{path}.message", "the message is blank", "write what is wrong, or remove it")
        elif _LINE_BREAKS & set(message.strip()):
            yield Issue(f"{path}.message", "the message has line breaks", "write it in one line")
        elif _LINE_BREAKS & set(expression.strip()) and not message:
            yield Issue(f"{path}.message", "a rule of several lines needs a message", "write what the rule wants")
        if rule.get("reason", _REASONS[0]) not in _REASONS:
            fix = f"set reason to one of {', '.join(_REASONS)}"
            yield Issue(f"{path}.reason", f"there is no reason {rule['reason']}", fix)


@error("apiextensions validation.go, pathValid; schema/cel/validation.go, ValidFieldPath", VALIDATIONS)
def field_path_leads_somewhere(node: Node) -> Iterator[Issue]:
    """The fieldPath of a CEL rule is a declared field below the rule."""
    for path, rule in _rules(node):
        blamed = rule.get("fieldPath", "")
        if not blamed:
            continue
        if not blamed.strip() or _LINE_BREAKS & set(blamed):
            yield Issue(f"{path}.fieldPath", "fieldPath must be one line that is not blank", "correct it")
            continue
        try:
            resolve(blamed, node.schema)
        except PathError as error:
            yield Issue(f"{path}.fieldPath", f"fieldPath {blamed} {error}", "write .name or ['name'] from here on")


@error("k8s.io/apiserver, pkg/cel/common/schemas.go, SchemaDeclType", VALIDATIONS)
def rule_sees_a_type(node: Node) -> Iterator[Issue]:
    """CEL rules are on typed values only."""
    if not node.branch and any(True for _ in _rules(node)) and type_of(node.schema, root=node.is_resource) is None:
        fix = "give the value a type, or write the rule for a typed field"
        yield Issue(VALIDATIONS, "CEL cannot see a value without a type", fix)


@error("schema/cel/compilation.go", VALIDATIONS, phase=COMPILED)
def rule_compiles(node: Node) -> Iterator[Issue]:
    """A CEL rule compiles to a boolean, and its messageExpression to a string."""
    for at, text, problems, _ in _compiled(node):
        for problem in problems:
            yield Issue(at, f"{text!r}: {problem}", "correct the expression")


@warning("ours; the CEL library is optional, and takes a little less than the API server", VALIDATIONS)
def rule_is_checked(node: Node) -> Iterator[Issue]:
    """Without the CEL library, CEL rules are not compiled."""
    for at, text, _, unchecked in _compiled(node):
        if unchecked:
            fix = "install it" if unchecked == cel.NOT_INSTALLED else "write the expression shorter"
            yield Issue(at, f"{text!r} was not checked: {unchecked}", fix)


def _compiled(node: Node) -> Iterator[tuple[str, str, list[str], str]]:
    """Yield each expression: where it is, what is wrong with it, and why it could not be compiled."""
    for one in _expressions(node, *_BOTH) if not node.branch else ():
        try:
            returned = one.compiled(node).returns
        except cel.CompilationError as error:
            yield one.path, one.text, error.sentences, ""
        except cel.NotEvaluated as error:
            yield one.path, one.text, [], str(error)
        else:
            kind, words = _RESULTS[one.keyword]
            wrong = [] if returned == kind else [f"it must give {words}, and gives {returned.lower()}"]
            yield one.path, one.text, wrong, ""


@error("apiextensions validation.go, forbidOldSelfValidations", VALIDATIONS)
def old_self_can_be_found(node: Node) -> Iterator[Issue]:
    """The oldSelf of a list item exists in map lists only, because other items have no identity."""
    if node.branch or not node.uncorrelated:
        return
    for one in _expressions(node, "rule"):
        if cel.uses_old_self(one.text):
            problem = f"oldSelf is unknown here: the items of {node.uncorrelated} have no keys"
            yield Issue(one.path, problem, f"write {LIST_TYPE}: map with keys, or the rule for the list itself")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def optional_old_self_is_used(node: Node) -> Iterator[Issue]:
    """The field optionalOldSelf is set only for CEL rules that use oldSelf."""
    for one in _expressions(node, "rule"):
        if "optionalOldSelf" in one.rule and not cel.uses_old_self(one.text):
            yield Issue(
                f"{one.path.removesuffix('rule')}optionalOldSelf",
                "the rule does not read oldSelf",
                "remove optionalOldSelf",
            )


@warning("k8s.io/apiserver, pkg/cel/common/schemas.go, SchemaDeclType", VALIDATIONS)
def rule_sees_declared_fields(node: Node) -> Iterator[Issue]:
    """Preserved fields are invisible to CEL: a rule on them compiles only for what is declared."""
    if (
        not node.branch
        and node.flag(PRESERVE)
        and not node.properties
        and any(True for _ in _expressions(node, "rule"))
    ):
        yield Issue(VALIDATIONS, "preserved fields are invisible to rules", "declare the fields that the rule reads")


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
def rules_are_cheap(root: Node) -> Iterator[Issue]:
    """The API server rejects CEL rules whose estimated cost is too high; fields without a bound count as huge."""
    if not root.is_root:
        return
    costs = [each for node in _unbranched(root) for each in _costs(root, node)]
    for each in costs:
        if each.cost >= LIMIT * _NEAR:
            problem = f"the {each.keyword} is estimated to cost {_share(each.cost, LIMIT)} {_ALLOWED}"
            yield Issue(each.path, problem, _fix(each))
    affordable = [each for each in costs if each.cost <= LIMIT]
    total = sum(each.cost for each in affordable)
    if total >= LIMIT_OF_ALL * _NEAR_OF_ALL:
        dearest = sorted(affordable, key=lambda each: -each.cost)[:_NAMED]
        problem = f"all rules together are estimated to cost {_share(total, LIMIT_OF_ALL)} {_ALLOWED}"
        fix = f"bound what they walk, the most expensive first: {', '.join(each.path for each in dearest)}"
        yield Issue("", problem, fix)


def _unbranched(node: Node) -> Iterator[Node]:
    """Yield the node and those below it, without branches, in which no rules are."""
    yield node
    for child in node.children:
        if not child.branch:
            yield from _unbranched(child)


def _costs(root: Node, node: Node) -> Iterator[_RuleCost]:
    for one in _expressions(node, *_BOTH):
        try:
            found = one.compiled(node)
        except (cel.CompilationError, cel.NotEvaluated):
            continue
        # A message is made for one value only: the API server does not ask how often.
        times = 1 if one.keyword == "messageExpression" else _times(node, most_in_a_request(found.self_type))
        price = estimate(found.tree, found.types, found.self_type)
        at = f"{node.path.removeprefix(root.path)}.{one.path}".lstrip(".")
        yield _RuleCost(node, at, one.keyword, price, price.cost * times)


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
    for around in node.around:
        if around.type == "array":
            yield around, "maxItems"
        elif around.type == "object" and "additionalProperties" in around.schema:
            yield around, "maxProperties"


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

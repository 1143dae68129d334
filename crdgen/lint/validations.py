"""Rules for CEL validation rules and their cost."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crdgen import cel
from crdgen.cel.cost import LIMIT, TOTAL_LIMIT, UNKNOWN, Estimate, count_in_request, estimate
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


class _Expression(NamedTuple):
    """A rule or messageExpression, with its path and its rule."""

    path: str
    keyword: str
    text: str
    rule: Mapping[str, Any]

    def compile(self, node: Node) -> "CompiledExpression":
        return cel.compile_expression(
            self.text, node.schema, root=node.is_resource, optional_old_self=self.rule.get("optionalOldSelf") is True
        )


def _expressions(node: Node, *keywords: str) -> Iterator[_Expression]:
    """Yield the expressions with these keywords, of rules that are not empty."""
    for path, rule in _rules(node):
        for keyword in keywords if rule.get("rule", "").strip() else ():
            if rule.get(keyword, "").strip():
                yield _Expression(f"{path}.{keyword}", keyword, rule[keyword], rule)


def _rules(node: Node) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, rule in enumerate(node.schema.get(VALIDATIONS, ())):
        yield f"{VALIDATIONS}[{index}]", rule


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def rule_is_complete(node: Node) -> Iterator[Issue]:
    """A CEL rule has an expression, one of four reasons, and a message of one line, required for several lines."""
    for path, rule in _rules(node):
        expression, message, computed = (rule.get(keyword, "") for keyword in ("rule", "message", "messageExpression"))
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
        field_path = rule.get("fieldPath", "")
        if not field_path:
            continue
        if not field_path.strip() or _LINE_BREAKS & set(field_path):
            yield Issue(f"{path}.fieldPath", "fieldPath must be one line that is not blank", "correct it")
            continue
        try:
            resolve(field_path, node.schema)
        except PathError as error:
            yield Issue(f"{path}.fieldPath", f"fieldPath {field_path} {error}", "write .name or ['name'] from here on")


@error("k8s.io/apiserver, pkg/cel/common/schemas.go, SchemaDeclType", VALIDATIONS)
def rule_sees_a_type(node: Node) -> Iterator[Issue]:
    """CEL rules are on typed values only."""
    if not node.branch and any(True for _ in _rules(node)) and type_of(node.schema, root=node.is_resource) is None:
        fix = "give the value a type, or write the rule for a typed field"
        yield Issue(VALIDATIONS, "CEL cannot see a value without a type", fix)


@error("schema/cel/compilation.go", VALIDATIONS, phase=COMPILED)
def rule_compiles(node: Node) -> Iterator[Issue]:
    """A CEL rule compiles to a boolean, and its messageExpression to a string."""
    for at, text, problems, _ in _results(node):
        for problem in problems:
            yield Issue(at, f"{text!r}: {problem}", "correct the expression")


@warning("ours; the CEL library is optional, and takes a little less than the API server", VALIDATIONS)
def rule_is_checked(node: Node) -> Iterator[Issue]:
    """Without the CEL library, CEL rules are not compiled."""
    for at, text, _, unchecked in _results(node):
        if unchecked:
            fix = "install it" if unchecked == cel.NOT_INSTALLED else "write the expression shorter"
            yield Issue(at, f"{text!r} was not checked: {unchecked}", fix)


def _results(node: Node) -> Iterator[tuple[str, str, list[str], str]]:
    """Yield for each expression its path, its text, its errors, and why it could not be compiled."""
    for expression in _expressions(node, *_BOTH) if not node.branch else ():
        try:
            returned = expression.compile(node).returns
        except cel.CompilationError as error:
            yield expression.path, expression.text, error.sentences, ""
        except cel.NotEvaluated as error:
            yield expression.path, expression.text, [], str(error)
        else:
            kind, words = _RESULTS[expression.keyword]
            problems = [] if returned == kind else [f"it must give {words}, and gives {returned.lower()}"]
            yield expression.path, expression.text, problems, ""


@error("apiextensions validation.go, forbidOldSelfValidations", VALIDATIONS)
def old_self_can_be_found(node: Node) -> Iterator[Issue]:
    """The oldSelf of a list item exists in map lists only, because other items have no identity."""
    if node.branch or not node.uncorrelated:
        return
    for expression in _expressions(node, "rule"):
        if cel.uses_old_self(expression.text):
            problem = f"oldSelf is unknown here: the items of {node.uncorrelated} have no keys"
            yield Issue(expression.path, problem, f"write {LIST_TYPE}: map with keys, or the rule for the list itself")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def optional_old_self_is_used(node: Node) -> Iterator[Issue]:
    """The field optionalOldSelf is set only for CEL rules that use oldSelf."""
    for expression in _expressions(node, "rule"):
        if "optionalOldSelf" in expression.rule and not cel.uses_old_self(expression.text):
            yield Issue(
                f"{expression.path.removesuffix('rule')}optionalOldSelf",
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


# Parts of the limits above which there is a warning: the estimate is rough, and small changes multiply it.
_NEAR: Final = 0.1
_NEAR_TOTAL: Final = 0.5
# Number of rules in the finding about all rules.
_LISTED_RULES: Final = 4

_ALLOWED: Final = "what the API server allows"
# Fix for sizes that no schema bounds.
_COMPUTED: Final = "walk the field itself, which has a bound, and write !(a == b) in place of a != b"


class _RuleCost(NamedTuple):
    """An expression, its estimate, and the cost of all its evaluations."""

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
    costs = [cost for node in _unbranched(root) for cost in _costs(root, node)]
    for rule in costs:
        if rule.cost >= LIMIT * _NEAR:
            problem = f"the {rule.keyword} is estimated to cost {_share(rule.cost, LIMIT)} {_ALLOWED}"
            yield Issue(rule.path, problem, _fix(rule))
    affordable = [rule for rule in costs if rule.cost <= LIMIT]
    total = sum(rule.cost for rule in affordable)
    if total >= TOTAL_LIMIT * _NEAR_TOTAL:
        most_expensive = sorted(affordable, key=lambda rule: -rule.cost)[:_LISTED_RULES]
        problem = f"all rules together are estimated to cost {_share(total, TOTAL_LIMIT)} {_ALLOWED}"
        fix = f"bound what they walk, the most expensive first: {', '.join(rule.path for rule in most_expensive)}"
        yield Issue("", problem, fix)


def _unbranched(node: Node) -> Iterator[Node]:
    """Yield the node and its descendants without branches, which have no rules."""
    yield node
    for child in node.children:
        if not child.branch:
            yield from _unbranched(child)


def _costs(root: Node, node: Node) -> Iterator[_RuleCost]:
    for expression in _expressions(node, *_BOTH):
        try:
            compiled = expression.compile(node)
        except (cel.CompilationError, cel.NotEvaluated):
            continue
        # For messages, the API server does not multiply by the number of values.
        is_message = expression.keyword == "messageExpression"
        times = 1 if is_message else _times(node, count_in_request(compiled.self_type))
        once = estimate(compiled.tree, compiled.types, compiled.self_type)
        path = f"{node.path.removeprefix(root.path)}.{expression.path}".lstrip(".")
        yield _RuleCost(node, path, expression.keyword, once, once.cost * times)


def _times(node: Node, if_unbounded: int) -> int:
    """Return the largest number of values of a node: by the bounds of its parents, or as many as fit into a request.

    Source: apiextensions cel_validation.go, extractMaxElements; schema/cel/compilation.go, maxCardinality
    """
    product = 1
    for parent, keyword in _collections(node):
        if keyword not in parent.schema:
            return if_unbounded
        product *= max(0, parent.schema[keyword])
    return product


def _collections(node: Node) -> Iterator[tuple[Node, str]]:
    """Yield the parents that are lists and maps, with the keyword that bounds their size."""
    for parent in node.parents:
        if parent.type == "array":
            yield parent, "maxItems"
        elif parent.type == "object" and "additionalProperties" in parent.schema:
            yield parent, "maxProperties"


def _fix(rule: _RuleCost) -> str:
    """Return which bounds to add or, if all exist, to lower."""
    bounds = [(place.path, place.keyword, place.bounded) for place in rule.estimate.places]
    if rule.keyword == "rule":
        bounds += [(node.field or "the root", word, word in node.schema) for node, word in _collections(rule.node)]
    missing = [f"{name} {keyword}" for name, keyword, bounded in bounds if not bounded]
    if missing:
        return f"give {' and '.join(missing)}, directly and not in allOf"
    if rule.estimate.cost >= UNKNOWN or not bounds:
        return _COMPUTED
    return f"lower {' and '.join(f'{keyword} of {name}' for name, keyword, _ in bounds)}, or simplify the expression"


def _share(cost: int, limit: int) -> str:
    """Return a cost relative to a limit, for the text in front of `_ALLOWED`."""
    if cost > 100 * limit:
        return "more than 100 times"
    return f"about {cost / limit:.1f} times" if cost > limit else f"about {cost / limit:.0%} of".replace("%", " %")

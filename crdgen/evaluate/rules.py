"""Evaluate x-kubernetes-validations (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go).

A schema without rules costs nothing. Rules need the extra `cel`. Rules that are not evaluated reject nothing and are
reported: without the library, if they do not compile (then the API server would reject the CRD), or if they may take
too long, so that the rules of a CRD never stall the caller.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct

from crdgen import cel
from crdgen.cel.cost import LIMIT, TOTAL_LIMIT
from crdgen.evaluate.check import ErrorType, Violation
from crdgen.evaluate.correlation import CorrelatedValue
from crdgen.schema import EMBEDDED, VALIDATIONS, Schema
from crdgen.schema.look import uses, utf8

if TYPE_CHECKING:
    from crdgen.cel.engine import CompiledExpression

_LONGEST_MESSAGE: Final = 5 * 1024
_REASONS: Final = {
    "FieldValueInvalid": ErrorType.INVALID,
    "FieldValueForbidden": ErrorType.FORBIDDEN,
    "FieldValueRequired": ErrorType.REQUIRED,
    "FieldValueDuplicate": ErrorType.DUPLICATE,
}
_BLOCKING: Final = frozenset(
    {ErrorType.NOT_SUPPORTED, ErrorType.REQUIRED, ErrorType.TOO_LONG, ErrorType.TOO_MANY, ErrorType.TYPE_INVALID}
)
#: Message of the API server beside other violations.
NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class _Rule(NamedTuple):
    """A compiled rule, and its messageExpression, if it has one."""

    source: Mapping[str, Any]
    where: str
    compiled: "CompiledExpression"
    message: "CompiledExpression | None"
    path: tuple[str | int, ...]
    uses_old_self: bool
    optional: bool

    @property
    def name(self) -> str:
        """The name of the rule in errors."""
        return str(self.source.get("message") or self.source["rule"]).strip()


class _RuleNode(NamedTuple):
    """The rules of a schema and of the schemas below it."""

    schema: Schema
    rules: tuple[_Rule, ...]
    fields: dict[str, "_RuleNode"]
    others: "_RuleNode | None"
    items: "_RuleNode | None"


class _Run(Struct):
    """An evaluation of all rules of an object: the rules that were not evaluated, and the cost of the others."""

    unchecked: list[str]
    cost: int = 0

    def evaluate(self, compiled: "CompiledExpression", variables: Any, max_size: int, *, old: bool) -> Any:
        """Return the value of an expression, if it costs no more than the API server allows.

        No CEL library counts the cost, so it is estimated: no value of the input is larger than `max_size`.
        """
        cost = compiled.cost(max_size)
        if cost > LIMIT or self.cost + cost > TOTAL_LIMIT:
            raise cel.NotEvaluated("may take too long")
        self.cost += cost
        return compiled.run(variables, old=old)


class Rules(Struct, frozen=True):
    """All rules of the schema of a whole object; `unchecked` has a sentence for each rule that is never evaluated."""

    root: "_RuleNode"
    unchecked: tuple[str, ...]

    def validate(self, value: Any, old: Any, violations: list[Violation], unchecked: list[str]) -> list[Violation]:
        """Return the violations of rules. Some of the schema's, in `violations`, prevent the evaluation of rules.

        A sentence for each rule that was not evaluated is added to `unchecked`.
        """
        run = _Run(unchecked)
        run.unchecked += self.unchecked
        if any(violation.reason in _BLOCKING for violation in violations):
            return [Violation((), ErrorType.INVALID, None, NOT_CHECKED)]
        pair = None if old is None else CorrelatedValue.of(value, old)
        return list(_walk(self.root, value, pair, None, run))


def rules(schema: Schema) -> Rules | None:
    """Return the compiled rules of a schema, or None if it has none."""
    unchecked: list[str] = []
    root = _node(schema, "", unchecked, root=True)
    return None if root is None else Rules(root, tuple(unchecked))


def _node(schema: Any, path: str, unchecked: list[str], *, root: bool = False) -> _RuleNode | None:
    """Return the compiled rules of a schema and below it; add a sentence for each rule that does not compile."""
    if not isinstance(schema, dict) or not uses(schema, VALIDATIONS):
        return None
    is_resource = root or bool(schema.get(EMBEDDED))
    own = (_rule(source, schema, path, unchecked, is_resource=is_resource) for source in schema.get(VALIDATIONS, ()))
    children_by_name = {
        name: _node(child, f"{path}.{name}".lstrip("."), unchecked)
        for name, child in schema.get("properties", {}).items()
    }
    return _RuleNode(
        schema,
        tuple(rule for rule in own if rule),
        {name: node for name, node in children_by_name.items() if node},
        _node(schema.get("additionalProperties"), f"{path}.*", unchecked),
        _node(schema.get("items"), f"{path}[]", unchecked),
    )


def _rule(
    source: Mapping[str, Any], schema: Schema, path: str, unchecked: list[str], *, is_resource: bool
) -> _Rule | None:
    rule, text = source.get("rule", ""), source.get("messageExpression")
    optional = bool(source.get("optionalOldSelf"))
    where = f"{path or 'the object'}: rule `{' '.join(rule.split())}`"

    def compile_or_report(expression: str, name: str) -> "CompiledExpression | None":
        try:
            return cel.compile_expression(expression, schema, root=is_resource, optional_old_self=optional)
        except (cel.CompilationError, cel.NotEvaluated) as error:
            unchecked.append(f"{name} was not checked: {error}")
            return None

    condition = compile_or_report(rule, where)
    if condition is None:
        return None
    message = compile_or_report(text, f"{where}: messageExpression") if text else None
    return _Rule(
        source, where, condition, message, _steps(source.get("fieldPath", "")), cel.uses_old_self(rule), optional
    )


def _steps(path: str) -> tuple[str, ...]:
    """Return the steps of a rule's fieldPath: `.spec.names['a.b']`."""
    steps = re.findall(r"\['(.*?)(?<!\\)'\]|\.?([^.\[]+)", path)
    return tuple(quoted.replace("\\'", "'").replace("\\\\", "\\") or name for quoted, name in steps)


def _walk(
    node: _RuleNode, value: Any, pair: CorrelatedValue | None, parent: CorrelatedValue | None, run: _Run
) -> Iterator[Violation]:
    """Yield the violations of a node's rules and of the rules below it.

    `pair` has the old value, or is None if the old object has no counterpart. `parent` is the pair of the nearest
    parent that has one.
    """
    if value is None:
        return
    yield from _own(node, value, pair, parent, run)
    for step, inner in _children(node, value):
        inner_pair = pair.step(step, node.schema) if pair else None
        for violation in _walk(inner, value[step], inner_pair, pair or parent, run):
            yield violation.under(step)


def _children(node: _RuleNode, value: Any) -> Iterator[tuple[Any, _RuleNode]]:
    """Yield the steps to children with rules, and their rules."""
    if isinstance(value, list) and node.items is not None:
        yield from ((index, node.items) for index in range(len(value)))
    elif isinstance(value, dict):
        for key in value:
            inner = node.fields.get(key)
            if inner is None and key not in node.schema.get("properties", {}):
                inner = node.others
            if inner is not None:
                yield key, inner


def _own(
    node: _RuleNode, value: Any, pair: CorrelatedValue | None, parent: CorrelatedValue | None, run: _Run
) -> Iterator[Violation]:
    """Yield the violations of a node's own rules."""
    old, nearest = pair.old if pair else None, pair or parent
    rules = [rule for rule in node.rules if not rule.uses_old_self or old is not None or rule.optional]
    if not rules:
        return
    kind = node.schema.get("type")
    variables = rules[0].compiled.activation(value, old)
    max_size = len(json.dumps([value, old]))
    for rule in rules:
        try:
            holds = run.evaluate(rule.compiled, variables, max_size, old=old is not None) is True
        except cel.NotEvaluated as error:
            run.unchecked.append(f"{rule.where} was not checked: it {error}")
        except cel.EvaluationError as error:
            yield Violation((), ErrorType.INVALID, kind, f"{error} evaluating rule: {rule.name}")
        else:
            if not holds and (rule.uses_old_self or nearest is None or not nearest.same):
                # A rule without oldSelf does not reject an unchanged value.
                reason = _REASONS.get(rule.source.get("reason", ""), ErrorType.INVALID)
                message = _message(rule, run, variables, max_size, old=old is not None)
                yield Violation(rule.path, reason, value, message, rule.source["rule"])


def _message(rule: _Rule, run: _Run, variables: Any, max_size: int, *, old: bool) -> str:
    """Return the API server's message: from a valid messageExpression, else the `message`, else from the rule."""
    if rule.message is not None:
        try:
            text = run.evaluate(rule.message, variables, max_size, old=old)
        except (cel.EvaluationError, cel.NotEvaluated):
            text = ""
        text = text.strip() if isinstance(text, str) else ""
        if text and "\n" not in text and len(utf8(text)) <= _LONGEST_MESSAGE:
            return text
    return rule.name if rule.source.get("message") else f"failed rule: {rule.name}"

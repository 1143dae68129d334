"""x-kubernetes-validations (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go).

A schema without rules costs nothing. Rules want the extra `cel`. What is not evaluated rejects nothing, and is named:
rules without the library, those that do not compile, which the API server would not take into a CRD, and those that may
take too long: so the rules of a CRD stall nobody, whoever wrote them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crdgen import cel
from crdgen.cel.cost import LIMIT, LIMIT_OF_ALL
from crdgen.evaluate.check import ErrorType, Violation
from crdgen.evaluate.correlation import CorrelatedValue
from crdgen.schema import EMBEDDED, VALIDATIONS, Schema
from crdgen.schema.look import children, utf8

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
_NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class _Rule(NamedTuple):
    """One compiled rule, and the expression of its message, if it has one."""

    source: Mapping[str, Any]
    where: str
    compiled: "CompiledExpression"
    message: "CompiledExpression | None"
    path: tuple[str | int, ...]
    uses_old_self: bool
    optional: bool

    @property
    def name(self) -> str:
        """What errors call the rule."""
        return str(self.source.get("message") or self.source["rule"]).strip()


class _RuleNode(NamedTuple):
    """The rules at one place of the schema and below it."""

    schema: Schema
    rules: tuple[_Rule, ...]
    fields: dict[str, "_RuleNode"]
    others: "_RuleNode | None"
    items: "_RuleNode | None"


@dataclass
class _Run:
    """One evaluation of all rules of an object: which were not evaluated, and what the others may have cost."""

    unchecked: list[str]
    cost: int = 0

    def of(self, compiled: "CompiledExpression", variables: Any, most: int, *, old: bool) -> Any:
        """Return what an expression gives, if that costs no more than the API server allows.

        That is estimated, as no CEL library counts it, from sizes as they are: nothing is larger than `most`.
        """
        cost = compiled.cost(most)
        if cost > LIMIT or self.cost + cost > LIMIT_OF_ALL:
            raise cel.NotEvaluated("may take too long")
        self.cost += cost
        return compiled.run(variables, old=old)


@dataclass(frozen=True)
class Rules:
    """All rules of the schema of a whole object; `unchecked` names those that are never evaluated, and says why."""

    root: "_RuleNode"
    unchecked: tuple[str, ...]

    def validate(self, value: Any, old: Any, found: list[Violation], unchecked: list[str]) -> list[Violation]:
        """Return what the rules reject; `found` is what the schema rejects already, which may leave rules unchecked.

        Which rules of this object were not evaluated is added to `unchecked`.
        """
        run = _Run(unchecked)
        run.unchecked += self.unchecked
        if any(violation.reason in _BLOCKING for violation in found):
            return [Violation((), ErrorType.INVALID, None, _NOT_CHECKED)]
        before = None if old is None else CorrelatedValue.of(value, old)
        return list(_walk(self.root, value, before, None, run))


def rules(schema: Schema) -> Rules | None:
    """Return the rules of a schema, compiled, or None where it has none."""
    unchecked: list[str] = []
    root = _node(schema, "", unchecked, root=True)
    return None if root is None else Rules(root, tuple(unchecked))


def has_rules(schema: Mapping[str, Any]) -> bool:
    """Return whether there is a rule in a schema; in branches there is none."""
    return bool(schema.get(VALIDATIONS)) or any(has_rules(child) for _, child in children(schema))


def _node(schema: Any, path: str, unchecked: list[str], *, root: bool = False) -> _RuleNode | None:
    """Return the rules at a place and below it, compiled; a sentence about each that does not compile is added."""
    if not isinstance(schema, dict) or not has_rules(schema):
        return None
    whole = root or bool(schema.get(EMBEDDED))
    own = (_rule(source, schema, path, unchecked, whole=whole) for source in schema.get(VALIDATIONS, ()))
    below = {
        name: _node(child, f"{path}.{name}".lstrip("."), unchecked)
        for name, child in schema.get("properties", {}).items()
    }
    return _RuleNode(
        schema,
        tuple(rule for rule in own if rule),
        {name: node for name, node in below.items() if node},
        _node(schema.get("additionalProperties"), f"{path}.*", unchecked),
        _node(schema.get("items"), f"{path}[]", unchecked),
    )


def _rule(source: Mapping[str, Any], schema: Schema, path: str, unchecked: list[str], *, whole: bool) -> _Rule | None:
    rule, text = source.get("rule", ""), source.get("messageExpression")
    optional = bool(source.get("optionalOldSelf"))
    where = f"{path or 'the object'}: rule `{' '.join(rule.split())}`"

    def compiled(expression: str, at: str) -> "CompiledExpression | None":
        try:
            return cel.compiled(expression, schema, root=whole, optional_old_self=optional)
        except (cel.CompilationError, cel.NotEvaluated) as error:
            unchecked.append(f"{at} was not checked: {error}")
            return None

    condition = compiled(rule, where)
    if condition is None:
        return None
    message = compiled(text, f"{where}: messageExpression") if text else None
    return _Rule(
        source, where, condition, message, _steps(source.get("fieldPath", "")), cel.uses_old_self(rule), optional
    )


def _steps(path: str) -> tuple[str, ...]:
    """Return the steps of a rule's fieldPath: `.spec.names['a.b']`."""
    found = re.findall(r"\['(.*?)(?<!\\)'\]|\.?([^.\[]+)", path)
    return tuple(quoted.replace("\\'", "'").replace("\\\\", "\\") or name for quoted, name in found)


def _walk(
    node: _RuleNode, value: Any, before: CorrelatedValue | None, around: CorrelatedValue | None, run: _Run
) -> Iterator[Violation]:
    """Yield what the rules at a place and below it reject.

    `before` is the pair of this place, and None where it has no counterpart in the old object; `around` is then that of
    the nearest place that has one.
    """
    if value is None:
        return
    yield from _own(node, value, before, around, run)
    for step, inner in _below(node, value):
        pair = before.step(step, node.schema) if before else None
        for violation in _walk(inner, value[step], pair, before or around, run):
            yield violation.under(step)


def _below(node: _RuleNode, value: Any) -> Iterator[tuple[Any, _RuleNode]]:
    """Yield the steps to the children that have rules, with their rules."""
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
    node: _RuleNode, value: Any, before: CorrelatedValue | None, around: CorrelatedValue | None, run: _Run
) -> Iterator[Violation]:
    """Yield what the rules at this very place reject."""
    old, nearest = before.old if before else None, before or around
    rules = [rule for rule in node.rules if not rule.uses_old_self or old is not None or rule.optional]
    if not rules:
        return
    kind = node.schema.get("type")
    variables = rules[0].compiled.activation(value, old)
    most = len(json.dumps([value, old]))
    for rule in rules:
        try:
            holds = run.of(rule.compiled, variables, most, old=old is not None) is True
        except cel.NotEvaluated as error:
            run.unchecked.append(f"{rule.where} was not checked: it {error}")
        except cel.EvaluationError as error:
            yield Violation((), ErrorType.INVALID, kind, f"{error} evaluating rule: {rule.name}")
        else:
            if not holds and (rule.uses_old_self or nearest is None or not nearest.same):
                # A rule that does not compare is not held against a part that is as it was.
                reason = _REASONS.get(rule.source.get("reason", ""), ErrorType.INVALID)
                yield Violation(rule.path, reason, value, _message(rule, run, variables, most, old=old is not None))


def _message(rule: _Rule, run: _Run, variables: Any, most: int, *, old: bool) -> str:
    """Return what the API server says: what messageExpression gives, if it is proper, or the message, or the rule."""
    if rule.message is not None:
        try:
            text = run.of(rule.message, variables, most, old=old)
        except (cel.EvaluationError, cel.NotEvaluated):
            text = ""
        text = text.strip() if isinstance(text, str) else ""
        if text and "\n" not in text and len(utf8(text)) <= _LONGEST_MESSAGE:
            return text
    return rule.name if rule.source.get("message") else f"failed rule: {rule.name}"

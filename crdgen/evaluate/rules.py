"""x-kubernetes-validations (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go).

A schema without rules costs nothing. Rules want the extra `cel`; without it they are not run, and nothing is refused
because of one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crdgen import cel
from crdgen.evaluate.check import Reason, Violation
from crdgen.evaluate.correlation import Before, counterpart
from crdgen.schema import EMBEDDED, VALIDATIONS, Schema
from crdgen.utf8 import utf8

if TYPE_CHECKING:
    from crdgen.cel.tree import Node


#: What all rules of one object may cost together (k8s.io/apiserver, pkg/apis/cel/config.go).
PER_OBJECT: Final = 10_000_000
_LONGEST_MESSAGE: Final = 5 * 1024
_REASONS: Final = {
    "FieldValueInvalid": Reason.INVALID,
    "FieldValueForbidden": Reason.FORBIDDEN,
    "FieldValueRequired": Reason.REQUIRED,
    "FieldValueDuplicate": Reason.DUPLICATE,
}
_BLOCKING: Final = frozenset(
    {Reason.NOT_SUPPORTED, Reason.REQUIRED, Reason.TOO_LONG, Reason.TOO_MANY, Reason.TYPE_INVALID}
)
_NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


class _Rule(NamedTuple):
    """One compiled rule; `tree` is None where the expression is empty."""

    source: Mapping[str, Any]
    tree: "Node"
    message: "Node | None"
    path: tuple[str | int, ...]
    uses_old_self: bool
    optional: bool

    @property
    def name(self) -> str:
        """What errors call the rule."""
        return str(self.source.get("message") or self.source["rule"]).strip()


class _Node(NamedTuple):
    """The rules at one place of the schema and below it."""

    schema: Schema
    rules: tuple[_Rule, ...]
    fields: dict[str, "_Node"] = field(default_factory=dict)
    others: "_Node | None" = None
    items: "_Node | None" = None


@dataclass
class _Budget:
    """What rules may still cost; None of it left stops all that follow."""

    left: int = PER_OBJECT


class Rules:
    """All rules of the schema of a whole object."""

    def __init__(self, root: "_Node") -> None:
        self._root = root

    def validate(self, value: Any, old: Any, found: list[Violation]) -> list[Violation]:
        """Return what the rules refuse; `found` is what the schema refuses already, which may leave rules unchecked."""
        if any(violation.reason in _BLOCKING for violation in found):
            return [Violation((), Reason.INVALID, None, _NOT_CHECKED)]
        before = None if old is None else Before.of(value, old)
        return list(_walk(self._root, value, old, before, None, _Budget()))


def rules(schema: Schema) -> Rules | None:
    """Return the rules of a schema, compiled, or None where it has none, or where there is no CEL library."""
    if not has_rules(schema) or not cel.available():
        return None
    root = _compile(schema, root=True)
    return None if root is None else Rules(root)


def has_rules(schema: Schema) -> bool:
    """Tell whether there is a rule in a schema; in branches there is none."""
    return bool(schema.get(VALIDATIONS)) or any(map(has_rules, _children(schema)))


def _children(schema: Schema) -> Iterator[Schema]:
    yield from schema.get("properties", {}).values()
    for keyword in ("additionalProperties", "items"):
        if isinstance(schema.get(keyword), dict):
            yield schema[keyword]


def _compile(schema: Schema, *, root: bool = False) -> _Node | None:
    if not has_rules(schema):
        return None
    whole = root or bool(schema.get(EMBEDDED))
    extra, items = schema.get("additionalProperties"), schema.get("items")
    fields = {name: node for name, child in schema.get("properties", {}).items() if (node := _compile(child))}
    own = tuple(rule for source in schema.get(VALIDATIONS, ()) if (rule := _rule(source, schema, whole)))
    if whole:
        from crdgen.cel.declared import with_meta  # noqa: PLC0415 - with the library only

        schema = with_meta(schema)
    return _Node(
        schema,
        own,
        fields,
        _compile(extra) if isinstance(extra, dict) else None,
        _compile(items) if isinstance(items, dict) else None,
    )


def _rule(source: Mapping[str, Any], schema: Schema, whole: bool) -> _Rule | None:
    """Return the compiled rule, or None for what the API server would not have taken into the CRD."""
    from crdgen.cel.compiling import OPTIONAL, PLAIN, Refused, compile_  # noqa: PLC0415 - with the library only

    optional = bool(source.get("optionalOldSelf"))
    old = OPTIONAL if optional else PLAIN
    try:
        compiled = compile_(source.get("rule", ""), schema, root=whole, old=old)
        message = source.get("messageExpression")
        tree = compile_(message, schema, root=whole, old=old).tree if message else None
    except Refused:
        return None
    uses_old_self = cel.uses_old_self(source["rule"])
    return _Rule(source, compiled.tree, tree, _steps(source.get("fieldPath", "")), uses_old_self, optional)


def _steps(path: str) -> tuple[str, ...]:
    """Return the steps of a rule's fieldPath: `.spec.names['a.b']`."""
    steps: list[str] = []
    while path:
        if path.startswith("['"):
            end = path.index("']", 2)
            steps.append(path[2:end].replace("\\'", "'").replace("\\\\", "\\"))
            path = path[end + 2 :]
        else:
            step = path.removeprefix(".")
            length = min((at for at in (step.find("."), step.find("[")) if at > 0), default=len(step))
            steps.append(step[:length])
            path = step[length:]
    return tuple(steps)


def _walk(
    node: _Node, value: Any, old: Any, before: Before | None, around: Before | None, budget: _Budget
) -> Iterator[Violation]:
    """Yield what the rules at a place and below it refuse.

    `before` is the pair of this place, and None where it has no counterpart in the old object; `around` is then that of
    the nearest place that has one.
    """
    if value is None:
        return
    yield from _own(node, value, old, before or around, budget)
    for step, inner in _below(node, value):
        was = _held(node.schema, value, old, step)
        pair = before.step(step, node.schema) if before else None
        for violation in _walk(inner, value[step], was, pair, before or around, budget):
            yield violation.under(step)
        if budget.left < 0:
            return


def _below(node: _Node, value: Any) -> Iterator[tuple[Any, _Node]]:
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


def _held(schema: Schema, value: Any, old: Any, step: str | int) -> Any:
    """Return what a child was before, or None."""
    if isinstance(step, int):
        return counterpart(schema, value, old, step)
    return old.get(step) if isinstance(old, dict) else None


def _own(node: _Node, value: Any, old: Any, before: Before | None, budget: _Budget) -> Iterator[Violation]:
    """Yield what the rules at this very place refuse."""
    kind = node.schema.get("type")
    for rule in node.rules:
        if rule.uses_old_self and old is None and not rule.optional:
            continue
        variables = _variables(rule, node.schema, value, old)
        holds, fault, cost = _outcome(rule, variables)
        budget.left -= cost
        if budget.left < 0 and not fault:
            fault = "validation failed due to running out of cost budget, no further validation rules will be run"
        if fault:
            yield Violation((), Reason.INVALID, kind, fault)
            if budget.left < 0:
                return
        elif not holds and (rule.uses_old_self or before is None or not before.same):
            # A rule that does not compare is not held against a part that is as it was.
            reason = _REASONS.get(rule.source.get("reason", ""), Reason.INVALID)
            yield Violation(rule.path, reason, value, _message(rule, variables))


def _variables(rule: _Rule, schema: Schema, value: Any, old: Any) -> dict[str, Any]:
    from crdgen.cel.values import Optional  # noqa: PLC0415 - with the library only

    variables = {"self": _read(value, schema)}
    if rule.optional:
        variables["oldSelf"] = Optional() if old is None else Optional(_read(old, schema))
    elif old is not None:
        variables["oldSelf"] = _read(old, schema)
    return variables


def _read(value: Any, schema: Schema) -> Any:
    """Return the value as rules see it, or the Fault that they run into."""
    from crdgen.cel.times import Fault  # noqa: PLC0415 - with the library only
    from crdgen.cel.values import value_of  # noqa: PLC0415

    try:
        return value_of(value, schema)
    except Fault as fault:
        return fault


def _outcome(rule: _Rule, variables: dict[str, Any]) -> tuple[bool, str, int]:
    """Return whether the rule holds, or what went wrong with it, and what it cost."""
    from crdgen.cel.interpreter import Run, TooExpensive  # noqa: PLC0415 - with the library only
    from crdgen.cel.times import Fault  # noqa: PLC0415
    from crdgen.cel.values import NoOverload  # noqa: PLC0415

    run = Run(variables)
    holds = False
    try:
        holds, fault = run.value(rule.tree) is True, ""
    except TooExpensive:
        why = "no further validation rules will be run due to call cost exceeds limit for rule"
        return False, f"'operation cancelled: actual cost limit exceeded': {why}: {rule.name}", PER_OBJECT + 1
    except NoOverload as error:
        why = "call arguments did not match a supported operator, function or macro signature for rule"
        fault = f"'{error}': {why}: {rule.name}"
    except Fault as error:
        fault = f"{error} evaluating rule: {rule.name}"
    return holds, fault, run.cost


def _message(rule: _Rule, variables: dict[str, Any]) -> str:
    """Return what the API server says: what messageExpression gives, if it is proper, or the message, or the rule."""
    from crdgen.cel.interpreter import Run, TooExpensive  # noqa: PLC0415 - with the library only
    from crdgen.cel.times import Fault  # noqa: PLC0415

    if rule.message is not None:
        try:
            text = Run(variables).value(rule.message)
        except (Fault, TooExpensive):
            text = ""
        text = text.strip() if isinstance(text, str) else ""
        if text and "\n" not in text and len(utf8(text)) <= _LONGEST_MESSAGE:
            return text
    return rule.name if rule.source.get("message") else f"failed rule: {rule.name}"

"""Rules for CEL validation rules."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen import cel
from crdgen.cel.types import type_of
from crdgen.lint.fieldpath import PathError, resolve
from crdgen.lint.node import Node
from crdgen.lint.rule import COMPILED, Problem, error, warning
from crdgen.schema import LIST_TYPE, PRESERVE, VALIDATIONS

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_LINE_BREAKS: Final = frozenset("\n\r")


def expressions(node: Node) -> Iterator[tuple[str, Mapping[str, Any], str, str]]:
    """Return each rule that can be compiled: its path, itself, and the two expressions; the second may be empty."""
    for path, rule in _rules(node):
        expression = rule.get("rule", "")
        if expression.strip():
            message = rule.get("messageExpression", "")
            yield path, rule, expression, message if message.strip() else ""


def _rules(node: Node) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, rule in enumerate(node.schema.get(VALIDATIONS, ())):
        yield f"{VALIDATIONS}[{index}]", rule


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def rule_is_there(node: Node) -> Iterator[Problem]:
    """The expressions of a CEL rule are not empty."""
    for path, rule in _rules(node):
        if not rule.get("rule", "").strip():
            yield Problem(f"{path}.rule", "the rule is empty", "write an expression that is true for valid values")
        expression = rule.get("messageExpression", "")
        if expression and not expression.strip():
            yield Problem(f"{path}.messageExpression", "the messageExpression is empty", "write it, or remove it")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def message_is_one_line(node: Node) -> Iterator[Problem]:
    """A message is one line; a CEL rule of several lines needs a message."""
    for path, rule in _rules(node):
        message, expression = rule.get("message", ""), rule.get("rule", "").strip()
        trimmed = message.strip()
        if message and not trimmed:
            yield Problem(f"{path}.message", "the message is blank", "write what is wrong, or remove it")
        elif _LINE_BREAKS & set(trimmed):
            yield Problem(f"{path}.message", "the message has line breaks", "write it in one line")
        elif _LINE_BREAKS & set(expression) and not trimmed:
            yield Problem(f"{path}.message", "a rule of several lines needs a message", "write what the rule wants")


@error("apiextensions validation.go, supportedValidationReason", VALIDATIONS)
def reason_is_known(node: Node) -> Iterator[Problem]:
    """The reason of a CEL rule is one of four."""
    for path, rule in _rules(node):
        if "reason" in rule and rule["reason"] not in _REASONS:
            yield Problem(
                f"{path}.reason", f"there is no reason {rule['reason']}", f"set reason to one of {', '.join(_REASONS)}"
            )


@error("apiextensions validation.go, pathValid; schema/cel/validation.go, ValidFieldPath", VALIDATIONS)
def field_path_leads_somewhere(node: Node) -> Iterator[Problem]:
    """The fieldPath of a CEL rule is a declared field below the rule."""
    for path, rule in _rules(node):
        blamed = rule.get("fieldPath", "")
        if not blamed:
            continue
        if not blamed.strip() or _LINE_BREAKS & set(blamed):
            yield Problem(f"{path}.fieldPath", "fieldPath must be one line that is not blank", "correct it")
            continue
        try:
            resolve(blamed, node.schema)
        except PathError as error:
            yield Problem(f"{path}.fieldPath", f"fieldPath {blamed} {error}", "write .name or ['name'] from here on")


@error("k8s.io/apiserver, pkg/cel/common/schemas.go, SchemaDeclType", VALIDATIONS)
def rule_sees_a_type(node: Node) -> Iterator[Problem]:
    """CEL rules are on typed values only."""
    if not node.branch and any(True for _ in _rules(node)) and type_of(node.schema, root=node.is_resource) is None:
        fix = "give the value a type, or write the rule for a typed field"
        yield Problem(VALIDATIONS, "CEL cannot see a value without a type", fix)


@error("schema/cel/compilation.go", VALIDATIONS, phase=COMPILED)
def rule_compiles(node: Node) -> Iterator[Problem]:
    """A CEL rule compiles to a boolean, and its messageExpression to a string."""
    for at, text, problems, _ in _compiled(node):
        for problem in problems:
            yield Problem(at, f"{text!r}: {problem}", "correct the expression")


@warning("ours; the CEL library is optional, and takes a little less than the API server", VALIDATIONS)
def rule_is_checked(node: Node) -> Iterator[Problem]:
    """Without the CEL library, CEL rules are not compiled."""
    for at, text, _, unchecked in _compiled(node):
        if unchecked:
            fix = "install it" if unchecked == cel.NOT_INSTALLED else "write the expression shorter"
            yield Problem(at, f"{text!r} was not checked: {unchecked}", fix)


def _compiled(node: Node) -> Iterator[tuple[str, str, list[str], str]]:
    """Yield each expression: where it is, what is wrong with it, and why it could not be compiled."""
    if node.branch:
        return
    for path, rule, expression, message in expressions(node):
        optional = rule.get("optionalOldSelf") is True
        texts = {"rule": expression, "messageExpression": message}
        for word, text in ((word, text) for word, text in texts.items() if text):
            try:
                found = cel.problems(
                    text,
                    node.schema,
                    returns="bool" if word == "rule" else "string",
                    root=node.is_resource,
                    optional_old_self=optional,
                )
            except cel.NotEvaluated as error:
                yield f"{path}.{word}", text, [], str(error)
            else:
                yield f"{path}.{word}", text, found, ""


@error("apiextensions validation.go, forbidOldSelfValidations", VALIDATIONS)
def old_self_can_be_found(node: Node) -> Iterator[Problem]:
    """The oldSelf of a list item exists in map lists only, because other items have no identity."""
    if node.branch or not node.uncorrelated:
        return
    for path, _, expression, _ in expressions(node):
        if cel.uses_old_self(expression):
            problem = f"oldSelf is unknown here: the items of {node.uncorrelated} have no keys"
            yield Problem(f"{path}.rule", problem, f"write {LIST_TYPE}: map with keys, or the rule for the list itself")


@error("apiextensions validation.go, ValidateCustomResourceDefinitionOpenAPISchema", VALIDATIONS)
def optional_old_self_is_used(node: Node) -> Iterator[Problem]:
    """The field optionalOldSelf is set only for CEL rules that use oldSelf."""
    for path, rule, expression, _ in expressions(node):
        if "optionalOldSelf" in rule and not cel.uses_old_self(expression):
            yield Problem(f"{path}.optionalOldSelf", "the rule does not read oldSelf", "remove optionalOldSelf")


@warning("k8s.io/apiserver, pkg/cel/common/schemas.go, SchemaDeclType", VALIDATIONS)
def rule_sees_declared_fields(node: Node) -> Iterator[Problem]:
    """Preserved fields are invisible to CEL: a rule on them compiles only for what is declared."""
    if not node.branch and node.flag(PRESERVE) and not node.properties and any(True for _ in expressions(node)):
        yield Problem(VALIDATIONS, "preserved fields are invisible to rules", "declare the fields that the rule reads")

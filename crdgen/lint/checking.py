"""All lint rules in the order of the API server, and the functions that run them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from crdgen.decode.decoder import DEPTH, Decoder, DecodingProblem, is_too_deep
from crdgen.lint import conversion, defaults, keywords, lists, names, structure, validations, version, versions
from crdgen.lint.node import Node, nodes
from crdgen.lint.rule import COMPILED, EVALUATED, Finding, Issue, LintRule, error, family, warning
from crdgen.lint.shape import DEFINITION, SCHEMA
from crdgen.lint.versions import Definition
from crdgen.schema import Schema
from crdgen.severity import Severity


@warning("this linter")
def document_is_nested_reasonably(_: object) -> Iterator[Issue]:
    """Extremely nested documents are not checked."""
    yield Issue("", f"the document is nested more than {DEPTH} levels deep, and was not checked", "flatten it")


@error("apiextensions types.go, types_jsonschema.go and marshal.go of v1")
def value_has_the_right_type(problem: DecodingProblem) -> Iterator[Issue]:
    """The API server decodes the document into typed values before it validates them."""
    yield Issue("", problem.problem, problem.fix)


@error("k8s.io/apimachinery, pkg/runtime/serializer/json")
def field_is_known(problem: DecodingProblem) -> Iterator[Issue]:
    """Strict decoding, which kubectl requests, rejects unknown fields; otherwise they are dropped with a warning."""
    yield Issue("", problem.problem, problem.fix)


@warning("apiextensions marshal.go of v1, UnmarshalJSON of JSONSchemaPropsOrArray and JSONSchemaPropsOrBool")
def field_within_items_is_known(problem: DecodingProblem) -> Iterator[Issue]:
    """Below items and additionalProperties, unknown fields are dropped even with strict decoding."""
    yield Issue("", f"{problem.problem}, and silently dropped", problem.fix)


def _decoding_findings(problem: DecodingProblem, *, strict: bool) -> Iterator[Finding]:
    """Yield the finding of a decoding problem."""
    rule = value_has_the_right_type
    if problem.unseen:
        rule = field_within_items_is_known
    elif problem.unknown:
        rule = field_is_known if strict else replace(field_is_known, severity=Severity.WARNING)
    yield from rule.findings(problem, problem.path)


_DECODING_RULES: Final = (
    document_is_nested_reasonably,
    value_has_the_right_type,
    field_is_known,
    field_within_items_is_known,
)
_DEFINITION_RULES: Final = (*family(names), *family(versions), *family(conversion))
_VERSION_RULES: Final = family(version)
_SCHEMA_RULES: Final[tuple[LintRule[Node], ...]] = tuple(
    rule for module in (structure, keywords, lists, validations, defaults) for rule in family(module)
)
_WARNINGS: Final = tuple(rule for rule in _SCHEMA_RULES if rule.severity is Severity.WARNING and not rule.phase)
_PHASES: Final = tuple(
    tuple(rule for rule in _SCHEMA_RULES if rule.phase == phase and rule not in _WARNINGS)
    for phase in (0, COMPILED, EVALUATED)
)

# A step of a schema path that is also a step in an object; all other steps are keywords.
_STEP: Final = re.compile(r"properties\[(.*?)\](?=[.\[]|$)|(?<![^.])(items|additionalProperties)(?=[.\[]|$)")
#: Every rule, for the documentation.
RULES: Final[tuple[LintRule[Any], ...]] = (*_DECODING_RULES, *_DEFINITION_RULES, *_VERSION_RULES, *_SCHEMA_RULES)


def rejections(definition: Mapping[str, Any]) -> list[Finding]:
    """Return the errors of `lint`: why the API server rejects a CustomResourceDefinition."""
    return [finding for finding in lint(definition) if finding.severity is Severity.ERROR]


def lint(definition: Mapping[str, Any], *, strict: bool = True) -> list[Finding]:
    """Return the errors in a CustomResourceDefinition, which the API server rejects, and warnings, which surprise.

    Accepts any JSON, and takes linear time in its size.

    Args:
        definition: the whole object, parsed from JSON.
        strict: report an unknown field as an error, as `kubectl` does with `fieldValidation=Strict`; otherwise as a
            warning, because the API server drops it.
    """
    if is_too_deep(definition):
        return list(document_is_nested_reasonably.findings(definition, ""))
    decoder = Decoder()
    crd = Definition(definition, decoder.read(definition, DEFINITION, ""))
    foreign = list(names.document_is_a_definition.findings(crd, ""))
    if foreign:
        return foreign
    findings = [finding for problem in decoder.problems for finding in _decoding_findings(problem, strict=strict)]
    if not all(problem.unknown for problem in decoder.problems):
        # Like the API server, do not validate documents that cannot be decoded.
        return findings
    findings += [finding for rule in _DEFINITION_RULES for finding in rule.findings(crd, "")]
    for crd_version in crd.versions:
        findings += [finding for rule in _VERSION_RULES for finding in rule.findings(crd_version, crd_version.path)]
        findings += [*_errors(crd_version.nodes, stop=False), *_of_nodes(_WARNINGS, crd_version.nodes)]
    return findings


def check_structural(schema: Schema) -> list[Finding]:
    """Return the errors in the schema of a whole object, with field paths such as `spec.tasks[].name`.

    Stricter than the API server in two ways: it validates defaults within the values of maps, and reports unknown
    keywords everywhere.
    """
    if is_too_deep(schema):
        return list(document_is_nested_reasonably.findings(schema, ""))
    decoder = Decoder()
    decoded = decoder.read(schema, SCHEMA, "")
    findings = [finding for problem in decoder.problems for finding in _decoding_findings(problem, strict=True)]
    if all(problem.unknown for problem in decoder.problems):
        findings += _errors(nodes(decoded, ""), stop=bool(findings))
    return [
        Finding(field_path(finding.path), finding.problem, finding.fix, finding.severity, finding.rule)
        for finding in findings
    ]


def field_path(path: str) -> str:
    """Return the field path for a path in a schema."""
    steps = (
        f".{step[1]}" if step[1] is not None else "[]" if step[2] == "items" else ".*" for step in _STEP.finditer(path)
    )
    return "".join(steps).lstrip(".")


def _errors(all_nodes: list[Node], *, stop: bool) -> list[Finding]:
    """Return the errors of all phases up to the first phase with errors."""
    findings: list[Finding] = []
    for phase in _PHASES:
        findings += _of_nodes(phase, all_nodes)
        if stop or any(finding.severity is Severity.ERROR for finding in findings):
            break
    return findings


def _of_nodes(rules: Iterable[LintRule[Node]], all_nodes: list[Node]) -> Iterator[Finding]:
    # Rules by the keywords of a schema: a pod template has a thousand nodes, but few sets of keywords.
    rules_by_keywords: dict[frozenset[str], list[LintRule[Node]]] = {}
    for node in all_nodes:
        keywords_of_node = frozenset(node.schema)
        if keywords_of_node not in rules_by_keywords:
            rules_by_keywords[keywords_of_node] = [
                rule for rule in rules if not rule.keywords or not rule.keywords.isdisjoint(keywords_of_node)
            ]
        for rule in rules_by_keywords[keywords_of_node]:
            yield from rule.findings(node, node.path)

"""All lint rules, in the order of the API server, and what runs them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from crdgen.decode.decoder import DEPTH, Decoder, DecodingProblem, is_too_deep
from crdgen.lint import conversion, defaults, keywords, lists, names, structure, validations, version, versions
from crdgen.lint.node import Node, nodes
from crdgen.lint.rule import COMPILED, EVALUATED, Finding, Issue, LintRule, LintSeverity, error, family, warning
from crdgen.lint.shape import DEFINITION, SCHEMA
from crdgen.lint.versions import Definition
from crdgen.schema import Schema


@warning("this linter")
def document_is_nested_reasonably(_: object) -> Iterator[Issue]:
    """Extremely nested documents are not checked."""
    yield Issue("", f"the document is nested more than {DEPTH} levels deep, and was not checked", "flatten it")


@error("apiextensions types.go, types_jsonschema.go and marshal.go of v1")
def value_has_the_right_type(found: DecodingProblem) -> Iterator[Issue]:
    """The API server decodes the document into typed values before it validates them."""
    yield Issue("", found.problem, found.fix)


@error("k8s.io/apimachinery, pkg/runtime/serializer/json")
def field_is_known(found: DecodingProblem) -> Iterator[Issue]:
    """Strict decoding, which kubectl requests, rejects unknown fields; otherwise they are dropped with a warning."""
    yield Issue("", found.problem, found.fix)


@warning("apiextensions marshal.go of v1, UnmarshalJSON of JSONSchemaPropsOrArray and JSONSchemaPropsOrBool")
def field_within_items_is_known(found: DecodingProblem) -> Iterator[Issue]:
    """Below items and additionalProperties, unknown fields are dropped even with strict decoding."""
    yield Issue("", f"{found.problem}, and silently dropped", found.fix)


def _of_problem(found: DecodingProblem, *, strict: bool) -> Iterator[Finding]:
    """Yield the finding of a decoding problem."""
    rule = value_has_the_right_type
    if found.unseen:
        rule = field_within_items_is_known
    elif found.unknown:
        rule = field_is_known if strict else replace(field_is_known, severity=LintSeverity.WARNING)
    yield from rule.findings(found, found.path)


_OF_DECODING: Final = (
    document_is_nested_reasonably,
    value_has_the_right_type,
    field_is_known,
    field_within_items_is_known,
)
_OF_DEFINITION: Final = (*family(names), *family(versions), *family(conversion))
_OF_VERSION: Final = family(version)
_OF_SCHEMA: Final[tuple[LintRule[Node], ...]] = tuple(
    rule for module in (structure, keywords, lists, validations, defaults) for rule in family(module)
)
_WARNINGS: Final = tuple(rule for rule in _OF_SCHEMA if rule.severity is LintSeverity.WARNING and not rule.phase)
_PHASES: Final = tuple(
    tuple(rule for rule in _OF_SCHEMA if rule.phase == phase and rule not in _WARNINGS)
    for phase in (0, COMPILED, EVALUATED)
)

# A step of a schema path that is also a step in an object; all others are keywords.
_STEP: Final = re.compile(r"properties\[(.*?)\](?=[.\[]|$)|(?<![^.])(items|additionalProperties)(?=[.\[]|$)")
#: Every rule, for the documentation.
RULES: Final[tuple[LintRule[Any], ...]] = (*_OF_DECODING, *_OF_DEFINITION, *_OF_VERSION, *_OF_SCHEMA)


def lint(definition: Mapping[str, Any], *, strict: bool = True) -> list[Finding]:
    """Return what the API server rejects in a CustomResourceDefinition, and what it takes but will surprise.

    Never raises, whatever JSON it is given, and takes time linear in it.

    Args:
        definition: the whole object, read as JSON.
        strict: report an unknown field as an error, as `kubectl` does with `fieldValidation=Strict`; otherwise as a
            warning, because the API server drops it.
    """
    if is_too_deep(definition):
        return list(document_is_nested_reasonably.findings(definition, ""))
    decoder = Decoder()
    whole = Definition(definition, decoder.read(definition, DEFINITION, ""))
    foreign = list(names.document_is_a_definition.findings(whole, ""))
    if foreign:
        return foreign
    found = [finding for problem in decoder.problems for finding in _of_problem(problem, strict=strict)]
    if not all(problem.unknown for problem in decoder.problems):
        # As for the API server: what cannot be decoded is not validated.
        return found
    found += [finding for rule in _OF_DEFINITION for finding in rule.findings(whole, "")]
    for one in whole.versions:
        found += [finding for rule in _OF_VERSION for finding in rule.findings(one, one.path)]
        found += [*_errors(one.nodes, stop=False), *_of_nodes(_WARNINGS, one.nodes)]
    return found


def check_structural(schema: Schema) -> list[Finding]:
    """Return what the API server rejects in the schema of a whole object, with field paths such as `spec.tasks[].name`.

    Stricter than the API server in two ways: it validates defaults within the values of maps, and reports unknown
    keywords everywhere.
    """
    if is_too_deep(schema):
        return list(document_is_nested_reasonably.findings(schema, ""))
    decoder = Decoder()
    decoded = decoder.read(schema, SCHEMA, "")
    found = [finding for problem in decoder.problems for finding in _of_problem(problem, strict=True)]
    if all(problem.unknown for problem in decoder.problems):
        found += _errors(nodes(decoded, ""), stop=bool(found))
    return [
        Finding(field_path(finding.path), finding.problem, finding.fix, finding.severity, finding.rule)
        for finding in found
    ]


def field_path(path: str) -> str:
    """Return the field path for a path in a schema."""
    steps = (
        f".{step[1]}" if step[1] is not None else "[]" if step[2] == "items" else ".*" for step in _STEP.finditer(path)
    )
    return "".join(steps).lstrip(".")


def _errors(every: list[Node], *, stop: bool) -> list[Finding]:
    """Return errors, phase by phase, up to the first phase that has any."""
    found: list[Finding] = []
    for phase in _PHASES:
        found += _of_nodes(phase, every)
        if stop or any(finding.severity is LintSeverity.ERROR for finding in found):
            break
    return found


def _of_nodes(rules: Iterable[LintRule[Node]], every: list[Node]) -> Iterator[Finding]:
    # By the keywords of a schema; a pod template has a thousand nodes, and few sets of keywords.
    fitting: dict[frozenset[str], list[LintRule[Node]]] = {}
    for node in every:
        said = frozenset(node.schema)
        if said not in fitting:
            fitting[said] = [rule for rule in rules if not rule.keywords or not rule.keywords.isdisjoint(said)]
        for rule in fitting[said]:
            yield from rule.findings(node, node.path)

"""The lint rules for schemas, in the order of the API server."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from crdgen.decode.decoder import Decoder, is_too_deep
from crdgen.lint import costs, defaults, faults, keywords, lists, pruning, structure, validations
from crdgen.lint.faults import independent
from crdgen.lint.finding import Finding, Severity
from crdgen.lint.node import Node, nodes
from crdgen.lint.rule import COMPILED, EVALUATED, LintRule, family
from crdgen.lint.shape import SCHEMA
from crdgen.schema import Schema

#: All rules for schemas.
RULES: Final[tuple[LintRule[Node], ...]] = tuple(
    rule for module in (structure, keywords, lists, pruning, validations, costs, defaults) for rule in family(module)
)
_PHASES: Final = tuple(
    tuple(rule for rule in RULES if rule.phase == phase and (phase or rule.severity is Severity.ERROR))
    for phase in (0, COMPILED, EVALUATED)
)
_WARNINGS: Final = tuple(rule for rule in RULES if rule.severity is Severity.WARNING and not rule.phase)

# A step of a schema path that is also a step in an object; all others are keywords.
_STEP: Final = re.compile(r"properties\[(.*?)\](?=[.\[]|$)|(?<![^.])(items|additionalProperties)(?=[.\[]|$)")


def check_structural(schema: Schema) -> list[Finding]:
    """Return what the API server rejects in the schema of a whole object, with field paths such as `spec.tasks[].name`.

    Stricter than the API server in two ways: it validates defaults within the values of maps, and reports unknown
    keywords everywhere.
    """
    if is_too_deep(schema):
        return list(faults.document_is_nested_reasonably.findings(schema, ""))
    decoder = Decoder()
    decoded = decoder.read(schema, SCHEMA, "")
    found = [finding for fault in decoder.faults for finding in faults.findings(fault, strict=True)]
    found += independent(_errors(nodes(decoded, ""), stop=bool(found)), decoder.faults)
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


def in_schema(every: list[Node]) -> list[Finding]:
    """Return errors and warnings for a schema, given as its nodes."""
    found = _errors(every, stop=False)
    return found + [finding for node in every for finding in _of_node(_WARNINGS, node)]


def _errors(every: list[Node], *, stop: bool) -> list[Finding]:
    """Return errors, phase by phase, up to the first phase that has any."""
    found: list[Finding] = []
    for phase in _PHASES:
        found += [finding for node in every for finding in _of_node(phase, node)]
        if stop or any(finding.severity is Severity.ERROR for finding in found):
            break
    return found


def _of_node(rules: Iterable[LintRule[Node]], node: Node) -> Iterator[Finding]:
    for rule in rules:
        if not rule.keywords or not rule.keywords.isdisjoint(node.schema):
            yield from rule.findings(node, node.path)

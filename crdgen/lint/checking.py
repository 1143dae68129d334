"""All rules, in the order in which the API server gets to them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from crdgen.decoding import Decoder, Fault, is_too_deep
from crdgen.lint import (
    conversion,
    costs,
    defaults,
    document,
    keywords,
    lists,
    names,
    pruning,
    structure,
    subresources,
    validations,
    versions,
)
from crdgen.lint.consequences import independent
from crdgen.lint.finding import Finding, Severity
from crdgen.lint.node import Node, nodes
from crdgen.lint.rule import Rule
from crdgen.lint.shape import DEFINITION, SCHEMA
from crdgen.lint.version import Definition, Version
from crdgen.schema.walk import Schema

_OF_DEFINITION: Final[tuple[Rule[Definition], ...]] = (
    *document.REFUSED,
    *document.SURPRISING,
    *names.REFUSED,
    *versions.REFUSED,
    *versions.SURPRISING,
    *conversion.REFUSED,
    *conversion.SURPRISING,
)
_OF_VERSION: Final[tuple[Rule[Version], ...]] = (
    *versions.REFUSED_OF_ONE,
    *versions.SURPRISING_OF_ONE,
    *subresources.REFUSED_OF_ONE,
    *subresources.SURPRISING_OF_ONE,
)
_OF_SCHEMA: Final[tuple[Rule[Node], ...]] = (
    *structure.REFUSED,
    *keywords.REFUSED,
    *lists.REFUSED,
    *validations.REFUSED,
)
# What is looked at where a schema has no other mistake, in this order. Expressions are typed by the schema; defaults
# are held against it and its expressions.
_COMPILED: Final[tuple[Rule[Node], ...]] = (*validations.COMPILED, *costs.REFUSED)
_EVALUATED: Final[tuple[Rule[Node], ...]] = (*defaults.REFUSED, *defaults.HIDDEN)
_SURPRISING_IN_SCHEMA: Final[tuple[Rule[Node], ...]] = (
    *structure.SURPRISING,
    *keywords.SURPRISING,
    *pruning.SURPRISING,
    *(rule for rule in defaults.SURPRISING if rule not in defaults.HIDDEN),
    *validations.SURPRISING,
    *costs.SURPRISING,
)
_OF_DECODING: Final[tuple[Rule[Fault], ...]] = (*document.UNREADABLE, *document.UNKNOWN, *document.UNSEEN)

#: Every rule, for the documentation.
RULES: Final[tuple[Rule[Any], ...]] = (
    *document.TOO_DEEP,
    *_OF_DECODING,
    *_OF_DEFINITION,
    *_OF_VERSION,
    *_OF_SCHEMA,
    *_COMPILED,
    *_EVALUATED,
    *_SURPRISING_IN_SCHEMA,
)

# A step of a path that is also one in an object; all others are keywords.
_STEP: Final = re.compile(r"properties\[(.*?)\](?=[.\[]|$)|(?<![^.])(items|additionalProperties)(?=[.\[]|$)")


def lint(definition: Mapping[str, Any], *, strict: bool = True) -> list[Finding]:
    """Return what the API server refuses in a CustomResourceDefinition, and what it takes but will surprise.

    Never raises, whatever JSON it is given, and takes time linear in it.

    Args:
        definition: the whole object, read as JSON.
        strict: take an unknown field for refused, as `kubectl` has it (it asks for `fieldValidation=Strict`); otherwise
            it is surprising: the API server drops it with a warning.
    """
    if is_too_deep(definition):
        return list(_apply(document.TOO_DEEP, definition, ""))
    decoder = Decoder()
    whole = Definition(definition, decoder.read(definition, DEFINITION, ""))
    foreign = list(_apply(document.REFUSED[:1], whole, ""))
    if foreign:
        return foreign
    read = list(_apply(_OF_DEFINITION, whole, ""))
    for version in whole.versions:
        read += _apply(_OF_VERSION, version, version.path)
        read += _in_schema(version.nodes)
    found = [finding for fault in decoder.faults for finding in _of_fault(fault, strict=strict)]
    return found + independent(read, decoder.faults)


def check_structural(schema: Schema) -> list[Finding]:
    """Return what the API server refuses in the schema of a whole object.

    Paths are those of fields: `spec.tasks[].name`.

    A default within a map's values is held against its schema, too, though the API server does not look at it, and an
    unknown keyword is refused wherever it is.
    """
    if is_too_deep(schema):
        return list(_apply(document.TOO_DEEP, schema, ""))
    decoder = Decoder()
    decoded = decoder.read(schema, SCHEMA, "")
    found = [finding for fault in decoder.faults for finding in _of_fault(fault, strict=True)]
    found += independent(_refused_in_schema(nodes(decoded, ""), stop=bool(found)), decoder.faults)
    return [
        Finding(field_path(finding.path), finding.problem, finding.fix, finding.severity, finding.rule)
        for finding in found
    ]


def field_path(path: str) -> str:
    """Return the field of an object that a path in a schema speaks of."""
    steps = (
        f".{step[1]}" if step[1] is not None else "[]" if step[2] == "items" else ".*" for step in _STEP.finditer(path)
    )
    return "".join(steps).lstrip(".")


def _of_fault(fault: Fault, *, strict: bool) -> Iterator[Finding]:
    if fault.unseen:
        rules = document.UNSEEN
    elif fault.unknown:
        rules = document.UNKNOWN if strict else document.UNKNOWN_BUT_LENIENT
    else:
        rules = document.UNREADABLE
    yield from _apply(rules, fault, fault.path)


def _in_schema(every: list[Node]) -> list[Finding]:
    found = _refused_in_schema(every, stop=False)
    return found + [finding for node in every for finding in _of_node(_SURPRISING_IN_SCHEMA, node)]


def _refused_in_schema(every: list[Node], *, stop: bool) -> list[Finding]:
    """Return what is refused, phase by phase; after a phase that found something the next ones are left out."""
    found: list[Finding] = []
    for phase in (_OF_SCHEMA, _COMPILED, _EVALUATED):
        found += [finding for node in every for finding in _of_node(phase, node)]
        if stop or any(finding.severity is Severity.REFUSED for finding in found):
            break
    return found


def _of_node(rules: Iterable[Rule[Node]], node: Node) -> Iterator[Finding]:
    for rule in rules:
        if not rule.keywords or not rule.keywords.isdisjoint(node.schema):
            yield from rule.findings(node, node.path)


def _apply(rules: Iterable[Rule[Any]], subject: Any, path: str) -> Iterator[Finding]:
    for rule in rules:
        yield from rule.findings(subject, path)

"""All lint rules, in the order of the API server."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from crdgen.decode.decoder import Decoder, is_too_deep
from crdgen.lint import conversion, document, eachversion, faults, names, schemas, subresources, versions
from crdgen.lint.faults import independent
from crdgen.lint.finding import Finding
from crdgen.lint.rule import LintRule, family
from crdgen.lint.shape import DEFINITION
from crdgen.lint.version import Definition

_OF_DEFINITION: Final = tuple(rule for module in (document, names, versions, conversion) for rule in family(module))
_OF_VERSION: Final = tuple(rule for module in (eachversion, subresources) for rule in family(module))

#: Every rule, for the documentation.
RULES: Final[tuple[LintRule[Any], ...]] = (*family(faults), *_OF_DEFINITION, *_OF_VERSION, *schemas.RULES)


def check(definition: Mapping[str, Any], *, strict: bool) -> list[Finding]:
    """Return all findings of a CustomResourceDefinition; `strict` as in `crdgen.lint.lint`."""
    if is_too_deep(definition):
        return list(faults.document_is_nested_reasonably.findings(definition, ""))
    decoder = Decoder()
    whole = Definition(definition, decoder.read(definition, DEFINITION, ""))
    foreign = list(document.document_is_a_definition.findings(whole, ""))
    if foreign:
        return foreign
    read = list(_apply(_OF_DEFINITION, whole, ""))
    for one in whole.versions:
        read += _apply(_OF_VERSION, one, one.path)
        read += schemas.in_schema(one.nodes)
    found = [finding for fault in decoder.faults for finding in faults.findings(fault, strict=strict)]
    return found + independent(read, decoder.faults)


def _apply(rules: Iterable[LintRule[Any]], subject: Any, path: str) -> Iterator[Finding]:
    for rule in rules:
        yield from rule.findings(subject, path)

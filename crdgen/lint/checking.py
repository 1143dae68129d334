"""All rules, in the order in which the API server gets to them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from crdgen.decoding import Decoder, is_too_deep
from crdgen.lint import conversion, document, faults, names, schemas, subresources, versions
from crdgen.lint.consequences import independent
from crdgen.lint.finding import Finding
from crdgen.lint.rule import Rule
from crdgen.lint.shape import DEFINITION
from crdgen.lint.version import Definition, Version

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

#: Every rule, for the documentation.
RULES: Final[tuple[Rule[Any], ...]] = (
    *faults.TOO_DEEP,
    *faults.RULES,
    *_OF_DEFINITION,
    *_OF_VERSION,
    *schemas.RULES,
)


def check(definition: Mapping[str, Any], *, strict: bool) -> list[Finding]:
    """Return all findings of a CustomResourceDefinition; `strict` as in `crdgen.lint.lint`."""
    if is_too_deep(definition):
        return list(_apply(faults.TOO_DEEP, definition, ""))
    decoder = Decoder()
    whole = Definition(definition, decoder.read(definition, DEFINITION, ""))
    foreign = list(_apply(document.REFUSED[:1], whole, ""))
    if foreign:
        return foreign
    read = list(_apply(_OF_DEFINITION, whole, ""))
    for version in whole.versions:
        read += _apply(_OF_VERSION, version, version.path)
        read += schemas.in_schema(version.nodes)
    found = [finding for fault in decoder.faults for finding in faults.told(fault, strict=strict)]
    return found + independent(read, decoder.faults)


def _apply(rules: Iterable[Rule[Any]], subject: Any, path: str) -> Iterator[Finding]:
    for rule in rules:
        yield from rule.findings(subject, path)

"""Rules for decoding: values of a wrong type, unknown fields."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from crdgen.decode.decoder import DEPTH, DecodingFault
from crdgen.lint.finding import Finding, Severity
from crdgen.lint.rule import Found, error, warning

# Keywords on which it depends what the others of the same schema mean.
_DECISIVE: Final = re.compile(
    r"(.*?)\.?(?<![^.])(?:type|properties|items|additionalProperties|required|x-kubernetes-[a-z-]+)"
)
# A field of an item: what is said of the list may follow from it.
_OF_ITEM: Final = re.compile(r"(.*)\[\d+\]\.[^.\[\]]+")
# The last step of a path that is a keyword, perhaps with a place in its list: `x-kubernetes-validations[0].rule`.
_KEYWORD: Final = re.compile(r"(.*?)\.?(?<![^.])[A-Za-z$-]+(?:\[\d+\](?:\.[A-Za-z]+)?)?")
_STEP: Final = re.compile(r"[.\[]")


def independent(findings: Iterable[Finding], faults: Iterable[DecodingFault]) -> list[Finding]:
    """Return the findings that are not mere consequences of a decoding error."""
    unread = {fault.path for fault in faults if not fault.unknown}
    lists = {found[1] for found in map(_OF_ITEM.fullmatch, unread) if found}
    schemas = {found[1] for found in map(_DECISIVE.fullmatch, unread) if found}
    return [
        finding
        for finding in findings
        if unread.isdisjoint(_around(finding.path))
        and finding.path not in lists
        and schemas.isdisjoint(_schemas(finding.path))
    ]


def _around(path: str) -> list[str]:
    """Return a path, and those of all that it is in."""
    return [path, *(path[: step.start()] for step in _STEP.finditer(path))]


def _schemas(path: str) -> list[str]:
    """Return the schemas that a finding may be about: at its path, or the one whose keyword is there."""
    found = _KEYWORD.fullmatch(path)
    return [path, found[1]] if found else [path]


@warning("this linter")
def document_is_nested_reasonably(_: Any) -> Iterator[Found]:
    """Extremely nested documents are not checked."""
    yield Found("", f"the document is nested more than {DEPTH} levels deep, and was not checked", "flatten it")


@error("apiextensions types.go, types_jsonschema.go and marshal.go of v1")
def value_has_the_right_type(fault: DecodingFault) -> Iterator[Found]:
    """The API server decodes the document into typed values before it validates them."""
    yield Found("", fault.problem, fault.fix)


@error("k8s.io/apimachinery, pkg/runtime/serializer/json")
def field_is_known(fault: DecodingFault) -> Iterator[Found]:
    """Strict decoding, which kubectl requests, rejects unknown fields; otherwise they are dropped with a warning."""
    yield Found("", fault.problem, fault.fix)


@warning("apiextensions marshal.go of v1, UnmarshalJSON of JSONSchemaPropsOrArray and JSONSchemaPropsOrBool")
def field_within_items_is_known(fault: DecodingFault) -> Iterator[Found]:
    """Below items and additionalProperties, unknown fields are dropped even with strict decoding."""
    yield Found("", f"{fault.problem}, and silently dropped", fault.fix)


def findings(fault: DecodingFault, *, strict: bool) -> Iterator[Finding]:
    """Yield what is to be said of a fault."""
    rule = value_has_the_right_type
    if fault.unseen:
        rule = field_within_items_is_known
    elif fault.unknown:
        rule = field_is_known if strict else replace(field_is_known, severity=Severity.WARNING)
    yield from rule.findings(fault, fault.path)

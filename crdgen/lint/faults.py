"""What decoding a document finds: values of a wrong type, unknown fields; and what only follows from those."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from crdgen.decoding import DEPTH, Fault
from crdgen.lint.finding import Finding, Severity
from crdgen.lint.rule import Found, refused, surprising

# Keywords on which it depends what the others of the same schema mean.
_DECISIVE: Final = re.compile(
    r"(.*?)\.?(?<![^.])(?:type|properties|items|additionalProperties|required|x-kubernetes-[a-z-]+)"
)
# A field of an item: what is said of the list may follow from it.
_OF_ITEM: Final = re.compile(r"(.*)\[\d+\]\.[^.\[\]]+")
# The last step of a path that is a keyword, perhaps with a place in its list: `x-kubernetes-validations[0].rule`.
_KEYWORD: Final = re.compile(r"(.*?)\.?(?<![^.])[A-Za-z$-]+(?:\[\d+\](?:\.[A-Za-z]+)?)?")
_STEP: Final = re.compile(r"[.\[]")


def independent(findings: Iterable[Finding], faults: Iterable[Fault]) -> list[Finding]:
    """Return the findings that would be there, too, were everything readable: one fault gives one finding."""
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


@surprising("this linter")
def document_is_nested_reasonably(_: Any) -> Iterator[Found]:
    """What is nested more deeply than anybody writes is not looked at."""
    yield Found("", f"the document is nested more than {DEPTH} levels deep, and was not checked", "flatten it")


@refused("apiextensions types.go, types_jsonschema.go and marshal.go of v1")
def value_has_the_right_type(fault: Fault) -> Iterator[Found]:
    """The API server decodes the document into typed values before it looks at what they say."""
    yield Found("", fault.problem, fault.fix)


@refused("k8s.io/apimachinery, pkg/runtime/serializer/json")
def field_is_known(fault: Fault) -> Iterator[Found]:
    """An unknown field is dropped. Strict decoding, which kubectl asks for, refuses it; other clients get a warning."""
    yield Found("", fault.problem, fault.fix)


@surprising("apiextensions marshal.go of v1, UnmarshalJSON of JSONSchemaPropsOrArray and JSONSchemaPropsOrBool")
def field_within_items_is_known(fault: Fault) -> Iterator[Found]:
    """Below items and additionalProperties an unknown field is dropped and not even strict decoding says so."""
    yield Found("", f"{fault.problem}, and dropped without a word", fault.fix)


def findings(fault: Fault, *, strict: bool) -> Iterator[Finding]:
    """Yield what is to be said of a fault."""
    rule = value_has_the_right_type
    if fault.unseen:
        rule = field_within_items_is_known
    elif fault.unknown:
        rule = field_is_known if strict else replace(field_is_known, severity=Severity.SURPRISING)
    yield from rule.findings(fault, fault.path)

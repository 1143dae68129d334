"""What decoding a document finds: values of a wrong type, fields that are not known."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crdgen.decoding import DEPTH, Fault
from crdgen.lint.finding import Finding, Severity
from crdgen.lint.rule import Found, refused, surprising


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

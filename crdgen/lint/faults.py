"""What decoding a document tells: values of a wrong type, fields that are not known."""

from collections.abc import Iterator
from typing import Any, Final

from crdgen.decoding import DEPTH, Fault
from crdgen.lint.finding import Finding
from crdgen.lint.rule import Found, Rule, refused, surprising


def document_is_nested_reasonably(document: Any) -> Iterator[Found]:
    """What is nested more deeply than anybody writes is not looked at.

    Source: this linter
    """
    del document
    yield Found("", f"the document is nested more than {DEPTH} levels deep, and was not checked", "flatten it")


def value_has_the_right_type(fault: Fault) -> Iterator[Found]:
    """The API server decodes the document into typed values before it looks at what they say.

    Source: apiextensions types.go, types_jsonschema.go and marshal.go of v1
    """
    yield Found("", fault.problem, fault.fix)


def field_is_known(fault: Fault) -> Iterator[Found]:
    """An unknown field is dropped. Strict decoding, which kubectl asks for, refuses it; other clients get a warning.

    Source: k8s.io/apimachinery, pkg/runtime/serializer/json
    """
    yield Found("", fault.problem, fault.fix)


def field_within_items_is_known(fault: Fault) -> Iterator[Found]:
    """Below items and additionalProperties an unknown field is dropped and not even strict decoding says so.

    Source: apiextensions marshal.go of v1, UnmarshalJSON of JSONSchemaPropsOrArray and JSONSchemaPropsOrBool
    """
    yield Found("", f"{fault.problem}, and dropped without a word", fault.fix)


TOO_DEEP = surprising(document_is_nested_reasonably)
UNREADABLE = refused(value_has_the_right_type)
UNKNOWN = refused(field_is_known)
UNKNOWN_BUT_LENIENT = surprising(field_is_known)
UNSEEN = surprising(field_within_items_is_known)

#: Every rule, for the documentation.
RULES: Final[tuple[Rule[Fault], ...]] = (*UNREADABLE, *UNKNOWN, *UNSEEN)


def told(fault: Fault, *, strict: bool) -> Iterator[Finding]:
    """Yield what is to be said of a fault."""
    if fault.unseen:
        rules = UNSEEN
    elif fault.unknown:
        rules = UNKNOWN if strict else UNKNOWN_BUT_LENIENT
    else:
        rules = UNREADABLE
    for rule in rules:
        yield from rule.findings(fault, fault.path)

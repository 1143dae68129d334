"""Findings of the linter."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How serious a finding is."""

    #: The API server rejects it, at least with strict decoding, which `kubectl` requests.
    ERROR = "error"
    #: The API server accepts it, but it has no effect, or another than it seems to have.
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """A violation of a rule in a CustomResourceDefinition.

    Attributes:
        path: where, as the API server writes it: `spec.versions[0].schema.openAPIV3Schema.properties[spec].default`.
        problem: what is wrong.
        fix: what would be right.
        severity: whether the API server rejects it.
        rule: name of the rule, as in `docs/reference/crd-lint.md`.
    """

    path: str
    problem: str
    fix: str
    severity: Severity
    rule: str

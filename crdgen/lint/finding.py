"""What the linter says of one place."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """What becomes of a CustomResourceDefinition with the finding."""

    #: The API server, or the strict decoding that `kubectl` asks it for, does not take it.
    REFUSED = "refused"
    #: It is taken, and does not do what it seems to say.
    SURPRISING = "surprising"


@dataclass(frozen=True)
class Finding:
    """One rule that a CustomResourceDefinition breaks.

    Attributes:
        path: where, as the API server writes it: `spec.versions[0].schema.openAPIV3Schema.properties[spec].default`.
        problem: what is wrong, as a sentence about the place.
        fix: what would be right.
        severity: whether the API server refuses it.
        rule: the name of the rule, as `docs/reference/crd-lint.md` lists it.
    """

    path: str
    problem: str
    fix: str
    severity: Severity
    rule: str

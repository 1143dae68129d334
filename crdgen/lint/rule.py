"""Lint rules, which are functions, and their findings."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from msgspec import Struct

from crdgen.decode.decoder import under
from crdgen.severity import Severity


class Finding(Struct, frozen=True):
    """A violation of a rule in a CustomResourceDefinition.

    Attributes:
        path: the path as on the API server: `spec.versions[0].schema.openAPIV3Schema.properties[spec].default`.
        rule: name of the rule, as in `docs/reference/crd-lint.md`.
    """

    path: str
    problem: str
    fix: str
    severity: Severity
    rule: str


Subject = TypeVar("Subject")

#: Phases; a phase only runs if earlier phases found no errors. Expressions depend on the types of the schema; defaults
#: depend on the schema and its expressions.
COMPILED: Final = 1
EVALUATED: Final = 2


class Issue(NamedTuple):
    """A violation: its path below the checked subject (empty for the subject itself), the problem and the fix."""

    at: str
    problem: str
    fix: str


class LintRule(Struct, Generic[Subject], frozen=True):
    """A lint rule. Name and reason are the name and the first docstring paragraph of its function.

    Attributes:
        source: where the rule comes from, usually a file of Kubernetes.
        keywords: the keywords that the rule checks; it is skipped for schemas without them. Empty: never skipped.
        phase: 0, `COMPILED` or `EVALUATED`.
    """

    check: Callable[[Subject], Iterator[Issue]]
    severity: Severity
    source: str
    keywords: frozenset[str] = frozenset()
    phase: int = 0

    @property
    def name(self) -> str:
        """Name in findings and in the documentation: `map-keys-identify-items`."""
        return self.check.__name__.replace("_", "-")

    @property
    def why(self) -> str:
        """Reason for the rule."""
        return " ".join((self.check.__doc__ or "").partition("\n\n")[0].split())

    def findings(self, subject: Subject, path: str) -> Iterator[Finding]:
        """Yield the findings of the rule for a subject with a path."""
        for issue in self.check(subject):
            at = path + issue.at if issue.at.startswith("[") else under(path, issue.at) if issue.at else path
            yield Finding(at, issue.problem, issue.fix, self.severity, self.name)


def error(
    source: str, *keywords: str, phase: int = 0
) -> Callable[[Callable[[Subject], Iterator[Issue]]], LintRule[Subject]]:
    """Decorate a rule for errors, which the API server rejects."""
    return lambda check: LintRule(check, Severity.ERROR, source, frozenset(keywords), phase)


def warning(
    source: str, *keywords: str, phase: int = 0
) -> Callable[[Callable[[Subject], Iterator[Issue]]], LintRule[Subject]]:
    """Decorate a rule for warnings, which the API server accepts."""
    return lambda check: LintRule(check, Severity.WARNING, source, frozenset(keywords), phase)


def family(module: ModuleType) -> tuple[LintRule[Any], ...]:
    """Return the rules that a module defines, in order."""
    rules = (value for value in vars(module).values() if isinstance(value, LintRule))
    return tuple(rule for rule in rules if rule.check.__module__ == module.__name__)

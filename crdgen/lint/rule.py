"""A rule: one function that looks at one thing, and what its findings mean."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from crdgen.decoding import under
from crdgen.lint.finding import Finding, Severity

Subject = TypeVar("Subject")

#: What is looked at where a schema has no other mistake, in this order: expressions, which are typed by the schema, and
#: defaults, which are held against it and its expressions.
COMPILED: Final = 1
EVALUATED: Final = 2


class Found(NamedTuple):
    """What a rule says: where below the thing that it looks at, or empty for the thing itself; what; how to fix it."""

    at: str
    problem: str
    fix: str


@dataclass(frozen=True)
class Rule(Generic[Subject]):
    """One rule. Its function's name names it, and the first paragraph of its docstring says why it is there.

    Attributes:
        check: the function.
        severity: what the API server makes of a breach.
        source: the file of Kubernetes that makes the rule, or what else it comes from.
        keywords: the rule looks at these only: a schema with none of them need not be shown to it.
        phase: when it is looked at; 0 for always.
    """

    check: Callable[[Subject], Iterator[Found]]
    severity: Severity
    source: str
    keywords: frozenset[str] = frozenset()
    phase: int = 0

    @property
    def name(self) -> str:
        """How findings and the documentation call it: `list-map-keys-are-there`."""
        return self.check.__name__.replace("_", "-")

    @property
    def why(self) -> str:
        """Why the rule is there."""
        return " ".join((self.check.__doc__ or "").partition("\n\n")[0].split())

    def findings(self, subject: Subject, path: str) -> Iterator[Finding]:
        """Return what the rule finds in one thing, whose path is given."""
        for found in self.check(subject):
            at = path + found.at if found.at.startswith("[") else under(path, found.at) if found.at else path
            yield Finding(at, found.problem, found.fix, self.severity, self.name)


class _Decorator(Protocol):
    def __call__(self, check: Callable[[Subject], Iterator[Found]], /) -> Rule[Subject]: ...


def refused(source: str, *keywords: str, phase: int = 0) -> _Decorator:
    """Make a function a rule of which the API server takes no breach."""
    return _rule(Severity.REFUSED, source, keywords, phase)


def surprising(source: str, *keywords: str, phase: int = 0) -> _Decorator:
    """Make a function a rule of which the API server takes a breach."""
    return _rule(Severity.SURPRISING, source, keywords, phase)


def _rule(severity: Severity, source: str, keywords: Iterable[str], phase: int) -> _Decorator:
    def rule(check: Callable[[Subject], Iterator[Found]], /) -> Rule[Subject]:
        return Rule(check, severity, source, frozenset(keywords), phase)

    return rule


def family(module: ModuleType) -> tuple[Rule[Any], ...]:
    """Return the rules that a module defines, in their order."""
    rules = (value for value in vars(module).values() if isinstance(value, Rule))
    return tuple(rule for rule in rules if rule.check.__module__ == module.__name__)

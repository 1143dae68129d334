"""A rule: one function that looks at one thing, and what its findings mean."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from crdgen.decoding import under
from crdgen.lint.finding import Finding, Severity

Subject = TypeVar("Subject")


class Found(NamedTuple):
    """What a rule says: where below the thing that it looks at, or empty for the thing itself; what; how to mend it."""

    at: str
    problem: str
    fix: str


@dataclass(frozen=True)
class Rule(Generic[Subject]):
    """One rule. Its function's name names it, its docstring says why it is there and where in Kubernetes it is from."""

    check: Callable[[Subject], Iterator[Found]]
    severity: Severity
    #: The rule looks at these keywords only: a schema with none of them need not be shown to it.
    keywords: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """How findings and the documentation call it: `list-map-keys-are-there`."""
        return self.check.__name__.replace("_", "-")

    @property
    def why(self) -> str:
        """Why the rule is there: its function's docstring without the source."""
        return self._paragraphs[0]

    @property
    def source(self) -> str:
        """The file of Kubernetes that makes the rule, or what else it comes from."""
        return self._paragraphs[-1].removeprefix("Source: ")

    @property
    def _paragraphs(self) -> list[str]:
        lines = (self.check.__doc__ or "").strip().split("\n")
        return " ".join(line.strip() or "\n" for line in lines).replace(" \n ", "\n").split("\n")

    def findings(self, subject: Subject, path: str) -> Iterator[Finding]:
        """Return what the rule finds in one thing, whose path is given."""
        for found in self.check(subject):
            at = path + found.at if found.at.startswith("[") else under(path, found.at) if found.at else path
            yield Finding(at, found.problem, found.fix, self.severity, self.name)


def refused(*checks: Callable[[Subject], Iterator[Found]], keywords: Iterable[str] = ()) -> tuple[Rule[Subject], ...]:
    """Return rules of which the API server takes no breach; of the schemas that have one of the keywords, if given."""
    return tuple(Rule(check, Severity.REFUSED, frozenset(keywords)) for check in checks)


def surprising(
    *checks: Callable[[Subject], Iterator[Found]], keywords: Iterable[str] = ()
) -> tuple[Rule[Subject], ...]:
    """Return rules of which the API server takes a breach; of the schemas that have one of the keywords, if given."""
    return tuple(Rule(check, Severity.SURPRISING, frozenset(keywords)) for check in checks)

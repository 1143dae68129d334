"""Compares the API server's verdicts with ours, and counts the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from controlplane.client import ClusterApi
from tests.differential.pods.answer import Answer, ask, judge, prepare
from tests.differential.pods.case import Case, Pod
from tests.differential.pods.known import KnownDifference, explanation

Oracle = Callable[[Pod], Answer]


@dataclass(frozen=True)
class Comparison:
    """A case and both verdicts."""

    case: Case
    server: Answer
    ours: Answer

    @property
    def judged(self) -> bool:
        """Whether the verdict depends only on the Pod, not on objects in the cluster."""
        return "cluster" not in self.server.stages

    @property
    def is_false_refusal(self) -> bool:
        """Whether we reject a Pod that the server accepts."""
        return self.judged and self.server.accepted and not self.ours.accepted

    @property
    def is_miss(self) -> bool:
        """Whether we accept a Pod that the server rejects."""
        return self.judged and not self.server.accepted and self.ours.accepted

    @property
    def known(self) -> KnownDifference | None:
        """The known difference that explains this disagreement."""
        if not self.is_false_refusal and not self.is_miss:
            return None
        return explanation(self.case, self.server, self.ours)

    @property
    def is_located(self) -> bool:
        """Whether both reject, and the server by rules with fields, so that the fields can be compared."""
        return self.server.stages == {"validation"} and not self.ours.accepted

    def __str__(self) -> str:
        return f"{self.case.title}\n    API server: {brief(self.server)}\n    ours: {brief(self.ours)}"


@dataclass
class Figures:
    """Counts of one group.

    Attributes:
        schema_only: rejections of both in which only our schema rejects, not our rules.
        same_fields: rejections of both that name the same set of fields; `all_fields`: ours names at least the server's.
    """

    cases: int = 0
    accepted: int = 0
    refused: int = 0
    cluster: int = 0
    agreed: int = 0
    false_refusals: int = 0
    misses: int = 0
    schema_only: int = 0
    located: int = 0
    same_fields: int = 0
    all_fields: int = 0
    disagreements: list[Comparison] = field(default_factory=list)

    @property
    def faults(self) -> list[Comparison]:
        """The disagreements without a known difference."""
        return [comparison for comparison in self.disagreements if comparison.known is None]

    def add(self, comparison: Comparison) -> None:
        """Count one comparison."""
        self.cases += 1
        if not comparison.judged:
            self.cluster += 1
            return
        if comparison.server.accepted:
            self.accepted += 1
        else:
            self.refused += 1
        if comparison.is_false_refusal or comparison.is_miss:
            self.false_refusals += comparison.is_false_refusal
            self.misses += comparison.is_miss
            self.disagreements.append(comparison)
        else:
            self.agreed += 1
        if not comparison.server.accepted and comparison.ours.stages == {"schema"}:
            self.schema_only += 1
        if comparison.is_located:
            self.located += 1
            self.same_fields += comparison.server.paths == comparison.ours.paths
            self.all_fields += comparison.server.paths <= comparison.ours.paths

    @property
    def overlooked(self) -> float:
        """The share of the server's rejections that we accept without a known difference, in percent."""
        return 100 * sum(fault.is_miss for fault in self.faults) / max(self.refused, 1)

    @property
    def caught(self) -> float:
        """The share of the server's rejections that we reject as well, in percent."""
        return 100.0 if not self.refused else 100 * (1 - self.misses / self.refused)


def compare(cases: Iterable[Case], oracle: Oracle) -> Iterator[Comparison]:
    """Yield both verdicts on each case."""
    for case in cases:
        yield Comparison(case, oracle(case.pod), judge(case.pod))


def asking(api: ClusterApi) -> Oracle:
    """Prepare the API server, and return an oracle that asks it."""
    prepare(api)
    return lambda pod: ask(api, pod)


def figures(comparisons: Iterable[Comparison]) -> tuple[dict[str, Figures], Figures]:
    """Return the figures by group, and their sums."""
    by_group: dict[str, Figures] = {}
    total = Figures()
    for comparison in comparisons:
        by_group.setdefault(comparison.case.group, Figures()).add(comparison)
        total.add(comparison)
    return by_group, total


def brief(answer: Answer, limit: int = 400) -> str:
    """Return an answer on one line, cut after `limit` characters."""
    text = " ".join(str(answer).split())
    return text if len(text) <= limit else f"{text[:limit]}…"

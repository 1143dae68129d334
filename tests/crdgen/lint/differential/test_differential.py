"""Compare the linter with a real API server, on a sample of `python -m tests.differential.crds`."""

from controlplane import ClusterApi
from tests.differential.crds.cases import full, sample
from tests.differential.crds.comparison import asking, compare


def test_the_verdicts_agree(cluster_api: ClusterApi) -> None:
    comparisons = list(compare(sample(), asking(cluster_api)))
    assert [str(comparison) for comparison in comparisons if not comparison.agrees] == []
    # The sample needs enough CRDs of both verdicts.
    accepted = sum(comparison.answer.accepted for comparison in comparisons)
    assert min(accepted, len(comparisons) - accepted) > 25


def test_the_cases_are_the_same_for_the_same_seed() -> None:
    first, second = ([case.definition for _, case in zip(range(1300), full(1), strict=False)] for _ in range(2))
    assert first == second

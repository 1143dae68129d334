"""The linter against a real API server, on a sample of what `python -m tests.differential.crds` compares."""

from controlplane import ClusterApi
from tests.differential.crds.cases import full, sample
from tests.differential.crds.comparison import asking, compare


def test_the_verdicts_agree(cluster_api: ClusterApi) -> None:
    comparisons = list(compare(sample(), asking(cluster_api)))
    assert [str(each) for each in comparisons if not each.agrees] == []
    # The sample says something only where there is enough of both.
    assert (
        min(sum(each.answer.accepted for each in comparisons), sum(not each.answer.accepted for each in comparisons))
        > 25
    )


def test_the_cases_are_the_same_for_the_same_seed() -> None:
    first, second = ([case.definition for _, case in zip(range(1300), full(1), strict=False)] for _ in range(2))
    assert first == second

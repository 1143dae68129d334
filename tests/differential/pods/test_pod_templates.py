"""A sample of the comparison with a real API server; `python -m tests.differential.pods` makes the whole of it."""

import pytest

from controlplane.client import ClusterApi
from controlplane.fixtures import cluster_api, controlplane
from tests.differential.pods.cases import sample
from tests.differential.pods.comparison import Comparison, Figures, asking, compare, figures

__all__ = ["cluster_api", "controlplane"]

_SEED = 20260921
_OVERLOOKED_AT_MOST = 0.5


@pytest.fixture(scope="module")
def compared(cluster_api: ClusterApi) -> list[Comparison]:
    return list(compare(sample(_SEED), asking(cluster_api)))


@pytest.fixture(scope="module")
def total(compared: list[Comparison]) -> Figures:
    return figures(compared)[1]


def test_the_api_server_takes_every_base_pod(compared: list[Comparison]) -> None:
    refused = [one for one in compared if one.case.origin == "base" and not one.server.accepted]
    assert not refused, _told(refused)


def test_the_sample_has_enough_of_both_sorts(total: Figures) -> None:
    assert total.accepted > 300
    assert total.refused > 300


def test_we_reject_nothing_that_the_api_server_takes(total: Figures) -> None:
    wrong = [one for one in total.faults if one.is_false_refusal]
    assert not wrong, _told(wrong)


def test_we_catch_what_the_api_server_rejects(total: Figures) -> None:
    missed = [one for one in total.faults if one.is_miss]
    assert total.overlooked <= _OVERLOOKED_AT_MOST, f"{total.overlooked:.2f} % overlooked\n{_told(missed)}"


def _told(comparisons: list[Comparison]) -> str:
    return "\n".join(map(str, comparisons))

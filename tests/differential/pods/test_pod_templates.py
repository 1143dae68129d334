"""A sample of the comparison with a real API server; `python -m tests.differential.pods` runs all cases."""

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


def test_the_api_server_accepts_every_base_pod(compared: list[Comparison]) -> None:
    refused = [each for each in compared if each.case.origin == "base" and not each.server.accepted]
    assert not refused, _text_of(refused)


def test_the_sample_has_enough_accepted_and_rejected_pods(total: Figures) -> None:
    assert total.accepted > 300
    assert total.refused > 300


def test_we_reject_no_pod_that_the_api_server_accepts(total: Figures) -> None:
    wrong = [fault for fault in total.faults if fault.is_false_refusal]
    assert not wrong, _text_of(wrong)


def test_we_reject_the_pods_that_the_api_server_rejects(total: Figures) -> None:
    missed = [fault for fault in total.faults if fault.is_miss]
    assert total.overlooked <= _OVERLOOKED_AT_MOST, f"{total.overlooked:.2f} % overlooked\n{_text_of(missed)}"


def _text_of(comparisons: list[Comparison]) -> str:
    return "\n".join(map(str, comparisons))

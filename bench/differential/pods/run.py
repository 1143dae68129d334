"""A run: every case to the API server and to us."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bench.differential.pods.answer import Answer
from bench.differential.pods.case import Case, Pod
from bench.differential.pods.comparison import Comparison
from bench.differential.pods.oracle import ask, prepare
from bench.differential.pods.verdict import judge
from controlplane.client import ClusterApi

Oracle = Callable[[Pod], Answer]


def compare(cases: Iterable[Case], oracle: Oracle) -> Iterator[Comparison]:
    """Yield both answers to each case."""
    for case in cases:
        yield Comparison(case, oracle(case.pod), judge(case.pod))


def asking(api: ClusterApi) -> Oracle:
    """An oracle that asks the API server behind `api`, which is made ready for it."""
    prepare(api)
    return lambda pod: ask(api, pod)

"""A run: every case to the API server and to us."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.differential.pods.answer import Answer, Finding
from bench.differential.pods.case import Case, Pod
from bench.differential.pods.comparison import Comparison
from bench.differential.pods.oracle import ask, prepare
from bench.differential.pods.verdict import judge
from controlplane.client import ClusterApi

# A Pod without a name, or with a bad one, is answered by the name or the pointer that the server made up.
_MADE_UP = re.compile(r"0xc[0-9a-f]{6,}")

Oracle = Callable[[Pod], Answer]


def compare(cases: Iterable[Case], oracle: Oracle) -> Iterator[Comparison]:
    """Yield both answers to each case."""
    for case in cases:
        yield Comparison(case, oracle(case.pod), judge(case.pod))


def asking(api: ClusterApi) -> Oracle:
    """An oracle that asks the API server behind `api`, which is made ready for it."""
    prepare(api)
    return lambda pod: ask(api, pod)


class Remembered:
    """Answers of the API server kept in a file, so that a changed rule is measured in seconds and with no server.

    They hold for one version of Kubernetes; the file is for the one who works on the rules, not for the tree.
    """

    def __init__(self, file: Path, oracle: Oracle | None) -> None:
        """Without an `oracle`, a Pod that the file does not know is a `LookupError`."""
        self._file = file
        self._oracle = oracle
        self._known: dict[str, list[dict[str, Any]]] = {}
        if file.exists():
            self._known = json.loads(file.read_text(encoding="utf-8"))

    def __call__(self, pod: Pod) -> Answer:
        """Return the answer, from the file where it is there."""
        key = hashlib.sha256(json.dumps(pod, sort_keys=True).encode()).hexdigest()
        if key not in self._known:
            if self._oracle is None:
                raise LookupError(f"{self._file} has no answer to this Pod: run once with an API server")
            answer = self._oracle(pod)
            self._known[key] = [
                {**asdict(one), "message": _MADE_UP.sub("0x…", one.message)[:600]} for one in answer.findings
            ]
        return Answer(tuple(Finding(**one) for one in self._known[key]))

    def save(self) -> None:
        """Write the file."""
        self._file.write_text(json.dumps(self._known), encoding="utf-8")

"""The command `python -m bench.creates`."""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.comparison import jobs
from bench.page import piped, renew
from tests.controlplane import ControlPlane, Terminal, find_or_build
from tests.controlplane.client import Answer, ClusterApi
from tests.controlplane.waiting import wait_for
from tests.controlplane.webhook import InstalledWebhook

_POLICIES = Path(__file__).with_name("policies.yaml")
_DISABLED = {"jobgate.dev/admission": "disabled"}
NEITHER, WEBHOOKS, POLICIES = "neither", "webhooks", "policies"
#: The namespaces, each with what is done there at admission, and its labels.
NAMESPACES: Mapping[str, Mapping[str, str]] = {
    NEITHER: _DISABLED,
    WEBHOOKS: {},
    POLICIES: {**_DISABLED, "bench": POLICIES},
}
TASKS = (1, 3, 30)
#: Creates in a row in one namespace; the others have their turn then.
IN_A_ROW = 5


def main(argv: list[str] | None = None) -> int:
    """Measure, and print a row a size."""
    parser = argparse.ArgumentParser(prog="python -m bench.creates", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help=f"turns of each namespace, {IN_A_ROW} creates each")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file")
    parser.add_argument("--write", action="store_true", help="renew docs/performance.md")
    command = parser.parse_args(argv)
    with ControlPlane(find_or_build(Terminal())) as plane, tempfile.TemporaryDirectory() as folder:
        for name, labels in NAMESPACES.items():
            plane.client.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        with InstalledWebhook(plane, Path(folder)):
            plane.kubectl("apply", "-f", str(_POLICIES))
            wait_for(lambda: _refused(plane.client, POLICIES), 60, what="the API server to follow the policies")
            _check(plane.client)
            measured = {tasks: measure(plane.client, tasks, command.rounds) for tasks in TASKS}
    rows = [["tasks", "neither, ms", "webhooks add, ms", "policies add, ms", "ratio"]]
    rows += [row(tasks, of) for tasks, of in measured.items()]
    print("\n".join("  ".join(f"{cell:>18}" for cell in one) for one in rows))
    if command.json:
        command.json.write_text(json.dumps(measured), encoding="utf-8")
    if command.write:
        renew("creates", piped(rows))
    return 0


def measure(api: ClusterApi, tasks: int, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of a create in each namespace, the median of each turn."""
    turns: dict[str, list[float]] = {name: [] for name in NAMESPACES}
    variant = 0
    for number in range(rounds + 1):
        for name in NAMESPACES:
            took = []
            for _ in range(IN_A_ROW):
                variant += 1
                body = json.dumps(job(tasks, variant, name))
                began = time.perf_counter()
                status, answer = create(api, name, body)
                took.append((time.perf_counter() - began) * 1000)
                assert status == 201, answer
            if number:  # the first turn warms up
                turns[name].append(statistics.median(took))
    return turns


def row(tasks: int, turns: Mapping[str, Sequence[float]]) -> list[str]:
    """Return a row of the table: medians over the turns, and what is added, turn by turn."""
    added = {
        name: statistics.median(one - other for one, other in zip(turns[name], turns[NEITHER], strict=True))
        for name in (WEBHOOKS, POLICIES)
    }
    figures = (statistics.median(turns[NEITHER]), added[WEBHOOKS], added[POLICIES], added[WEBHOOKS] / added[POLICIES])
    return [str(tasks), *(f"{figure:.2f}" for figure in figures)]


def job(tasks: int, variant: int, namespace: str) -> dict[str, Any]:
    """Return a job."""
    made = jobs.job("DIJob", tasks, variant)
    return {**made, "metadata": {**made["metadata"], "namespace": namespace}}


def create(api: ClusterApi, namespace: str, body: Any) -> Answer:
    """Create a job, but do not store it."""
    path = f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{namespace}/dijobs"
    return api.post(path, body, {"dryRun": "All"})


def _refused(api: ClusterApi, namespace: str) -> bool:
    broken = job(1, 0, namespace)
    broken["spec"] |= {"minReplicas": 3, "maxReplicas": 2}
    return create(api, namespace, broken)[0] == 422


def _check(api: ClusterApi) -> None:
    """Check that each namespace has the admission that it is measured for."""
    assert [_refused(api, name) for name in NAMESPACES] == [False, True, True]
    for name in NAMESPACES:
        status, stored = create(api, name, copy.deepcopy(job(3, 0, name)))
        assert status == 201, stored
        assert all("name" in task for task in stored["spec"]["tasks"]) is (name != NEITHER), stored["spec"]


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench.creates`: measures the latency that webhooks or policies add to a create at a real API server.

`creates.yaml` has the basic defaults and rules of a DIJob as MutatingAdmissionPolicy and ValidatingAdmissionPolicy, as
one would write them by hand. `twins` are those that `jobgate manifests --policies` renders, alone; `both` is jobgate
with them, and `least` what `both` would take if the review took no time.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.comparison import jobs, servers
from bench.comparison.golang import MODULES, find_or_build
from bench.comparison.servers import CONSTANT, GO, JOBGATE
from bench.page import aligned, piped, renew
from controlplane import ControlPlane, Terminal, policies
from controlplane import find_or_build as find_or_build_plane
from controlplane.client import Answer, ClusterApi
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from jobgate.kinds.dijob import DIJOB
from webhook import Phase

_POLICIES = Path(__file__).with_suffix(".yaml")
_DISABLED = {"jobgate.dev/admission": "disabled"}
NEITHER, OURS, POLICIES, NOTHING, ONE_FIELD = "neither", JOBGATE, "policies", CONSTANT, "one-field"
BOTH, TWINS, LEAST = "both", "twins", "least"
#: The namespaces, one for each kind of admission, and their labels.
NAMESPACES: Mapping[str, Mapping[str, str]] = {
    NEITHER: _DISABLED,
    OURS: {},
    BOTH: {**_DISABLED, policies.LABEL: policies.BOTH},
    TWINS: {**_DISABLED, policies.LABEL: policies.ALONE},
    LEAST: {**_DISABLED, policies.LABEL: policies.DEFAULTS, "bench": LEAST},
    POLICIES: {**_DISABLED, "bench": POLICIES},
    GO: {**_DISABLED, "bench": GO},
    NOTHING: {**_DISABLED, "bench": NOTHING},
    ONE_FIELD: {**_DISABLED, "bench": ONE_FIELD},
}
#: The columns with what one kind of admission adds, in what another adds.
RATIOS = ((OURS, POLICIES), (BOTH, POLICIES), (LEAST, POLICIES))
_RULE = {
    "apiGroups": ["diengine.opendilab.org"],
    "apiVersions": ["v2alpha1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["dijobs"],
}
#: The rows: the number of tasks, and whether they have names, so that no default is left to set.
ROWS = ((1, False), (1, True), (3, False), (3, True), (30, False))
#: The first rounds are not counted: connections are opened, and the API server compiles expressions.
WARM_UP = 5


def main(argv: list[str] | None = None) -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.creates", description=__doc__)
    parser.add_argument("--rounds", type=int, default=150, help="creates in each namespace")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file")
    parser.add_argument("--write", action="store_true", help="renew docs/explanation/performance.md")
    command = parser.parse_args(argv)
    go = find_or_build(MODULES[GO])
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(find_or_build_plane(Terminal())))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name, labels in NAMESPACES.items():
            plane.client.post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        policies.install_policies(plane, stack.enter_context(InstalledWebhook(plane, folder)))
        for name in (GO, NOTHING, ONE_FIELD, LEAST):
            stack.enter_context(other(name, plane, go, folder / name))
        plane.kubectl("apply", "-f", str(_POLICIES))
        for name in (POLICIES, GO, BOTH, TWINS):  # LEAST has what TWINS has
            wait_for(partial(_followed, plane.client, name), 60, what=f"the API server to follow {name}")
        _check(plane.client)
        measured = {_title(*of): measure(plane.client, *of, command.rounds) for of in ROWS}
    ratios = [f"{name} / {other}" for name, other in RATIOS]
    rows = [["tasks", "create, ms", *(f"{name} adds" for name in NAMESPACES if name != NEITHER), *ratios]]
    rows += [row(title, took) for title, took in measured.items()]
    print(aligned(rows))
    if command.json:
        command.json.write_text(json.dumps(measured), encoding="utf-8")
    if command.write:
        renew("creates", piped(rows))
    return 0


@contextmanager
def other(name: str, plane: ControlPlane, go: Path, folder: Path) -> Iterator[None]:
    """Run another webhook while the block runs; the API server calls it for its namespace."""
    folder.mkdir()
    ca = base64.b64encode(servers.write_certificate(folder).encode()).decode()
    port, metrics = servers.free_ports(2)
    ports = {JOBGATE: (0, 0), CONSTANT: (port, 0), GO: (port, metrics)}
    commands = servers.commands(folder, ports, {GO: go}, folder)
    flags = ["--one-field"] if name == ONE_FIELD else []
    command = commands[GO] if name == GO else [*commands[CONSTANT], *flags]
    with servers.started(name, command, port, None, folder / "log"):
        for phase in ("validating",) if name == LEAST else ("mutating", "validating"):
            path = DIJOB.path(Phase.MUTATE if phase == "mutating" else Phase.VALIDATE)
            entry = {
                "name": "bench.jobgate.dev",
                "clientConfig": {"url": f"https://127.0.0.1:{port}{path}", "caBundle": ca},
                "rules": [_RULE],
                "namespaceSelector": {"matchLabels": {"bench": name}},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
            }
            configuration = {"metadata": {"name": f"bench-{name}"}, "webhooks": [entry]}
            collection = f"/apis/admissionregistration.k8s.io/v1/{phase}webhookconfigurations"
            status, answer = plane.client.post(collection, configuration)
            assert status == 201, answer
        yield


def _title(tasks: int, named: bool) -> str:
    return f"{tasks}, named" if named else str(tasks)


def measure(api: ClusterApi, tasks: int, named: bool, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each create, by namespace; the order of namespaces is shuffled in each round."""
    took: dict[str, list[float]] = {name: [] for name in NAMESPACES}
    chance, order = random.Random(tasks), list(NAMESPACES)
    for number in range(WARM_UP + rounds):
        chance.shuffle(order)
        for name in order:
            body = json.dumps(job(tasks, number, name, named))
            began = time.perf_counter()
            status, answer = create(api, name, body)
            took[name].append((time.perf_counter() - began) * 1000)
            assert status == 201, answer
    return {name: of[WARM_UP:] for name, of in took.items()}


def row(title: str, took: Mapping[str, Sequence[float]]) -> list[str]:
    """Return a row of the table: the median of a create, and the medians of the added times."""
    added = {
        name: statistics.median(with_it - without for with_it, without in zip(of, took[NEITHER], strict=True))
        for name, of in took.items()
        if name != NEITHER
    }
    ratios = (added[name] / added[other] for name, other in RATIOS)
    figures = (statistics.median(took[NEITHER]), *added.values(), *ratios)
    return [title, *(f"{figure:.2f}" for figure in figures)]


def job(tasks: int, variant: int, namespace: str, named: bool = False) -> dict[str, Any]:
    """Return a job, whose tasks have the names that they would be given if `named`."""
    document = jobs.job("DIJob", tasks, variant)
    for task in document["spec"]["tasks"] if named else ():
        task.setdefault("name", task["type"])
    return {**document, "metadata": {**document["metadata"], "namespace": namespace}}


def create(api: ClusterApi, namespace: str, body: Any) -> Answer:
    """Create a job in a dry run."""
    path = f"/apis/diengine.opendilab.org/v2alpha1/namespaces/{namespace}/dijobs"
    return api.post(path, body, {"dryRun": "All"})


def _refused(api: ClusterApi, namespace: str) -> bool:
    broken = job(1, 0, namespace)
    broken["spec"] |= {"minReplicas": 3, "maxReplicas": 2}
    return create(api, namespace, broken)[0] == 422


def _followed(api: ClusterApi, namespace: str) -> bool:
    """Return whether the API server sets defaults and checks rules: a policy may follow after the other."""
    status, stored = create(api, namespace, job(3, 0, namespace))
    return status == 201 and all("name" in task for task in stored["spec"]["tasks"]) and _refused(api, namespace)


def _check(api: ClusterApi) -> None:
    """Check that each namespace has the expected admission."""
    assert [name for name in NAMESPACES if _refused(api, name)] == [OURS, BOTH, TWINS, POLICIES, GO]
    for name in NAMESPACES:
        status, stored = create(api, name, job(3, 0, name))
        assert status == 201, stored
        named = all("name" in task for task in stored["spec"]["tasks"])
        assert named is (name not in {NEITHER, NOTHING, ONE_FIELD}), stored["spec"]


if __name__ == "__main__":
    sys.exit(main())

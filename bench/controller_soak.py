"""Kills the controller again and again while jobs are created, changed and deleted, and checks the final state.

    python -m bench.controller_soak --jobs 200 --kills 50 --minutes 5

On a real control plane with garbage collection, with the controller's own rights. After the kills, a controller runs
for some more minutes under the same load, to measure its memory. Prints a JSON object; the exit status is 1 if the
state is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from controlplane import Terminal, WholeControlPlane, find_or_build_whole
from controlplane import controller as installed
from controlplane.client import ClusterApi
from controlplane.jobs import dijob
from controlplane.plane import ControlPlane
from jobgate.controller.desired import Desired, desired
from jobgate.controller.difference import Ownership, judge
from jobgate.controller.jobs import remembered
from jobgate.kinds.dijob import DIJOB
from jobgate.pods import Digests

#: The plugins of jobs. For every tenth job, an object of a user has the name of one of ours.
PLUGINS: tuple[dict[str, Any], ...] = ({}, {"svc": []}, {"env": [], "svc": [], "ssh": []}, {"ssh": []})
FOREIGN_EVERY = 10
_DOMAIN = "svc.cluster.local"


@dataclass
class Result:
    """The results.

    Attributes:
        jobs: maximum number of jobs.
        changes: changes by users.
        kills: kills of the controller; `killed_at_work` of them while it held the Lease.
        writes: writes of controllers that were killed later.
        objects: number of our objects at the end.
        settled_seconds: time from the last change until the state was right.
        wrong: differences from the expected state at the end.
        memory: memory of the last controller while jobs changed, every five seconds, in MiB.
    """

    jobs: int = 0
    changes: int = 0
    kills: int = 0
    killed_at_work: int = 0
    writes: int = 0
    objects: int = 0
    settled_seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


class Churn:
    """Creates, changes and deletes jobs in a few namespaces, and tampers with their objects."""

    def __init__(self, api: ClusterApi, jobs: int, chance: random.Random, namespaces: int = 4) -> None:
        self.api = api
        self.chance = chance
        self.namespaces = [f"soak-{chance.getrandbits(32):08x}" for _ in range(namespaces)]
        self.names = [(self.namespaces[number % namespaces], f"job-{number}") for number in range(jobs)]
        self.foreign: dict[str, Mapping[str, Any]] = {}
        self.changes = 0

    def open(self) -> None:
        """Create the namespaces."""
        for namespace in self.namespaces:
            self._done(self.api.post("/api/v1/namespaces", {"metadata": {"name": namespace}}))

    def fill(self) -> None:
        """Create all jobs, and the objects of users with names of ours."""
        for number, (namespace, name) in enumerate(self.names):
            if number % FOREIGN_EVERY == 0:
                path = f"/api/v1/namespaces/{namespace}/configmaps"
                theirs = {"metadata": {"name": f"{name}-svc"}, "data": {"mine": "yes"}}
                self.foreign[f"{path}/{name}-svc"] = self._done(self.api.post(path, theirs))
            self._make(namespace, name)

    def step(self) -> None:
        """Make a random change."""
        namespace, name = self.chance.choice(self.names)
        self.changes += 1
        self.chance.choice((self._make, self._make, self._delete, self._renew, self._tamper, self._tamper))(
            namespace, name
        )

    def stored(self) -> Iterator[dict[str, Any]]:
        """Yield all jobs."""
        for namespace in self.namespaces:
            items = self._done(self.api.get(_jobs(namespace)))["items"]
            yield from ({**item, "apiVersion": DIJOB.gvk.api_version, "kind": DIJOB.kind} for item in items)

    def _make(self, namespace: str, name: str) -> None:
        document = dijob(name, namespace, self.chance.randint(1, 8), self.chance.choice(PLUGINS))
        if self.api.post(_jobs(namespace), document)[0] == 409:
            spec = {
                **document["spec"],
                "plugins": {"env": None, "svc": None, "ssh": None, **document["spec"]["plugins"]},
            }
            self.api.patch(f"{_jobs(namespace)}/{name}", {"spec": spec})

    def _delete(self, namespace: str, name: str) -> None:
        self.api.delete(f"{_jobs(namespace)}/{name}")

    def _renew(self, namespace: str, name: str) -> None:
        self._delete(namespace, name)
        self._make(namespace, name)

    def _tamper(self, namespace: str, name: str) -> None:
        lists = f"/api/v1/namespaces/{namespace}/configmaps/{name}-svc"
        policy = f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies/{name}"
        if lists in self.foreign or self.chance.random() < 0.3:
            self.api.delete(policy)
        elif self.chance.random() < 0.5:
            self.api.patch(lists, {"data": {"work.host": "evil", "more": "x"}})
        else:
            self.api.delete(lists)

    @staticmethod
    def _done(answer: tuple[int, dict[str, Any]]) -> dict[str, Any]:
        status, document = answer
        if status >= 400:
            raise RuntimeError(str(document))
        return document


def soak(
    plane: ControlPlane,
    folder: Path,
    jobs: int,
    kills: int,
    minutes: float = 0.0,
    seed: int = 1,
    longest: float = 10.0,
) -> Result:
    """Run the soak test, and return the results.

    Args:
        plane: a control plane with garbage collection.
        folder: for the controller's log.
        jobs: maximum number of jobs.
        kills: how often the controller is killed while jobs change.
        minutes: how long the last controller runs while jobs change, to measure its memory.
        seed: seed of all random choices.
        longest: maximum seconds until a controller is killed.
    """
    chance = random.Random(seed)
    result = Result(jobs=jobs)
    with plane.api() as api:
        churn = Churn(api, jobs, chance)
        churn.open()
        installed.install(api, *churn.namespaces)
        credentials, log = installed.kubeconfig(plane), folder / "controller.log"
        churn.fill()
        for _ in range(kills):
            log.unlink(missing_ok=True)
            process = installed.start(credentials, log, requests_per_second=100.0)
            _until(lambda: "controller started" in _said(log), 120.0, every=0.1)
            # Some are killed before they get the Lease, most while they hold it.
            _change_for(churn, chance.uniform(0.5, longest))
            process.kill()
            process.join()
            result.kills += 1
            result.killed_at_work += "acquired the lease" in _said(log)
            result.writes += _said(log).count('"object"')
        process = installed.start(credentials, log, requests_per_second=100.0)
        try:
            end = time.monotonic() + minutes * 60
            while time.monotonic() < end:
                _change_for(churn, 5.0)
                result.memory.append(_memory(process.pid))
            began = time.monotonic()
            _until(lambda: not list(_wrong(churn)), 240.0, every=0.3)
            result.settled_seconds = round(time.monotonic() - began, 1)
            # The state must also stay right.
            time.sleep(3.0)
            result.wrong = list(_wrong(churn))
            result.objects = sum(len(installed.managed_objects(api, namespace)) for namespace in churn.namespaces)
        finally:
            process.terminate()
            process.join(30)
            process.kill()
        result.changes = churn.changes
    return result


def _change_for(churn: Churn, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        churn.step()
        time.sleep(0.02)


def _wrong(churn: Churn) -> Iterator[str]:
    """Yield wrong objects: missing, different from the desired state, left over, or a user's and changed."""
    objects = {
        (namespace, *key): document
        for namespace in churn.namespaces
        for key, document in installed.managed_objects(churn.api, namespace).items()
    }
    uids = set()
    for document in churn.stored():
        uids.add(document["metadata"]["uid"])
        for wanted in _wanted(document):
            key = (document["metadata"]["namespace"], wanted.manifest["kind"], wanted.name)
            if f"/api/v1/namespaces/{key[0]}/configmaps/{key[2]}" in churn.foreign:
                continue
            stored = objects.pop(key, None)
            if stored is None:
                yield f"{key}: missing"
            elif (verdict := judge(wanted, stored).verdict) is not Ownership.FINE:
                yield f"{key}: {verdict.name}"
    for key, document in objects.items():
        # A Secret stays with its job, for there is no right to delete it; a ConfigMap because running pods mount it.
        owners = {owner["uid"] for owner in document["metadata"]["ownerReferences"]}
        if key[1] not in {"ConfigMap", "Secret"} or not owners & uids:
            yield f"{key}: left over"
    for path, before in churn.foreign.items():
        if churn.api.get(path)[1] != before:
            yield f"{path}: foreign, and changed"


def _wanted(document: dict[str, Any]) -> list[Desired]:
    crew = remembered(DIJOB, Digests(DIJOB).of, document).crew
    return desired(crew) if crew else []


def _jobs(namespace: str) -> str:
    return f"/apis/{DIJOB.group}/{DIJOB.version}/namespaces/{namespace}/{DIJOB.plural}"


def _memory(pid: int | None) -> int:
    """Return the memory of a process, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def _until(condition: Callable[[], bool], seconds: float, every: float = 1.0) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(every)


def _said(log: Path) -> str:
    return log.read_text(encoding="utf-8") if log.exists() else ""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, WholeControlPlane(find_or_build_whole(Terminal())) as plane:
        result = soak(plane, Path(folder), **vars(arguments))
    print(json.dumps(asdict(result), indent=2))
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

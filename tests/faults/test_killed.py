"""Replicas are killed and restarted under load, and one starts without access to the items."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from controlplane.client import Answer, ClusterApi
from controlplane.faulty import Call, Fault, FaultyProxy
from controlplane.space import Space
from controlplane.waiting import wait_for
from jobgate.prerequisites.reference import ANNOTATION
from tests.e2e.test_runner import dijob, task
from tests.faults.cluster import START, WAIT, Installation, Load, account, longest_gap, shown

DIJOBS = "diengine.opendilab.org/v2alpha1"
ITEM: dict[str, Any] = {
    "apiVersion": "jobgate.dev/v1alpha1",
    "kind": "ClusterPrerequisite",
    "metadata": {"name": "secret"},
    "spec": {"cmd": {"callbacks": [{"event": "taskStarts", "commands": ["true"]}]}},
}
CONTAINERS = {"containers": [{"name": "main", "image": "x", "command": ["true"]}]}
KILLS = 3


@pytest.fixture
def tenant(installation: Installation, space: Space) -> Iterator[ClusterApi]:
    """A client of an account with the role `edit` in the namespace, without the right to use items."""
    path = "/apis/jobgate.dev/v1alpha1/clusterprerequisites"
    wait_for(lambda: space.api.post(path, ITEM)[0] in {201, 409}, WAIT, what="the item is there")
    with account(space.api, installation.plane, space.name, "mallory") as api:
        yield api


def named(metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """A pod template with the item."""
    return {
        "metadata": {"annotations": {ANNOTATION: "ClusterPrerequisite/secret"}, **(metadata or {})},
        "spec": CONTAINERS,
    }


def naming(name: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Objects with the item: group, resource and body, by kind."""
    labels = {"app": name}
    once = {"template": {**named(), "spec": {**CONTAINERS, "restartPolicy": "Never"}}}
    item = {"kind": "ClusterPrerequisite", "name": "secret"}
    job = dijob(name, {**task("work"), "prerequisites": [item]}, suspend=True)
    return {
        "Deployment": ("apps/v1", "deployments", {"spec": {"selector": {"matchLabels": labels}, "template": named({"labels": labels})}}),
        "Job": ("batch/v1", "jobs", {"spec": once}),
        "CronJob": ("batch/v1", "cronjobs", {"spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": once}}}),
        "DIJob": (DIJOBS, "dijobs", job),
        "Pod": ("", "pods", named()),
        "item": (ITEM["apiVersion"], "prerequisites", {**ITEM, "kind": "Prerequisite", "spec": {"require": [item]}}),
    }  # fmt: skip


def created(api: ClusterApi, space: Space, document: tuple[str, str, dict[str, Any]], name: str) -> Answer:
    """Create one of these objects, with the client of an account."""
    group, resource, body = document
    return api.post(space.path(resource, group=group), {**body, "metadata": {**body.get("metadata", {}), "name": name}})


def attacks(api: ClusterApi, namespace: str) -> Callable[[], tuple[str, Answer]]:
    """Return a caller that creates objects with the item, or adds it to a stored job."""
    space, numbers = Space(api, namespace), itertools.count()

    def attack() -> tuple[str, Answer]:
        number = next(numbers)
        objects = naming(f"attack-{number}")
        sort = [*objects, "update"][number % (len(objects) + 1)]
        if sort == "update":
            tasks = objects["DIJob"][2]["spec"]["tasks"]
            return "attack update", api.patch(space.path("dijobs", "stored", DIJOBS), {"spec": {"tasks": tasks}})
        return f"attack {sort}", created(api, space, objects[sort], f"attack-{number}")

    return attack


def creating(api: ClusterApi, namespace: str, name: str, *, sound: bool = True) -> Callable[[], tuple[str, Answer]]:
    """Return a caller that creates valid or invalid jobs."""
    path, numbers = Space(api, namespace).path("dijobs", group=DIJOBS), itertools.count()

    def create() -> tuple[str, Answer]:
        job_name = f"{name}-{next(numbers)}"
        return job_name, api.post(path, dijob(job_name, task("work"), *([] if sound else [task("work")]), suspend=True))

    return create


def test_no_job_is_lost_and_no_attack_succeeds_while_replicas_are_killed(
    installation: Installation, space: Space, tenant: ClusterApi
) -> None:
    space.create("dijobs", dijob("stored", task("work"), suspend=True), DIJOBS)
    wait_for(lambda: "cannot use" in attacks(tenant, space.name)()[1][1].get("message", ""), WAIT, what="it is denied")
    restarts: list[float] = []
    with ExitStack() as stack:
        clients = [stack.enter_context(installation.plane.api()) for _ in range(3)]
        callers = [creating(client, space.name, f"sound-{place}") for place, client in enumerate(clients[:2])]
        callers.append(creating(clients[2], space.name, "broken", sound=False))
        tenants = [stack.enter_context(account(space.api, installation.plane, space.name, f"m-{n}")) for n in range(2)]
        with Load(*callers, *(attacks(client, space.name) for client in tenants)) as load:
            for number in range(KILLS):
                # The last time, all replicas at once, so that no cache is left.
                for replica in installation.service.replicas[: 2 if number == KILLS - 1 else 1]:
                    installation.remove(replica, kill=True)
                    installation.replica()
                begun = time.monotonic()
                wait_for(lambda: installation.service.ready() == 2, START, every=0.2, what="two are ready again")
                restarts.append(time.monotonic() - begun)
            time.sleep(1.0)
    stored = set(space.names("dijobs", DIJOBS)) - {"stored"}
    accepted = {name for name, _, status, _ in load.of("sound") if status == 201}
    assert accepted <= stored, "accepted jobs are stored"
    assert stored <= {name for name, *_ in load.of("sound")}, "invalid jobs and attacks are not stored"
    for name, _, status, message in load.answers:
        retryable = status == 429 or (status in {500, 503} and "failed calling webhook" in message)
        assert retryable or status == (201 if name.startswith("sound") else 422), (name, status, message)
    assert not [answer for answer in load.of("attack") if answer[2] < 400]
    denied = {name for name, _, _, message in load.of("attack") if "cannot use ClusterPrerequisite secret" in message}
    assert len(denied) == 7, "each kind of attack was reviewed"
    errors = [answer for answer in load.of("sound") if answer[2] != 201]
    gap = longest_gap([when for _, when, status, _ in load.of("sound") if status == 201])
    later = sum(status == 429 for _, _, status, _ in load.answers)
    shown(f"killed: {len(load.answers)} requests, {len(errors)} errors of {len(load.of('sound'))}, "
          f"{later} later, longest gap {gap:.1f} s, restarts {restarts}")  # fmt: skip


def test_objects_with_an_item_wait_while_a_replica_cannot_read_items(
    installation: Installation, space: Space, tenant: ClusterApi
) -> None:
    def unreadable(call: Call) -> Fault | None:
        return Fault(500, "InternalError") if "prerequisites" in call.path else None

    before = list(installation.service.replicas)
    with FaultyProxy(installation.plane) as proxy:
        proxy.fault = unreadable
        replica = installation.replica(kubeconfig=proxy.kubeconfig)
        try:
            wait_for(lambda: replica.port("port"), START, what="it listens")
            wait_for(lambda: proxy.faults[500] >= 8, START, what="it has failed to list them several times")
            assert not replica.ask("readyz"), "it is not ready"
            installation.service.replicas[:], installation.service.only_ready = [replica], False
            for each in before:
                each.stop()
            _assert_later(space.api, space, "admin")
            _assert_later(tenant, space, "mallory")
            sound = dijob("sound", task("work"), suspend=True)
            status, answer = reviewed(space.api, space, (DIJOBS, "dijobs", sound), "sound")
            assert status == 201, f"jobs without items do not wait: {answer}"
            proxy.fault = lambda _: None
            begun = time.monotonic()
            wait_for(lambda: bool(replica.ask("readyz")), START, what="it is ready")
            shown(f"unknown: ready after {time.monotonic() - begun:.1f} s")
            for kind, document in naming("now").items():
                status, answer = created(tenant, space, document, "now")
                assert (status, "cannot use" in answer["message"]) == (422, True), (kind, answer)
        finally:
            installation.service.only_ready = True
            for _ in range(2):
                installation.replica()
            wait_for(lambda: installation.service.ready() >= 2, START, what="two others are ready")
            installation.remove(replica)


def reviewed(api: ClusterApi, space: Space, document: tuple[str, str, dict[str, Any]], name: str) -> Answer:
    """Create an object again while the API server uses a connection to a replica that has just stopped."""

    def tried() -> Answer | None:
        answer = created(api, space, document, name)
        return None if answer[0] == 500 and "failed calling webhook" in answer[1]["message"] else answer

    answer = wait_for(tried, WAIT, what="a review")
    assert answer is not None
    return answer


def _assert_later(api: ClusterApi, space: Space, who: str) -> None:
    for kind, document in naming("later").items():
        status, answer = reviewed(api, space, document, f"later-{who}")
        assert (status, answer.get("reason")) == (429, "TooManyRequests"), (kind, answer)
        assert "the prerequisites of the cluster are not known yet: retry in 1s" in answer["message"]
        assert answer["details"]["retryAfterSeconds"] == 1

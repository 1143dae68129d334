"""Defaults of Volcano Jobs: set at creation, left alone from then on."""

from typing import Any

import jsonpatch
import pytest

from tests.kinds.vcjob.jobs import job, mutate, task, template, validate

ALWAYS = {
    "/spec/queue": "default",
    "/spec/maxRetry": 3,
    "/spec/schedulerName": "volcano",
}


def added(document: dict[str, Any], old: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what mutation adds, by place, beside what it adds to every new job."""
    patch = {operation["path"]: operation["value"] for operation in mutate(document, old).patch}
    return {path: value for path, value in patch.items() if ALWAYS.get(path) != value or old is not None}


def full(name: str = "a", replicas: int = 2, **fields: Any) -> dict[str, Any]:
    """Return a task that says everything."""
    return task(name, replicas, **{"minAvailable": replicas, "maxRetry": 1, **fields})


@pytest.mark.parametrize(
    "document, expected",
    [
        (job(full(), minAvailable=1), {}),
        (job(full(), minAvailable=0), {}),
        (job(full()), {"/spec/minAvailable": 2}),
        (job(full("a"), full("b", 5, minAvailable=3)), {"/spec/minAvailable": 5}),
        (job(task(replicas=None)),
         {"/spec/tasks/0/name": "default0", "/spec/tasks/0/replicas": 0, "/spec/tasks/0/minAvailable": 0,
          "/spec/tasks/0/maxRetry": 3, "/spec/minAvailable": 0}),
        (job(full(), task(replicas=3), minAvailable=1),
         {"/spec/tasks/1/name": "default1", "/spec/tasks/1/minAvailable": 3, "/spec/tasks/1/maxRetry": 3}),
        (job(full(minAvailable=None, partitionPolicy={"totalPartitions": 2, "partitionSize": 1, "minPartitions": 1})),
         {"/spec/tasks/0/minAvailable": 1, "/spec/minAvailable": 1}),
        (job(full(minAvailable=None, partitionPolicy={"totalPartitions": 2, "partitionSize": 1, "networkTopology": {}})),
         {"/spec/tasks/0/partitionPolicy/minPartitions": 0, "/spec/tasks/0/partitionPolicy/networkTopology/mode": "hard",
          "/spec/tasks/0/minAvailable": 2, "/spec/minAvailable": 2}),
        (job(full(template=template(hostNetwork=True)), minAvailable=1),
         {"/spec/tasks/0/template/spec/dnsPolicy": "ClusterFirstWithHostNet"}),
        (job(full(template=template(hostNetwork=True, dnsPolicy="Default")), minAvailable=1), {}),
        (job(full(template=template(hostNetwork=False)), minAvailable=1), {}),
        (job(full(), minAvailable=1, plugins={"tensorflow": []}), {"/spec/plugins/svc": []}),
        (job(full(), minAvailable=1, plugins={"pytorch": []}), {"/spec/plugins/svc": []}),
        (job(full(), minAvailable=1, plugins={"ray": []}), {"/spec/plugins/svc": []}),
        (job(full("master"), minAvailable=1, plugins={"mpi": []}), {"/spec/plugins/svc": [], "/spec/plugins/ssh": []}),
        (job(full("master"), minAvailable=1, plugins={"mpi": [], "ssh": ["--ssh-port=1"], "svc": []}), {}),
        (job(full(), minAvailable=1, plugins={"env": []}), {}),
        (job(full(), minAvailable=1, networkTopology={}), {"/spec/networkTopology/mode": "hard"}),
        (job(full(template=template(containers=[
            {"name": "m", "image": "i", "resources": {"requests": {"nvidia.com/gpu": 1}}}])), minAvailable=1),
         {"/spec/tasks/0/template/spec/containers/0/resources/limits": {"nvidia.com/gpu": 1}}),
    ],
)  # fmt: skip
def test_a_new_job_gets_what_it_leaves_out(document: dict[str, Any], expected: dict[str, Any]) -> None:
    assert added(document) == expected


def test_every_new_job_gets_a_queue_retries_and_a_scheduler() -> None:
    patch = mutate(job(full(), minAvailable=1)).patch
    assert {operation["path"]: operation["value"] for operation in patch} == ALWAYS


def test_what_is_said_is_kept() -> None:
    document = job(full(), minAvailable=1, queue="q", maxRetry=0, schedulerName="mine")
    assert not mutate(document).patch


def test_a_second_apply_of_the_same_file_takes_nothing_away_that_was_filled_in() -> None:
    """kubectl sends the list of tasks as the user wrote it, and the fields beside it as they are stored."""
    document = job(task(None, 2, template=template(hostNetwork=True)), plugins={"mpi": ["--master=default0"]})
    stored = jsonpatch.apply_patch(document, list(mutate(document).patch))
    again = {**stored, "spec": {**stored["spec"], "tasks": document["spec"]["tasks"]}}
    assert jsonpatch.apply_patch(again, list(mutate(again, stored).patch)) == stored
    assert not validate(again, stored).causes


def test_a_mutation_is_complete_at_once() -> None:
    document = job(task(), task("b", None), plugins={"mpi": ["--master=b"]})
    stored = jsonpatch.apply_patch(document, list(mutate(document).patch))
    assert not mutate(stored).patch
    assert not mutate(stored, document).patch


def test_minima_that_cannot_be_are_not_added_up() -> None:
    for wrong in (task("a", -1), task("a", 2**31 - 1), {"name": "a", "replicas": "2"}):
        assert not [op for op in mutate(job(wrong, task("b", 5))).patch if op["path"] == "/spec/minAvailable"]

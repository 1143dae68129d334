"""Updates of a stored Volcano Job: what may change, and whose writes must go through."""

import copy
from typing import Any

import jsonpatch
import pytest

from tests.kinds.vcjob.jobs import Queues, faults, job, mutate, task, template, validate

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
NEW = job(
    task("a", 3, minAvailable=2),
    task("b", 6, partitionPolicy={"totalPartitions": 3, "partitionSize": 2, "minPartitions": 2}),
    volumes=[{"mountPath": "/made", "volumeClaim": CLAIM}, {"mountPath": "/there", "volumeClaimName": "there"}],
    plugins={"svc": []},
    policies=[{"event": "PodFailed", "action": "RestartJob"}],
)
STORED = jsonpatch.apply_patch(NEW, list(mutate(NEW).patch))


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """Return the stored job with other values at these places of its spec."""
    operations = [{"op": "add", "path": f"/spec/{path}", "value": value} for path, value in changes]
    document: dict[str, Any] = jsonpatch.apply_patch(copy.deepcopy(STORED), operations)
    return document


@pytest.mark.parametrize(
    "case, changes",
    [
        ("the gang's size", [("minAvailable", 1)]),
        ("the priority class", [("priorityClassName", "high")]),
        ("replicas up", [("tasks/0/replicas", 30)]),
        ("replicas down", [("tasks/0/replicas", 2), ("minAvailable", 6)]),
        ("a task's minimum", [("tasks/0/minAvailable", 3)]),
        ("the name of the claim that was made", [("volumes/0/volumeClaimName", "job-pvc-0123456789ab")]),
        ("what typed clients write for nothing", [("tasks/0/dependsOn", {}), ("policies/0/events", [])]),
        ("an entry without a value, which the API server drops", [("plugins/ssh", None)]),
        ("a quantity written otherwise", [("volumes/0/volumeClaim/resources/requests/storage", "1024Mi")]),
    ],
)  # fmt: skip
def test_what_may_change(case: str, changes: list[tuple[str, Any]]) -> None:
    update = changed(*changes)
    assert not mutate(update, STORED).patch, case
    assert faults(validate(update, STORED)) == [], case


@pytest.mark.parametrize(
    "changes, expected",
    [
        ([("queue", "other")], ['spec.queue: Forbidden: may not change after the job is created: from "default" to '
                                '"other"']),
        ([("maxRetry", 5)], ["spec.maxRetry: Forbidden: may not change after the job is created: from 3 to 5"]),
        ([("tasks/0/name", "c")], ['spec.tasks[0].name: Forbidden: may not change after the job is created: from "a" to '
                                   '"c"']),
        ([("tasks/0/template", template(containers=[{"name": "main", "image": "other"}]))],
         ['spec.tasks[0].template.spec.containers[0].image: Forbidden: may not change after the job is created: from "busybox" '
          'to "other"']),
        ([("tasks/-", task("c", minAvailable=1, maxRetry=3))],
         ['spec.tasks: Forbidden: may not change after the job is created: item "c" would be added']),
        ([("tasks", [*reversed(STORED["spec"]["tasks"])])],
         ["spec.tasks: Forbidden: may not change after the job is created: the order of the items would change"]),
        ([("plugins/env", ["x"])], ["spec.plugins[env][0]: Forbidden: env takes no arguments: remove it"]),
        ([("plugins", {"svc": [], "env": []})],
         ["spec.plugins[env]: Forbidden: may not change after the job is created: it would be added"]),
        ([("plugins", {})],
         ["spec.plugins[svc]: Forbidden: may not change after the job is created: it would be removed"]),
        ([("ttlSecondsAfterFinished", 5)],
         ["spec.ttlSecondsAfterFinished: Forbidden: may not change after the job is created: would be set to 5"]),
        ([("volumes/1/volumeClaimName", "other")],
         ['spec.volumes[1].volumeClaimName: Forbidden: may not change after the job is created: must stay "there"']),
        ([("tasks/0/replicas", 1)], ["spec.tasks[0].minAvailable: Invalid value: 2: "]),
        ([("minAvailable", 10)], ["spec.minAvailable: Invalid value: 10: "]),
        ([("tasks/1/replicas", 8)],
         ["spec.tasks[1].replicas: Invalid value: 8: must be 6: partitionPolicy has 3 partitions of 2 pods"]),
        ([("tasks/1/minAvailable", 2)],
         ["spec.tasks[1].minAvailable: Invalid value: 2: must be 4: partitionPolicy needs 2 partitions of 2 pods"]),
    ],
)  # fmt: skip
def test_what_may_not_change(changes: list[tuple[str, Any]], expected: list[str]) -> None:
    reported = faults(validate(changed(*changes), STORED))
    assert all(any(fault.startswith(beginning) for fault in reported) for beginning in expected), reported


def test_a_stored_job_stays_in_a_queue_that_closes() -> None:
    for queues in (Queues(), Queues(default={"state": "Closed"})):
        assert faults(validate(changed(("tasks/0/replicas", 4)), STORED, queues)) == []


@pytest.mark.parametrize("fault", [("plugins/unknown", []), ("volumes", [None])])
def test_a_job_with_an_older_fault_can_still_be_scaled(fault: tuple[str, Any]) -> None:
    broken = changed(fault)
    response = validate(
        jsonpatch.apply_patch(broken, [{"op": "add", "path": "/spec/tasks/0/replicas", "value": 4}]), broken
    )
    assert faults(response) == []
    assert any("already stored" in warning for warning in response.warnings)

"""Faults in a stored job do not hide faults of an UPDATE: its pods get no more access to their host."""

from collections.abc import Callable
from typing import Any

import pytest

from jobgate.jobs.kind import JobKind
from jobgate.kinds import built_in
from tests.hostile.requests import DIJOB, job
from tests.hostile.shapes import sound_tasks
from tests.hostile.targets import Restricted, asked, check_smuggled
from tests.kinds.places import at, with_value
from tests.kinds.samples import task_places
from webhook import Phase

Steps = tuple[str | int, ...]


def with_task(kind: JobKind, task: Any) -> dict[str, Any]:
    """Return a valid job with one more task."""
    document = sound_tasks(kind, 2)
    *_, last = kind.task_fields
    if isinstance(last, tuple):
        return {**document, "spec": {**document["spec"], last[2]: task}}
    tasks = document["spec"][last]
    more = {**tasks, "odd": task} if isinstance(tasks, dict) else [*tasks, task]
    return {**document, "spec": {**document["spec"], last: more}}


def too_many_tasks(kind: JobKind) -> dict[str, Any]:
    return sound_tasks(kind, 1001)


def twice(part: str) -> Callable[[JobKind], dict[str, Any]]:
    """Return a function that returns a job with the containers or volumes of a pod listed twice."""

    def doubled(kind: JobKind) -> dict[str, Any]:
        document = sound_tasks(kind, 1)
        task, _ = next(task_places(kind, document))
        place = (*task, "template", "spec")
        parts = at(document, place).get(part, [{"name": "v", "emptyDir": {}}])
        changed: dict[str, Any] = with_value(document, place, {**at(document, place), part: [*parts, *parts]})
        return changed

    return doubled


STORED: dict[str, Callable[[JobKind], dict[str, Any]]] = {
    "a task that is a text": lambda kind: with_task(kind, "x"),
    "a task that is nothing": lambda kind: with_task(kind, None),
    "two containers of one name": twice("containers"),
    "two volumes of one name": twice("volumes"),
}
OF_JOBS = {
    "volumes that are a text": "x",
    "a volume that is a text": ["x"],
    "more volumes than there may be": [{"mountPath": f"/v{number}", "name": f"v{number}"} for number in range(1001)],
}


@pytest.mark.parametrize("stored", STORED.values(), ids=STORED.keys())
@pytest.mark.parametrize("kind", built_in(), ids=lambda kind: kind.kind)
def test_faults_in_a_stored_task_do_not_hide_changes_of_other_tasks(
    kind: JobKind, stored: Callable[[JobKind], dict[str, Any]]
) -> None:
    document = stored(kind)
    assert asked(kind, document, document | {"metadata": {}}, Phase.VALIDATE, Restricted()).allowed
    check_smuggled(kind, {"stored": document})


@pytest.mark.parametrize("volumes", OF_JOBS.values(), ids=OF_JOBS.keys())
def test_faults_in_a_stored_job_do_not_hide_changes_of_its_tasks(volumes: Any) -> None:
    document = job(tasks=2)
    document["spec"]["volumes"] = volumes
    assert not asked(DIJOB, document).allowed
    check_smuggled(DIJOB, {"stored": document})
    # A change that breaks no rule is still allowed.
    edited = {**document, "spec": {**document["spec"], "priority": "high"}}
    assert not asked(DIJOB, edited, document, Phase.VALIDATE, Restricted()).causes


def test_the_second_of_two_containers_with_the_same_name_may_not_change() -> None:
    document = twice("containers")(DIJOB)
    place = ("spec", "tasks", 0, "template", "spec", "containers", 1)
    privileged = {**at(document, place), "securityContext": {"privileged": True}}
    assert not asked(DIJOB, with_value(document, place, privileged), document, Phase.VALIDATE, Restricted()).allowed


def test_no_task_may_change_in_a_job_with_too_many_tasks() -> None:
    document = too_many_tasks(DIJOB)
    place = ("spec", "tasks", 0, "template", "spec")
    shared = {**at(document, place), "hostPID": True}
    assert not asked(DIJOB, with_value(document, place, shared), document, Phase.VALIDATE, Restricted()).allowed

"""Fields that a DIJob has from other systems: their values are checked, and fields that nothing acts on are reported."""

from typing import Any

import jsonpatch
import pytest

from jobgate.jobs.context import Settings
from jobgate.kinds.dijob import DIJOB
from tests.kinds.dijob.jobs import KINDS, faults, job, mutate, task, template, validate
from tests.kinds.reviews import request_of
from tests.messages import compare
from webhook import Phase, User, review

OPERATOR = "system:serviceaccount:di-system:di-orchestrator"


def notices(document: Any, **options: Any) -> list[str]:
    return [str(notice) for notice in validate(document, **options).notices]


def test_suspend_is_rejected_if_nobody_acts_on_it() -> None:
    document = job(task("learner"), suspend=True)
    assert faults(validate(document)) == [
        "spec.suspend: Forbidden: DI-orchestrator ignores this field: the job would start immediately. Remove it, and apply the job when it should run. If another controller holds suspended jobs, an administrator declares that with the setting operator-can: [dijobs/suspend]"
    ]  # fmt: skip
    assert faults(validate(document, operator_can=frozenset({"dijobs/suspend"}))) == []
    assert faults(validate(job(task("learner"), suspend=False))) == []


@pytest.mark.parametrize(
    "document, notice",
    [
        (job(task("learner"), queue="games"), "spec.queue: DI-orchestrator ignores this field: the job is not queued"),
        (job(task("learner"), minAvailable=1), "spec.minAvailable: DI-orchestrator ignores this field: the pods are not gang-scheduled"),
        (job(task("learner"), ttlSecondsAfterFinished=9),
         "spec.ttlSecondsAfterFinished: DI-orchestrator ignores this field: the finished job is kept until it is deleted"),
        (job(task("learner"), task("collector", dependsOn={"name": ["learner"]})),
         "spec.tasks[1].dependsOn: DI-orchestrator ignores this field: the task's pods are created immediately"),
    ],
)  # fmt: skip
def test_a_word_that_nobody_acts_on_is_reported(document: Any, notice: str) -> None:
    assert notices(document) == [notice]
    assert faults(validate(document)) == []


@pytest.mark.parametrize(
    "document",
    [
        job(task("learner"), minAvailable=0),
        job(task("learner", minAvailable=0)),
        job(task("learner"), plugins={"svc": []}),
    ],
)
def test_of_no_gang_and_of_a_plugin_nothing_is_reported(document: Any) -> None:
    assert notices(document) == []


def test_a_word_that_the_installation_acts_on_is_not() -> None:
    assert notices(job(task("learner"), queue="games"), operator_can=frozenset({"dijobs/queue"})) == []


@pytest.mark.parametrize(
    "document, fault",
    [
        (job(task("learner"), policies=[{"event": "PodFailed", "exitCode": 3, "action": "AbortJob"}]), "spec.policies[0]"),
        (job(task("learner", policies=[{"action": "AbortJob"}])), "spec.tasks[0].policies[0]"),
        (job(task("learner"), minAvailable=2), "spec.minAvailable"),
        (job(task("learner", minAvailable=2)), "spec.tasks[0].minAvailable"),
        (job(task("learner", dependsOn={"name": ["nobody"]})), "spec.tasks[0].dependsOn.name[0]"),
        (job(task("learner"), queue="No Queue"), "spec.queue"),
        (job(task("learner"), task("collector", dependsOn={"name": ["learner"]}), minAvailable=2), "spec.minAvailable"),
    ],
)  # fmt: skip
def test_the_shared_rules_hold(document: Any, fault: str) -> None:
    reported = faults(validate(document))
    assert len(reported) == 1
    assert reported[0].startswith(fault), reported


def test_the_gangs_minimum_is_computed_and_never_stored() -> None:
    document = job(task("learner"))
    assert not [operation for operation in mutate(document).patch if "minAvailable" in operation["path"]]


def running(document: dict[str, Any], phase: str = "Running") -> dict[str, Any]:
    return {**document, "status": {"phase": phase}}


@pytest.mark.parametrize(
    "new, expected",
    [
        (job(task("learner", replicas=4)), []),
        (job(task("learner"), task("collector")), []),
        (job(task("learner"), priority="high"), []),
        (job(task("none", "player")), ["spec.tasks[0].type: Forbidden", "spec.tasks[0].name: Forbidden"]),
    ],
)  # fmt: skip
def test_who_a_task_is_may_change_only_before_the_job_runs(new: Any, expected: list[str]) -> None:
    old = job(task("learner"))
    compare("kinds/dijob", faults(validate(new, running(old))), expected)
    assert faults(validate(new, running(old, "Pending"))) == []
    assert faults(validate(new, old)) == []


@pytest.mark.parametrize("replicas, phase, warns", [(1, "Running", True), (3, "Running", False), (1, "Pending", False)])
def test_a_scale_down_of_a_job_that_runs_is_a_warning(replicas: int, phase: str, warns: bool) -> None:
    old = running(job(task("learner", "learner", replicas=2)), phase)
    assert bool(validate(job(task("learner", "learner", replicas=replicas)), old).warnings) is warns


def actors(learners: int, collectors: int = 2, *more: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a DIJob with learners and collectors."""
    return job(
        task("learner", "learner", replicas=learners),
        task("collector", "collector", replicas=collectors),
        *more,
        **fields,
    )


RESTART = {"name": "job", "annotations": {"jobgate.dev/command": "RestartJob"}}


@pytest.mark.parametrize(
    "case, new, phase, runs, expected",
    [
        ("the last task", actors(1, 3), "Running", True, []),
        ("another task", actors(2), "Running", True, ["spec.tasks[0].replicas: Forbidden: only the last task may be scaled"]),
        ("two tasks", actors(2, 1), "Running", True, ["spec.tasks[0].replicas: Forbidden: only the last task may be scaled"]),
        ("another task, by its operator", actors(2), "Running", False, []),
        ("another task of a job that has succeeded", actors(2), "Succeeded", True, []),
        ("another task of a job that has failed", actors(2), "Failed", True, []),
        ("another task before it starts", actors(2), "Pending", True, []),
        ("another task of a job that restarts", actors(2, metadata=RESTART), "Running", True, []),
        ("another task of a job that is suspended", actors(2, suspend=True), "Running", True, []),
        ("a task at the end", actors(1, 2, task("evaluator", "evaluator")), "Running", True, []),
    ],
)  # fmt: skip
def test_pods_of_a_job_that_runs_here_keep_their_ranks(
    case: str, new: Any, phase: str, runs: bool, expected: list[str]
) -> None:
    request = request_of(DIJOB, new, running(actors(1), phase), name="job")
    settings = Settings(runs=frozenset({DIJOB.qualified_plural} if runs else ()))
    reported = faults(review(request, Phase.VALIDATE, KINDS, settings))
    assert [fault[: len(text)] for fault, text in zip(reported, expected, strict=True)] == expected, case
    assert all("annotation jobgate.dev/command: RestartJob" in fault for fault in reported)


def test_a_default_of_today_is_no_change_of_the_user() -> None:
    """A running job that was stored by a version which named no typed task, and an edit of something else."""
    old = running(job(task("learner")))
    new = job({**task("learner"), "name": "learner"}, priority="high")
    assert faults(validate(new, old)) == []


def write(document: Any, old: Any, user: str, *, forgetful: frozenset[str] = frozenset({OPERATOR})) -> list[Any]:
    request = request_of(DIJOB, document, old, name="job", user=User(user))
    return list(review(request, Phase.MUTATE, KINDS, Settings(forgetful_writers=forgetful)).patch)


def test_what_the_operator_erases_is_put_back_and_its_write_changes_nothing() -> None:
    metadata = {"name": "job", "managedFields": [{"manager": "kubectl", "operation": "Apply"}]}
    stored = job({**task("learner"), "name": "learner"}, metadata=metadata, queue="games", plugins={"svc": []})
    erased = job({**task("learner"), "name": "learner"}, metadata={"name": "job", "managedFields": []})
    patch = write(erased, stored, OPERATOR)
    assert jsonpatch.apply_patch(erased, patch) == stored


def test_what_a_person_removes_stays_removed() -> None:
    stored, removed = job({**task("learner"), "name": "learner"}, queue="games"), job(task("learner", "learner"))
    assert not [each for each in write(removed, stored, "jane") if "queue" in each["path"]]
    assert not [entry for entry in write(removed, stored, OPERATOR, forgetful=frozenset()) if "queue" in entry["path"]]


@pytest.mark.parametrize(("minimum", "warns"), [({}, False), ({"minAvailable": 2}, True)])
def test_priorities_of_a_gang_concern_a_job_that_is_one(minimum: dict[str, Any], warns: bool) -> None:
    urgent = task("learner", template=template(priorityClassName="high"))
    reported = notices(job(urgent, task("collector"), **minimum))
    assert any("of this gang" in text for text in reported) is warns

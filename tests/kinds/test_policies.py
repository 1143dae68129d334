"""Lifecycle policies are the same field in every kind with a runner, with the same rules."""

from typing import Any

import pytest

from jobgate.jobs.context import Settings
from jobgate.offline.judge import ReviewOptions, judge
from tests.kinds.mxjob import jobs as mx
from tests.kinds.test_runs_here import KINDS, RUNS, dijob
from tests.kinds.torchjob import jobs as torch
from tests.kinds.vcjob import jobs as vc

RESTART = {"event": "PodFailed", "action": "RestartJob"}
DIST = ("SCHEDULER", "SERVER", "WORKER")


def jobs(*policies: Any, of_task: bool = False) -> list[dict[str, Any]]:
    """A job of each kind with these policies."""
    field: dict[str, Any] = {"policies": list(policies)}
    of_job, task = ({}, field) if of_task else (field, {})
    di = dijob(old=True, **of_job)
    di["spec"]["tasks"][0] |= task
    return [
        di,
        vc.job(vc.task("a", **task), **of_job),
        torch.job(torch.tasks(worker=torch.task(2, **task)), **of_job),
        mx.job("dist", *(mx.role(role, **task) for role in DIST), **of_job),
    ]


def verdict(job: dict[str, Any], settings: Settings = RUNS) -> tuple[list[str], tuple[str, ...]]:
    """The causes and warnings of a job."""
    result = judge(job, ReviewOptions(kinds=KINDS, settings=settings))
    causes = (result.status or {}).get("details", {}).get("causes", [])
    return [f"{each['field']}: {each['message']}" for each in causes], result.warnings


@pytest.mark.parametrize("of_task", [False, True])
def test_policies_are_allowed_and_acted_on_by_the_runner(*, of_task: bool) -> None:
    for job in jobs(RESTART, {"event": "PodEvicted", "action": "RestartPod"}, of_task=of_task):
        causes, warnings = verdict(job)
        assert (causes, [text for text in warnings if "polic" in text]) == ([], []), job["kind"]


def test_faults_are_denied_in_every_kind() -> None:
    for job in jobs({"event": "PodFailed"}):
        causes, _ = verdict(job)
        assert any("policies[0].action: Required value: must be AbortJob, RestartJob" in cause for cause in causes)
    for job in jobs({"exitCode": 0, "action": "RestartJob"}, of_task=True):
        assert any("must not be 0" in cause for cause in verdict(job)[0]), job["kind"]


@pytest.mark.parametrize("of_task", [False, True])
def test_policies_that_the_operator_ignores_are_a_warning(*, of_task: bool) -> None:
    for job in jobs(RESTART, of_task=of_task):
        warned = any("ignores this field: the policies have no effect" in text for text in verdict(job, Settings())[1])
        assert warned == (job["kind"] != "Job"), job["kind"]


ZERO = "spec.backoffLimit is 0: the job fails instead. Set it to the number of restarts to allow"


@pytest.mark.parametrize(
    ("limit", "action", "warned"), [(0, "RestartJob", True), (1, "RestartJob", False), (0, "AbortJob", False)]
)
def test_a_restart_that_the_limit_excludes_is_a_warning(limit: int, action: str, warned: bool) -> None:
    policies = [{"event": "PodFailed", "action": action}]
    for job in (dijob(old=True, policies=policies), torch.job(policies=policies)):
        job["spec"]["backoffLimit"] = limit
        expected = [f"spec.policies[0].action: {ZERO}"] if warned else []
        assert [text for text in verdict(job)[1] if ZERO in text] == expected


REPLACES = "TaskFailed counts container restarts, and the runner replaces failed pods instead: use PodFailed"


def test_a_policy_for_container_restarts_that_do_not_happen_is_a_warning() -> None:
    failed = {"event": "TaskFailed", "action": "RestartTask"}
    assert any(REPLACES in text for text in verdict(torch.job(policies=[RESTART, failed]))[1])
    assert not any(REPLACES in text for text in verdict(torch.job(policies=[failed]))[1])


def test_a_master_that_a_policy_restarts_is_no_warning() -> None:
    tasks = torch.tasks(master=torch.task(restartPolicy="ExitCode"))
    text = "with ExitCode the job fails when a worker fails"
    assert any(text in warning for warning in verdict(torch.job(tasks))[1])
    assert not any(text in warning for warning in verdict(torch.job(tasks, policies=[RESTART]))[1])
    assert any(text in warning for warning in verdict(torch.job(tasks, policies=[RESTART]), Settings())[1])

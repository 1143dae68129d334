"""Objects of any shape: the runner makes a plan, or reports that it cannot read the job."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from jobgate.jobs.kind import job_kinds
from jobgate.jobs.status import STATE
from jobgate.kinds import installed
from jobgate.runner.actions import RequeueAfter
from jobgate.runner.plan import plan
from jobgate.runner.state import RunState
from jobgate.runner.subject import Observed, read
from tests.runner.world import START, UID, World, dijob, stored, subject, task, vcjob, vctask
from tests.webhook.values import json_values

TORCH: dict[str, Any] = {
    "apiVersion": "train.distributed.io/v1alpha1",
    "kind": "TorchJob",
    "metadata": {"name": "train"},
    "spec": {
        "torchTaskSpecs": {
            "Master": {"template": {"spec": {"containers": [{"name": "torch", "image": "x"}]}}},
        },
    },
}
KIND = next(kind for kind in job_kinds(installed()) if kind.kind == "DIJob")
VOLCANO = next(kind for kind in job_kinds(installed()) if kind.group == "batch.volcano.sh")
relaxed = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)


@pytest.mark.parametrize(
    "state",
    [{"attempt": -1}, {"attempt": 9**99}, {"restarts": 1.5}, {"tasks": {"work": -9}}, {"held": 1}, {"deleted": 1}],
    ids=str,
)  # fmt: skip
def test_a_state_that_no_runner_has_written_is_none(state: Any) -> None:
    job = dijob()
    job["status"][STATE] = {"admitted": True, **state}
    assert RunState.of(job) == RunState()


def test_a_reason_that_is_too_long_is_cut() -> None:
    assert RunState(attempt=3, held="x" * 2000).written() == {"attempt": 3, "held": "x" * 1024}


def test_a_deadline_may_lie_past_the_calendar() -> None:
    job = stored({**TORCH, "spec": {**TORCH["spec"], "activeDeadlineSeconds": 2**62}})
    job["status"] |= {"startTime": "2020-01-01T00:00:00Z"}
    assert plan(subject(job), Observed(START))


def test_a_time_to_live_is_counted_from_an_end_without_a_zone() -> None:
    job = dijob(ttlSecondsAfterFinished=2**31 - 1)
    job["status"] |= {"phase": "Succeeded", "completionTime": f"{START.replace(tzinfo=None):%Y-%m-%d}"}
    assert any(isinstance(each, RequeueAfter) for each in plan(subject(job), Observed(START)))


def test_a_policy_may_wait_for_longer_than_the_calendar() -> None:
    policy = {"event": "PodPending", "action": "RestartJob", "timeout": "99999999h"}
    world = World(dijob(task(policies=[policy])))
    world.settle()
    world.pod()["status"] = {"phase": "Pending"}
    world.now += timedelta(hours=1)
    assert world.plan()


def kept(status: Any) -> Any:
    """A status of any shape, of a job that is run."""
    return {**status, STATE: {"attempt": 0}} if isinstance(status, dict) else status


@relaxed
@given(json_values, json_values)
@example({"conditions": [1]}, 1)
@example({"conditions": {"type": 1}}, [{}])
@example({"conditions": [{"type": [], "status": "True"}]}, None)
def test_objects_of_any_shape_have_a_plan(value: Any, other: Any) -> None:
    world = World(dijob(task(2)))
    world.settle()
    batch, pod = next(iter(world.jobs.values())), world.pod()
    for where, field in ((batch, "status"), (batch, "spec"), (pod, "status")):
        before, where[field] = where.get(field), value
        world.plan()
        where[field] = {**value, "phase": other, "containerStatuses": other} if isinstance(value, dict) else other
        world.plan()
        where[field] = before
    for status in (value, {"phase": value, "conditions": other}, {"completionTimestamp": value, "phase": "Failed"}):
        if (result := read(KIND, {**dijob(ttlSecondsAfterFinished=1), "status": kept(status)})) is not None:
            plan(result, world.observed())
    for spec in (value, {"tasks": value}, {"tasks": [task(dependsOn=value, policies=other)]}):
        job = {
            **dijob(),
            "spec": spec,
            "status": kept(other),
            "metadata": {"name": "train", "namespace": "lab", "uid": UID},
        }
        if (result := read(KIND, job)) is not None:
            plan(result, Observed(START))


@relaxed
@given(json_values, json_values)
@example({"phase": "Failed", "lastTransitionTime": "soon"}, {"state": {"phase": "Completed"}})
def test_volcano_jobs_of_any_shape_have_a_plan(value: Any, other: Any) -> None:
    for status in (value, {"state": value, "conditions": other}, {"state": {"phase": value}, "runningDuration": other}):
        if (result := read(VOLCANO, {**vcjob(ttlSecondsAfterFinished=1), "status": kept(status)})) is not None:
            plan(result, Observed(START))
    specs = (
        {"tasks": [vctask()], "plugins": {"ray": value, "pytorch": other}},
        {"tasks": [vctask()], "volumes": [{"mountPath": "/a", "volumeClaim": value, "volumeClaimName": other}]},
        {"tasks": [vctask(partitionPolicy=value, topologyPolicy=other)]},
    )
    for spec in specs:
        if (result := read(VOLCANO, {**vcjob(), "spec": spec})) is not None:
            plan(result, Observed(START))

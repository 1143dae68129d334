"""A kind's runner is a subclass of `Runner`: two methods are its own, everything else has a default."""

from collections.abc import Mapping
from typing import Any

import pytest

from jobgate.api import Clean, Job, Progress, Registry, Runner, RunPhase, bind
from jobgate.kinds.dijob.models import RESOURCE, DIJobSpec
from jobgate.kinds.dijob.operator import DI_ORCHESTRATOR
from tests.runner.world import World, dijob, task


class SmallRunner(Runner[DIJobSpec]):
    """Has nothing but a status."""

    def status(self, job: Job[DIJobSpec], progress: Progress) -> dict[str, Any]:
        return {**job.document["status"], "phase": str(progress.phase)}

    def end_phase(self, status: Mapping[str, Any]) -> RunPhase | None:
        phase = RunPhase(status.get("phase", "Pending"))
        return phase if phase.ended else None


class KeepingRunner(SmallRunner):
    """Keeps the pods of ended jobs."""

    def clean_policy(self, job: Job[DIJobSpec]) -> Clean:
        return Clean.NONE


def world(monkeypatch: pytest.MonkeyPatch, runner: Runner[Any]) -> World:
    """A job of two tasks, one depending on the other, run by this runner."""
    kind = bind(RESOURCE, operator=DI_ORCHESTRATOR, runner=runner)
    monkeypatch.setattr("tests.runner.world.KINDS", Registry([kind]))
    result = World(dijob(task(name="first"), task(name="second", dependsOn={"name": ["first"]})))
    result.settle()
    return result


def test_a_runner_with_only_a_status_runs_jobs_by_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    job = world(monkeypatch, SmallRunner())
    assert job.running() == ["train-first-0", "train-second-0"]
    assert job.status["phase"] == "Running"
    job.end("first", code=1)
    job.settle()
    assert (job.running(), len(job.pods_of("first", 0))) == (["train-first-0", "train-second-0"], 2)
    for name in ("first", "second"):
        job.end(name)
        job.settle()
    assert job.status["phase"] == "Succeeded"


@pytest.mark.parametrize(("runner", "left"), [(SmallRunner(), []), (KeepingRunner(), ["train-second-0"])])
def test_a_method_that_is_overridden_wins_over_its_default(
    monkeypatch: pytest.MonkeyPatch, runner: Runner[Any], left: list[str]
) -> None:
    job = world(monkeypatch, runner)
    monkeypatch.setattr(type(runner), "has_succeeded", lambda _, job, tasks: tasks["first"].complete)
    job.end("first")
    job.settle()
    assert (job.status["phase"], job.running()) == ("Succeeded", left)


def test_a_runner_without_a_status_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="end_phase"):
        type("Empty", (Runner,), {})()

"""A job's graph, from the objects that were read."""

from datetime import timedelta
from typing import Any

import pytest

from certs import Reading
from jobgate.console.commands import Trial
from jobgate.console.jobs import graph
from jobgate.doctor.observed import ClusterSnapshot, Ref
from jobgate.jobs.context import Settings
from jobgate.jobs.kind import JobKind
from jobgate.plugins.queueing import Grouping, System
from jobgate.why.causes import PODGROUPS, Situation
from tests.runner.world import KINDS, START, UID, World, dijob, task, torchjob, vcjob, vctask

Object = dict[str, Any]
STAGES = (task(2, "learner"), task(3, "actor"), task(1, "evaluator", dependsOn={"name": ["learner", "actor"]}))
NATIVE = Grouping(System.KUBERNETES, "scheduling.k8s.io/v1beta1")


class Empty(dict[Ref, Any]):
    """Lists; those that a test does not name are empty."""

    def __missing__(self, _: Ref) -> Any:
        return []


def gangs(job: Object, groups: Any) -> list[tuple[str, int, list[str]]]:
    """The gangs that are shown of a job, with PodGroups that it has."""
    lists = Empty({Ref(PODGROUPS[1], "", "lab"): groups})
    kind = KINDS.get(job["apiVersion"], job["kind"])
    assert isinstance(kind, JobKind)
    seen = ClusterSnapshot({}, lists, clock=Reading(START, timedelta()))
    shown = graph(Situation(kind, job, seen, "jobgate-system"), Trial(KINDS, Settings()).options())["gangs"]
    return [(gang["name"], gang["minimum"], gang["tasks"]) for gang in shown]


@pytest.mark.parametrize(
    "job",
    [
        dijob(*STAGES),
        dijob(task(2, "learner"), task(1, "actor")),
        dijob(task(2), minAvailable=1),
        torchjob(worker={"dependsOn": []}),
        vcjob(vctask(2, "ps"), vctask(3, "worker", dependsOn={"name": ["ps"]})),
    ],
    ids=["stages", "one stage", "minimum", "TorchJob", "Volcano"],
)
def test_gangs_are_those_that_the_runner_makes(job: Object) -> None:
    world = World(job, groups=NATIVE)
    world.settle()
    made = {
        group["metadata"]["name"]: group["spec"]["schedulingPolicy"]["gang"]["minCount"]
        for group in world.groups.values()
    }
    shown = gangs(world.job, [*world.groups.values()])
    assert {name: minimum for name, minimum, _ in shown} == made
    assert made


def test_each_stage_is_a_gang_of_its_tasks() -> None:
    world = World(dijob(*STAGES), groups=NATIVE)
    world.settle()
    assert [(minimum, tasks) for _, minimum, tasks in gangs(world.job, [*world.groups.values()])] == [
        (5, ["learner", "actor"]),
        (1, ["evaluator"]),
    ]


@pytest.mark.parametrize(
    "spec, groups, shown",
    [
        ({}, ["train-x"], [("train-x", 6, ["learner", "actor", "evaluator"])]),
        ({"minAvailable": 4}, [], [("train", 4, ["learner", "actor", "evaluator"])]),
        ({}, [], []),
    ],
    ids=["group", "minimum", "no gang"],
)
def test_a_job_of_an_operator_is_one_gang(spec: Object, groups: list[str], shown: Any) -> None:
    owner = {"controller": True, "uid": UID}
    job = dijob(*STAGES, **spec)
    del job["status"]
    assert (
        gangs(job, [{"metadata": {"name": name, "uid": name, "ownerReferences": [owner]}} for name in groups]) == shown
    )

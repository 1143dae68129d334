"""What is done for a JobFlow."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from jobgate.runner.flows.plan import due, job_from, report
from tests.kinds.vcjob.jobs import job, task
from tests.kinds.vcjob.test_flows import as_template, flow, jobflow

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
CREATED = "2026-01-01T11:00:00Z"
DIAMOND = (flow("a"), flow("b", "a"), flow("c", "a"), flow("d", "b", "c"))


def stored(*flows: Any, status: Any = None, **spec: Any) -> dict[str, Any]:
    document = jobflow(*flows, **spec)
    document["metadata"] |= {"namespace": "lab", "uid": "0123"}
    return document | ({"status": status} if status else {})


def made(**phases: str) -> dict[str, dict[str, Any]]:
    """Return Jobs of these phases, by the names of their flows."""
    return {
        name: {
            "metadata": {"name": f"train-{name}", "creationTimestamp": CREATED},
            "status": {"state": {"phase": phase, "lastTransitionTime": "2026-01-01T11:01:30Z"}},
        }
        for name, phase in phases.items()
    }


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ({}, ["a"]),
        ({"a": ""}, []),
        ({"a": "Running"}, []),
        ({"a": "Completed"}, ["b", "c"]),
        ({"a": "Completed", "b": "Completed", "c": "Completing"}, []),
        ({"a": "Completed", "b": "Completed", "c": "Completed"}, ["d"]),
        ({"a": "Completed", "b": "Failed"}, []),
        ({"a": "Completed", "b": "Terminated"}, []),
        ({"a": "Completed", "b": "Aborted"}, ["c"]),
    ],
)
def test_a_job_is_created_when_those_before_it_are_completed(phases: dict[str, str], expected: list[str]) -> None:
    assert due(stored(*DIAMOND), made(**phases)) == expected


def test_a_completed_job_that_is_gone_counts_and_another_is_created_again() -> None:
    entries = [{"name": "train-a", "state": "Completed"}, {"name": "train-b", "state": "Running"}]
    document = stored(*DIAMOND, status={"jobStatusList": entries, "state": {"phase": "Running"}})
    assert due(document, made(c="Running")) == ["b"]
    assert report(document, made(c="Running"), [], NOW)["completedJobs"] == ["train-a"]


@pytest.mark.parametrize("phase", ["Failed", "Terminating", "Succeed"])
def test_a_flow_that_has_ended_creates_nothing(phase: str) -> None:
    assert due(stored(*DIAMOND, status={"state": {"phase": phase}}), made(a="Completed")) == []


@pytest.mark.parametrize(
    ("before", "phases", "expected"),
    [
        ("", {}, "Pending"),
        ("", {"a": "Pending"}, "Pending"),
        ("", {"a": "Running"}, "Running"),
        ("Pending", {"a": "Completed"}, "Running"),
        ("Running", {"a": "Restarting"}, "Running"),
        ("Running", {"a": "Completed", "b": "Failed", "c": "Running"}, "Failed"),
        ("Running", {"a": "Completed", "b": "Terminated"}, "Failed"),
        ("Running", dict.fromkeys("abcd", "Completed"), "Succeed"),
        ("Succeed", {}, "Succeed"),
        ("Failed", dict.fromkeys("abcd", "Completed"), "Failed"),
    ],
)
def test_the_phase_of_a_flow_follows_from_its_jobs(before: str, phases: dict[str, str], expected: str) -> None:
    document = stored(*DIAMOND, status={"state": {"phase": before}} if before else None)
    assert report(document, made(**phases), [], NOW)["state"]["phase"] == expected


def test_the_status_lists_jobs_as_volcano_does() -> None:
    status = report(stored(*DIAMOND), made(a="Completed", b="Running", c="Restarting"), ["why"], NOW)
    assert {key: value for key, value in status.items() if key.endswith("Jobs") and value} == {
        "completedJobs": ["train-a"],
        "runningJobs": ["train-b"],
        "unKnowJobs": ["train-c"],
    }
    assert status["jobStatusList"][0] == {
        "name": "train-a",
        "state": "Completed",
        "startTimestamp": CREATED,
        "endTimestamp": "2026-01-01T11:01:30Z",
        "runningHistories": [{"startTimestamp": "2026-01-01T12:00:00Z", "state": "Completed"}],
    }
    assert status["conditions"]["train-b"]["phase"] == "Running"
    assert status["state"] == {"phase": "Running", "message": "why"}


def test_the_phases_that_a_job_has_been_in_are_kept_until_it_is_created_again() -> None:
    document, later = stored(flow("a")), datetime(2026, 1, 1, 13, tzinfo=UTC)
    document["status"] = report(document, made(a="Running"), [], NOW)
    again = report(document, made(a="Completed"), [], later)
    assert again["jobStatusList"][0]["runningHistories"] == [
        {"startTimestamp": "2026-01-01T12:00:00Z", "endTimestamp": "2026-01-01T13:00:00Z", "state": "Running"},
        {"startTimestamp": "2026-01-01T13:00:00Z", "state": "Completed"},
    ]
    other = made(a="Running")
    other["a"]["metadata"]["creationTimestamp"] = "2026-01-01T12:30:00Z"
    (history,) = report(document, other, [], later)["jobStatusList"][0]["runningHistories"]
    assert history["startTimestamp"] == "2026-01-01T13:00:00Z"


def test_a_failed_flow_says_which_job_failed_and_keeps_it() -> None:
    document = stored(*DIAMOND)
    document["status"] = report(document, made(a="Completed", b="Failed"), [], NOW)
    assert document["status"]["state"]["message"] == "train-b failed: no more Jobs are created"
    assert report(document, {}, [], NOW)["state"]["message"] == "train-b failed: no more Jobs are created"


def test_a_flow_that_is_added_starts_and_one_that_is_removed_counts_no_more() -> None:
    document = stored(flow("a"), flow("e", "a"))
    assert due(document, made(a="Completed")) == ["e"]


def test_a_created_job_is_named_marked_and_owned_as_by_volcano_and_passes_admission() -> None:
    template = as_template(job(task("main"), queue="research"))
    created = job_from(stored(*DIAMOND), "a", template)
    marks = {"volcano.sh/createdByJobFlow": "lab.train", "volcano.sh/createdByJobTemplate": "lab.a"}
    assert created["metadata"] == {
        "name": "train-a",
        "namespace": "lab",
        "labels": marks,
        "annotations": marks,
        "ownerReferences": [
            {
                "apiVersion": "flow.volcano.sh/v1alpha1",
                "kind": "JobFlow",
                "name": "train",
                "uid": "0123",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    verdict = judge(created, ReviewOptions(kinds=installed()))
    assert verdict.allowed
    assert verdict.document["spec"]["minAvailable"] == 1


def test_every_random_flow_runs_in_order_to_its_end() -> None:
    """The phases of Jobs change at random, and Completed ones are deleted, as by their TTL."""
    for seed in range(300):
        chance = random.Random(seed)
        names = [f"n{index}" for index in range(chance.randint(1, 8))]
        flows = [
            flow(name, *chance.sample(names[:index], chance.randint(0, min(index, 3))))
            for index, name in enumerate(names)
        ]
        targets = {each["name"]: each.get("dependsOn", {}).get("targets", []) for each in flows}
        chance.shuffle(flows)
        document, jobs, done = stored(*flows), dict[str, Any](), set[str]()
        for _ in range(200):
            for name in due(document, jobs):
                assert done >= set(targets[name]), (seed, name)
                assert name not in done, (seed, name)
                jobs |= made(**{name: ""})
            document["status"] = report(document, jobs, [], NOW)
            if document["status"]["state"]["phase"] == "Succeed":
                break
            for name, each in [*jobs.items()]:
                state = each["status"]["state"]
                if state["phase"] == "Completed":
                    if chance.random() < 0.3 and f"train-{name}" in (document["status"]["completedJobs"] or ()):
                        del jobs[name]
                elif chance.random() < 0.5:
                    state["phase"] = {"": "Pending", "Pending": "Running", "Running": "Completed"}[state["phase"]]
                    done |= {name} if state["phase"] == "Completed" else set()
        assert done == set(names), seed
        assert document["status"]["state"]["phase"] == "Succeed", seed

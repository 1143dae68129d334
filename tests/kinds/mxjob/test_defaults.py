"""Defaults of MxJobs."""

from typing import Any

import jsonpatch
import pytest

from tests.kinds.mxjob.jobs import dist, faults, job, local, mutate, role, template, validate


def defaulted(document: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Return the document after the mutating call."""
    response = mutate(document, **options)
    assert response.allowed, faults(response)
    result: dict[str, Any] = jsonpatch.apply_patch(document, list(response.patch))
    return result


def roles(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the roles of the mutated document, without their templates."""
    return [
        {key: value for key, value in spec.items() if key != "template"}
        for spec in defaulted(document)["spec"]["replicaSpecs"]
    ]


def test_an_element_without_words_is_one_worker() -> None:
    assert roles(job("local", role())) == [{"mxReplicaType": "WORKER", "replicas": 1}]


def test_the_port_is_the_schedulers_alone() -> None:
    assert roles(dist()) == [
        {"mxReplicaType": "SCHEDULER", "replicas": 1, "psRootPort": 9091},
        {"mxReplicaType": "SERVER", "replicas": 1},
        {"mxReplicaType": "WORKER", "replicas": 1},
    ]


@pytest.mark.parametrize("spelling", ["psRootPort", "PsRootPort"])
def test_a_port_stays_in_whichever_spelling(spelling: str) -> None:
    assert roles(dist(scheduler={spelling: 9000}))[0] == {
        "mxReplicaType": "SCHEDULER",
        "replicas": 1,
        spelling: 9000,
    }


@pytest.mark.parametrize(
    "written, stored",
    [({}, "OnFailure"), ({"restartPolicy": "Never"}, "Never"), ({"restartPolicy": None}, "OnFailure")],
)
def test_pods_are_restarted_on_failure_by_default(written: dict[str, Any], stored: str) -> None:
    document = defaulted(local(template=template(**written)))
    assert document["spec"]["replicaSpecs"][0]["template"]["spec"]["restartPolicy"] == stored


def test_nobody_makes_up_a_runtime_id() -> None:
    assert "runtimeId" not in defaulted(dist())["spec"]


def test_the_mode_is_never_guessed() -> None:
    assert [str(cause) for cause in mutate({**dist(), "spec": {"replicaSpecs": [role()]}}).causes] == [
        "spec.jobMode: Required value: must be set"
    ]


def test_a_second_time_there_is_nothing_to_add() -> None:
    once = defaulted(dist())
    assert not mutate(once).patch
    assert validate(once).allowed

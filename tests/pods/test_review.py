"""Additions to a pod, and the causes if they are missing."""

from copy import deepcopy
from typing import Any

import jsonpatch
import pytest

from jobgate.plugins import CrewContainer, Member
from jobgate.plugins.crew import Variable
from jobgate.pods import reviewer
from tests.plugins.crews import crew, part
from tests.pods.pods import patch, pod
from webhook import Cause


def contract(member: Member) -> tuple[Variable, ...]:
    return (Variable("DI_RANK", str(member.rank), wrong=lambda text: text == "9"),)


def member(**fields: Any) -> Member:
    """Return a pod of a job that asks for env."""
    work = part("work", 2, containers=(CrewContainer("main"), CrewContainer("fetch", init=True)))
    result = crew(work, plugins=fields.pop("plugins", _arguments("env")), contract=contract, **fields)
    return Member(result, work, 1)


def _arguments(*names: str) -> dict[str, Any]:
    from jobgate.plugins import installed  # noqa: PLC0415

    return {name: installed()[name].arguments() for name in names}


def missing(document: dict[str, Any], of: Member) -> list[Cause]:
    return list(reviewer.missing(document, patch(document, of), "the plugins of SweepJob train"))


def wired(document: dict[str, Any], of: Member) -> dict[str, Any]:
    """Return a pod after the patch, as the API server applies it."""
    result: dict[str, Any] = jsonpatch.apply_patch(deepcopy(document), patch(document, of))
    return result


def test_a_pod_gets_what_its_job_asks_for_before_its_own() -> None:
    wired_pod = wired(pod(1), member())
    names = [variable["name"] for variable in wired_pod["spec"]["containers"][0]["env"]]
    assert names[0] == "DI_RANK"
    assert {"VK_TASK_INDEX", "VC_TASK_INDEX"} <= set(names)
    assert names[-1] == "MINE"
    assert wired_pod["spec"]["containers"][1] == pod(1)["spec"]["containers"][1]


def test_a_pod_that_has_it_all_is_left_alone() -> None:
    wired_pod = wired(pod(1), member())
    assert patch(wired_pod, member()) == []
    assert missing(wired_pod, member()) == []


def strip(document: dict[str, Any], container: str, *names: str) -> dict[str, Any]:
    """Return a pod without variables of a container, as another webhook may leave it."""
    result = deepcopy(document)
    for entry in result["spec"]["containers"] + result["spec"].get("initContainers", []):
        if entry["name"] == container:
            entry["env"] = [each for each in entry["env"] if each["name"] not in names]
    return result


def test_a_pod_that_lacks_something_is_told_what_and_where() -> None:
    whole = wired(pod(1, initContainers=[{"name": "fetch", "image": "x"}]), member())
    lacking = strip(strip(whole, "main", "VC_TASK_INDEX", "DI_RANK"), "fetch", "VK_TASK_INDEX")
    assert [str(cause) for cause in missing(lacking, member())] == [
        "spec.containers[0].env: Required value: lacks DI_RANK, VC_TASK_INDEX, set by the plugins of SweepJob train; check for a webhook or client that removes it",
        "spec.initContainers[0].env: Required value: lacks VK_TASK_INDEX, set by the plugins of SweepJob train; check for a webhook or client that removes it",
    ]


def test_a_pod_that_lacks_everything_is_told_all_of_it() -> None:
    (cause,) = missing({"spec": {"containers": [{"name": "main"}]}}, member())
    assert cause.path == "spec.containers[0].env"
    assert all(name in str(cause) for name in ("DI_RANK", "VC_TASK_INDEX", "VC_GLOBAL_RANK"))


def test_a_wrong_value_of_the_operators_is_reported_by_its_name_and_place() -> None:
    whole = wired(pod(1), member())
    main = whole["spec"]["containers"][0]
    assert main["env"][0]["name"] == "DI_RANK"
    main["env"][0]["value"] = "9"
    (cause,) = missing(whole, member())
    assert cause.path == "spec.containers[0].env[0].value"
    assert str(cause).endswith(
        "has a wrong value of DI_RANK; the plugins of SweepJob train set it; check for a webhook or client that changes it"
    )


@pytest.mark.parametrize(
    "operation, path, says",
    [
        ({"op": "replace", "path": "/spec/schedulerName", "value": "x"}, "spec.schedulerName", "has a wrong value; "),
        (
            {"op": "replace", "path": "/spec/containers/0/command", "value": ["x"]},
            "spec.containers[0].command",
            "has a wrong value; ",
        ),
        (
            {"op": "replace", "path": "/metadata/annotations/example.com~1a", "value": "x"},
            "metadata.annotations.example.com/a",
            "has a wrong value; ",
        ),
        ({"op": "add", "path": "/metadata", "value": {"labels": {}}}, "metadata", "lacks labels, set by "),
    ],
)
def test_fields_that_are_wrong_or_missing_as_a_whole_are_named(operation: Any, path: str, says: str) -> None:
    (cause,) = reviewer.missing(pod(1), [operation], "the plugins of SweepJob train")
    assert cause.path == path
    assert f": {says}" in str(cause)


@pytest.mark.parametrize(
    "labels, says",
    [
        (None, "lacks example.com/job, jobgate.dev/task, jobgate.dev/index"),
        ({"jobgate.dev/task": "work", "example.com/job": "train"}, "lacks jobgate.dev/index"),
    ],
)
def test_labels_that_are_missing_are_reported(labels: Any, says: str) -> None:
    whole = wired(pod(1), member())
    whole["metadata"]["labels"] = labels
    (cause,) = missing(whole, member(marked=True))
    assert cause.path == "metadata.labels"
    assert says in str(cause)


def test_volumes_and_mounts_and_fields_that_are_missing_are_reported() -> None:
    whole = wired(pod(1), member(plugins=_arguments("svc")))
    spec = whole["spec"]
    (volume,) = [volume["name"] for volume in spec["volumes"]]
    places = [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]]
    assert places
    del spec["hostname"]
    spec["volumes"] = []
    spec["containers"][0]["volumeMounts"] = []
    reported = {str(cause.path): str(cause) for cause in missing(whole, member(plugins=_arguments("svc")))}
    assert "lacks its value," in reported["spec.hostname"]
    assert f"lacks {volume}," in reported["spec.volumes"]
    assert all(place in reported["spec.containers[0].volumeMounts"] for place in places)

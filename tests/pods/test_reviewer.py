"""The answer to the API server about a pod."""

from typing import Any

import jsonpatch
import pytest

from tests.pods.pods import OTHER_UID, Cluster, Known, answer, job, marked_pod, pod, reviewer
from webhook import Operation, Phase


def applied(document: dict[str, Any], patch: Any) -> dict[str, Any]:
    result: dict[str, Any] = jsonpatch.apply_patch(document, patch)
    return result


@pytest.mark.parametrize("document", [pod(1), pod(1, uid=None), marked_pod("1")])
@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_pod_of_a_job_is_wired_and_then_found_whole(document: dict[str, Any], dry_run: bool) -> None:
    result = reviewer()
    mutated = await answer(result, document, dry_run=dry_run)
    assert mutated is not None
    assert mutated.allowed
    wired = applied(document, mutated.patch)
    env = {variable["name"]: variable.get("value") for variable in wired["spec"]["containers"][0]["env"]}
    assert env["VC_TASK_INDEX"] == "1"
    again = await answer(result, wired)
    assert again is not None
    assert (again.allowed, list(again.patch)) == (True, [])
    validated = await answer(result, wired, Phase.VALIDATE, dry_run=dry_run)
    assert validated is not None
    assert (validated.allowed, list(validated.patch), list(validated.notices)) == (True, [], [])


async def test_a_pod_that_is_not_wired_is_rejected_by_the_second_call() -> None:
    validated = await answer(reviewer(), pod(1), Phase.VALIDATE)
    assert validated is not None
    status = validated.status()
    assert status["code"] == 422
    assert status["details"]["kind"] == "Pod"
    assert status["details"]["name"] == "train-work-1"
    assert [cause["field"] for cause in status["details"]["causes"]] == ["spec.containers[0].env"]


def of_another_job() -> dict[str, Any]:
    result = pod()
    result["metadata"]["labels"] = {"app": "shop"}
    return result


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize(
    "document, fields",
    [
        (of_another_job(), {}),
        (pod(), {"operation": Operation.UPDATE}),
        (None, {"operation": Operation.DELETE}),
        (pod(), {"operation": Operation.CONNECT}),
        (pod(), {"subresource": "ephemeralcontainers"}),
        (pod(), {"kind": "PodList"}),
        (pod(), {"api_version": "v2"}),
        (None, {}),
        ([], {}),
        ("x", {}),
    ],
)
async def test_what_is_not_ours_is_left_alone(document: Any, fields: dict[str, Any], phase: Phase) -> None:
    cluster = Cluster()
    assert await answer(reviewer(Known(job()), cluster), document, phase, **fields) is None
    assert cluster.asked == []


@pytest.mark.parametrize("phase", list(Phase))
async def test_a_pod_of_a_job_that_asks_for_nothing_is_left_as_it_is(phase: Phase) -> None:
    for document in (pod(), marked_pod(), pod("no-index"), pod(99)):
        response = await answer(reviewer(Known(job(plugins={}))), document, phase)
        assert response is not None
        assert (response.allowed, list(response.patch), list(response.notices)) == (True, [], [])


@pytest.mark.parametrize("phase", list(Phase))
async def test_a_pod_with_labels_of_no_job_is_allowed_with_a_word(phase: Phase) -> None:
    response = await answer(reviewer(Known()), pod(uid=None), phase)
    assert response is not None
    assert (response.allowed, list(response.patch)) == (True, [])
    assert response.warnings == ["metadata.labels: no DIJob train exists in the namespace: the pod is not changed"]


@pytest.mark.parametrize("phase", list(Phase))
async def test_a_forged_owner_is_rejected(phase: Phase) -> None:
    response = await answer(reviewer(Known(job()), Cluster(job())), pod(uid=OTHER_UID), phase)
    assert response is not None
    assert [str(cause) for cause in response.causes] == [
        f'metadata.ownerReferences: Invalid value: "{OTHER_UID}": no DIJob train with this uid exists in the namespace'
    ]


@pytest.mark.parametrize("phase", list(Phase))
async def test_a_pod_that_is_ahead_of_what_is_known_is_asked_to_come_again(phase: Phase) -> None:
    response = await answer(reviewer(Known(job()), Cluster(job())), pod(2), phase)
    assert response is not None
    assert not response.allowed
    assert response.status() == {
        "status": "Failure",
        "code": 429,
        "reason": "TooManyRequests",
        "message": "DIJob train has no pod 2 of task work yet: retry in 1s",
        "details": {"name": "train-work-2", "group": "", "kind": "Pod", "retryAfterSeconds": 1},
    }


@pytest.mark.parametrize(
    "change, field",
    [
        ({"spec": None}, "$.spec"),
        ({"spec": {"containers": {}}}, "$.spec.containers"),
        ({"spec": {"containers": ["x"]}}, "$.spec.containers[0]"),
        ({"spec": {"containers": [{"name": []}]}}, "$.spec.containers[0].name"),
        ({"spec": {"containers": [{"name": "main", "env": {}}]}}, "$.spec.containers[0].env"),
        ({"spec": {"containers": [{"name": "main", "env": [1]}]}}, "$.spec.containers[0].env[0]"),
        ({"spec": {"containers": [{"name": "main", "volumeMounts": 1}]}}, "$.spec.containers[0].volumeMounts"),
        ({"spec": {"containers": [], "volumes": "x"}}, "$.spec.volumes"),
        ({"spec": {"containers": [], "securityContext": 1}}, "$.spec.securityContext"),
    ],
)
async def test_a_pod_that_cannot_be_read_is_rejected_with_the_place(change: dict[str, Any], field: str) -> None:
    for phase in Phase:
        response = await answer(reviewer(), pod() | change, phase)
        assert response is not None
        assert [f"at `{field}`" in cause.message for cause in response.causes] == [True]


async def test_annotations_that_cannot_be_read_are_reported() -> None:
    document = pod()
    document["metadata"]["annotations"] = []
    response = await answer(reviewer(), document)
    assert response is not None
    assert "$.metadata.annotations" in str(response.causes)


async def test_steadily_no_pod_costs_a_call() -> None:
    cluster = Cluster(job())
    result = reviewer(Known(job()), cluster)
    for _ in range(50):
        for document in (pod(0), pod(1), pod(0, uid=None), marked_pod("1")):
            for phase in Phase:
                await answer(result, document, phase)
    assert cluster.asked == []


async def test_an_installation_that_only_warns_rejects_no_pod() -> None:
    forged = pod(uid=OTHER_UID)
    for document, reported in ((forged, "no DIJob train with this uid"), (pod(1), "VC_TASK_INDEX")):
        response = await answer(reviewer(Known(job()), Cluster(job()), enforces=False), document, Phase.VALIDATE)
        assert response is not None
        assert response.allowed
        assert any(reported in str(notice) and "would be denied" in str(notice) for notice in response.notices)
    first = await answer(reviewer(Known(job()), Cluster(job()), enforces=False), forged)
    assert first is not None
    assert (first.allowed, list(first.patch), list(first.notices)) == (True, [], [])


async def test_also_if_nothing_is_rejected_a_pod_that_is_ahead_comes_again() -> None:
    response = await answer(reviewer(Known(job()), Cluster(job()), enforces=False), pod(2))
    assert response is not None
    assert response.status()["code"] == 429

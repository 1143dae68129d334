"""Defaults of TorchJobs."""

from typing import Any

import jsonpatch
import pytest

from tests.kinds.torchjob.jobs import container, job, mutate, task, tasks, template

PORT = {"name": "torchjob-port", "containerPort": 23456}


def stored(document: dict[str, Any]) -> dict[str, Any]:
    """Return the tasks of a job as they are stored."""
    result: dict[str, Any] = jsonpatch.apply_patch(document, list(mutate(document).patch))["spec"]["torchTaskSpecs"]
    return result


def main(part: dict[str, Any]) -> dict[str, Any]:
    """Return the first container of a task."""
    first: dict[str, Any] = part["template"]["spec"]["containers"][0]
    return first


@pytest.mark.parametrize(
    "key, policy",
    [("Master", "ExitCode"), ("mASTER", "ExitCode"), ("Worker", "OnFailure"), ("worker", "OnFailure"), ("AIMaster", "OnFailure")],
)  # fmt: skip
def test_a_task_of_any_case_has_one_pod_and_the_restart_policy_of_its_type(key: str, policy: str) -> None:
    parts = stored(job({"Master": task()} | {key: task()}))
    assert (parts[key]["numTasks"], parts[key]["restartPolicy"]) == (1, policy)


def test_what_the_user_wrote_stays() -> None:
    part = task(3, restartPolicy="Never", template=template(container(terminationMessagePolicy="File", ports=[PORT])))
    assert stored(job(tasks(part)))["Worker"] == part


@pytest.mark.parametrize(
    "ports, expected",
    [
        (None, [PORT]),
        ([], [PORT]),
        ([{"containerPort": 80}], [{"containerPort": 80}, PORT]),
        ([{"name": "torchjob-port", "containerPort": 1}], [{"name": "torchjob-port", "containerPort": 1}]),
    ],
)
def test_the_port_of_the_master_is_appended_where_none_has_its_name(ports: Any, expected: Any) -> None:
    written = container() if ports is None else container(ports=ports)
    parts = stored(job(tasks(master=task(template=template(container("side"), written)))))
    assert [container.get("ports") for container in parts["Master"]["template"]["spec"]["containers"]] == [
        None,
        expected,
    ]
    assert "ports" not in main(parts["Worker"])


def test_the_last_lines_of_log_are_kept_of_every_container_but_of_no_init_container() -> None:
    parts = stored(
        job(tasks(task(4, template=template(container(), container("side"), initContainers=[container("init")]))))
    )
    spec = parts["Worker"]["template"]["spec"]
    assert [container["terminationMessagePolicy"] for container in spec["containers"]] == ["FallbackToLogsOnError"] * 2
    assert "terminationMessagePolicy" not in spec["initContainers"][0]


def test_a_device_that_is_only_requested_is_limited_to_as_much() -> None:
    gpus = {"requests": {"nvidia.com/gpu": 2, "cpu": 1}}
    parts = stored(job(tasks(task(4, template=template(container(resources=gpus))))))
    assert main(parts["Worker"])["resources"]["limits"] == {"nvidia.com/gpu": 2}


def test_what_the_operator_assumes_by_itself_is_not_stored() -> None:
    document = job()
    spec = jsonpatch.apply_patch(document, list(mutate(document).patch))["spec"]
    assert list(spec) == ["torchTaskSpecs"]
    assert sorted(spec["torchTaskSpecs"]["Worker"]) == ["numTasks", "restartPolicy", "template"]


@pytest.mark.parametrize(
    "broken", [{"Master": 5}, {"Master": []}, {"Master": {"template": {"spec": {"containers": [{"name": "torch", "ports": "x"}]}}}}]
)  # fmt: skip
def test_broken_jobs_are_survived(broken: Any) -> None:
    assert not mutate(job(broken)).allowed

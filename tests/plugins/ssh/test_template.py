"""The warnings and denials of the plugin ssh for the pod templates of a DIJob."""

from typing import Any

import pytest

from tests.kinds.dijob.jobs import faults, job, task, validate

ROOT, OTHER, NOT_ROOT = {"runAsUser": 0}, {"runAsUser": 1000}, {"runAsNonRoot": True}
REFUSED = "runs as root, and securityContext.fsGroup"
READ_BY_ALL = "has no securityContext.fsGroup"
IMAGES = "if the image runs as root"


def answers(pod: dict[str, Any], container: dict[str, Any], **fields: Any) -> list[str]:
    containers = [{"name": "main", "image": "ding", "securityContext": container, **fields}]
    template = {"spec": {"containers": containers, "securityContext": pod}}
    plugins = {"ssh": ["--ssh-key-file-path=/home/me/.ssh"]}
    response = validate(job(task("learner", template=template), plugins=plugins))
    return [text for text in (*faults(response), *map(str, response.notices)) if text.startswith("spec.plugins[ssh]")]


@pytest.mark.parametrize(
    ("pod", "container", "expected"),
    [
        (OTHER | {"fsGroup": 7}, {}, []),
        ({"fsGroup": 7}, OTHER, []),
        (NOT_ROOT | {"fsGroup": 7}, {}, []),
        ({"fsGroup": 7}, {}, []),
        (ROOT | {"fsGroup": 7}, OTHER, []),
        (ROOT, {}, []),
        (OTHER, ROOT, []),
        (NOT_ROOT, ROOT, []),
        (ROOT | {"fsGroup": 7}, {}, [REFUSED]),
        (OTHER | {"fsGroup": 0}, ROOT, [REFUSED]),
        (OTHER, {}, [READ_BY_ALL]),
        ({}, NOT_ROOT, [READ_BY_ALL]),
        ({}, {}, [READ_BY_ALL, IMAGES]),
        (NOT_ROOT, {"runAsNonRoot": False}, [READ_BY_ALL, IMAGES]),
    ],
)
def test_who_runs_a_container_is_what_it_says_itself_or_else_its_pod(
    pod: dict[str, Any], container: dict[str, Any], expected: list[str]
) -> None:
    result = answers(pod, container)
    assert len(result) == min(len(expected), 1)
    for text in expected:
        assert text in result[0]
    assert (IMAGES in "".join(result)) == (IMAGES in expected)


def test_what_is_mounted_in_the_place_of_the_keys_is_seen() -> None:
    (result,) = answers(ROOT, {}, volumeMounts=[{"name": "home", "mountPath": "/home/me/.ssh"}])
    assert "container main of task learner mounts a volume at /home/me/.ssh" in result


def test_a_job_without_security_contexts_and_arguments_is_root_as_with_volcano() -> None:
    response = validate(job(task("learner"), plugins={"ssh": []}))
    assert faults(response) == []
    assert not [notice for notice in map(str, response.notices) if notice.startswith("spec.plugins[ssh]")]

"""Defaults that kinds share: a request for a resource that cannot be overcommitted also becomes the limit."""

from typing import Any

import jsonpatch
import pytest

from tests.kinds.dijob.jobs import job, mutate, task, template, validate

PAGES = {"hugepages-2Mi": "4Mi"}
MEMORY = {"memory": "1Gi"}
GPU = {"nvidia.com/gpu": 1}


def asking(resources: dict[str, Any]) -> dict[str, Any]:
    """Return a job with a container beside the main one that asks for these resources."""
    beside = {"name": "beside", "image": "ding", "resources": resources}
    return job(task("learner", template=template(containers=[{"name": "di-container", "image": "ding"}, beside])))


def stored(document: dict[str, Any]) -> dict[str, Any]:
    """Return the stored job with its defaults."""
    result: dict[str, Any] = jsonpatch.apply_patch(document, list(mutate(document).patch))
    return result


@pytest.mark.parametrize(
    "resources, limits",
    [
        ({"requests": {**PAGES, **MEMORY}}, PAGES),
        ({"requests": {**PAGES, "cpu": 1}, "limits": MEMORY}, {**MEMORY, **PAGES}),
        ({"requests": {**GPU, **PAGES, **MEMORY}}, {**GPU, **PAGES}),
        ({"requests": {**PAGES, **MEMORY}, "limits": {"hugepages-2Mi": "8Mi"}}, {"hugepages-2Mi": "8Mi"}),
        ({"requests": MEMORY}, None),
        ({"requests": {"hugepages-2Mi": "3Mi", **MEMORY}}, None),
    ],
    ids=[
        "huge pages with no limit, and memory with none",
        "huge pages beside another limit",
        "a device beside them",
        "a limit that is there",
        "what is shared",
        "an amount that cannot be",
    ],
)
def test_huge_pages_and_devices_are_limited_to_their_request(resources: dict[str, Any], limits: Any) -> None:
    container = stored(asking(resources))["spec"]["tasks"][0]["template"]["spec"]["containers"][1]
    assert container["resources"].get("limits") == limits


def test_huge_pages_without_memory_are_limited_and_rejected_once() -> None:
    document = asking({"requests": PAGES})
    (cause,) = validate(stored(document)).causes
    assert str(cause).startswith(
        "spec.tasks[0].template.spec.containers[1].resources: Forbidden: must also request cpu or"
    )
    assert [str(cause) for cause in validate(document).causes] == [str(cause)]

"""Whose a pod is, by what it says."""

from typing import Any

import pytest

from jobgate.jobs.members import Claim
from jobgate.jobs.wiring import claimed_job
from tests.pods.pods import KINDS, OTHER_UID, UID, marked_pod, owner, pod


def claimed(document: dict[str, Any]) -> tuple[str, Claim] | None:
    result = claimed_job(document, KINDS)
    return result and (result.kind.plural, result.claim)


def without(label: str) -> dict[str, Any]:
    """Return the pod of an operator without one of its labels."""
    result = pod()
    del result["metadata"]["labels"][label]
    return result


def both() -> dict[str, Any]:
    """Return a pod of an operator with labels of ours that say something else."""
    result = pod()
    result["metadata"]["labels"] |= marked_pod(job="another")["metadata"]["labels"]
    return result


@pytest.mark.parametrize(
    "document, expected",
    [
        (pod(1), ("dijobs", Claim("train", "work", 1, UID, owned=True))),
        (pod(1, uid=None), ("dijobs", Claim("train", "work", 1))),
        (pod("x"), ("dijobs", Claim("train", "work", None, UID, owned=True))),
        (marked_pod("7"), ("dijobs", Claim("train", "work", 7))),
        (marked_pod("-1"), ("dijobs", Claim("train", "work", None))),
        (marked_pod(kind="jobs.batch.volcano.sh"), ("jobs", Claim("train", "work", 0))),
        (marked_pod(kind="crews.example.com"), None),
        (both(), ("dijobs", Claim("train", "work", 0, UID, owned=True))),
        (without("diengine/operator"), None),
        (without("diengine/job"), None),
        (without("diengine/task-name"), None),
        ({}, None),
        ({"metadata": None}, None),
        ({"metadata": {"ownerReferences": [owner(OTHER_UID)]}}, None),
    ],
)
def test_a_pod_belongs_to_the_job_that_it_says(document: dict[str, Any], expected: Any) -> None:
    assert claimed(document) == expected

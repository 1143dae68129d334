"""Rules that only configured kinds have, on objects of the catalogue."""

from typing import Any

import pytest

from jobgate.configured.catalogue import Catalogued
from jobgate.kinds import installed
from jobgate.offline.judge import ReviewOptions, judge
from tests.corpus import CATALOGUE, jobs

KINDS = Catalogued(installed())
RAY, JOBSET, TORCH = "rayclusters.ray.io", "jobsets.jobset.x-k8s.io", "pytorchjobs.kubeflow.org"
PADDLE = "paddlejobs.kubeflow.org"
LWS = "leaderworkersets.leaderworkerset.x-k8s.io"


def outcome(name: str, **changes: Any) -> list[str]:
    """Return the causes and warnings of a correct example with changes, by paths with underscores for dots."""
    (job,) = jobs(CATALOGUE / f"{name}.yaml")
    for path, value in changes.items():
        *around, last = path.split("__")
        place: Any = job
        for step in around:
            place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
        place[last] = value
    verdict = judge(job, ReviewOptions(kinds=KINDS))
    causes = verdict.status["details"]["causes"] if verdict.status else ()
    return [*(f"{cause['field']}: {cause['message']}" for cause in causes), *verdict.warnings]


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        (
            RAY,
            {"spec__workerGroupSpecs__0__replicas": 0},
            "spec.workerGroupSpecs[0].replicas: Invalid value: 0: must be at",
        ),
        (
            RAY,
            {"spec__workerGroupSpecs__0__minReplicas": 5},
            "minReplicas: Invalid value: 5: must be at most spec.worker",
        ),
        (RAY, {"spec__workerGroupSpecs__0__replicas": -1}, "replicas: Invalid value: -1: must be at least 0"),
        (RAY, {"spec__workerGroupSpecs__0__replicas": "2"}, 'replicas: Invalid value: "2": must be an integer'),
        (RAY, {"spec__workerGroupSpecs": {}, "spec__headGroupSpec": None}, "spec.headGroupSpec: Required value"),
        (RAY, {"metadata__name": "1ray"}, "metadata.name: Invalid value"),
        (
            TORCH,
            {"spec__runPolicy__schedulingPolicy__minAvailable": 9},
            "minAvailable: Invalid value: 9: must be at most 4",
        ),
        (
            TORCH,
            {"spec__elasticPolicy": {"minReplicas": 5, "maxReplicas": 2}},
            "minReplicas: Invalid value: 5: must be at",
        ),
        (
            TORCH,
            {"spec__elasticPolicy": {"minReplicas": 4, "maxReplicas": 8}},
            "Worker].replicas: Invalid value: 3: must",
        ),
        (
            TORCH,
            {"spec__elasticPolicy": {"minReplicas": 1, "maxReplicas": 2}},
            "Worker].replicas: Invalid value: 3: must",
        ),
        (TORCH, {"spec__elasticPolicy": {"maxReplicas": "2"}}, 'maxReplicas: Invalid value: "2": must be an integer'),
        (TORCH, {"spec__pytorchReplicaSpecs__PS": {}}, 'Unsupported value: "PS": supported values: "Master", "Worker"'),
        (PADDLE, {"spec__elasticPolicy": {"minReplicas": 9}}, "Worker].replicas: Invalid value: "),
        (TORCH, {"metadata__annotations": {"jobgate.dev/plugins": "envs"}}, 'Unsupported value: "envs"'),
        (JOBSET, {"metadata__annotations": {"jobgate.dev/plugins": "env"}}, "has no effect: the description of JobSet"),
        (
            LWS,
            {"metadata__annotations": {"jobgate.dev/prerequisites": "a"}},
            "has no effect: the description of Leader",
        ),
        (JOBSET, {"spec__replicatedJobs__1__name": "leader"}, 'name: Duplicate value: "leader"'),
    ],
)
def test_a_fault_is_reported(name: str, changes: dict[str, Any], expected: str) -> None:
    assert any(expected in text for text in outcome(name, **changes)), outcome(name, **changes)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (RAY, {"spec__workerGroupSpecs__0__replicas": 1, "metadata__name": "r" * 53}),
        (TORCH, {"metadata__annotations": {"jobgate.dev/plugins": '{"env": []}'}}),
        (JOBSET, {"spec__suspend": True}),
    ],
)
def test_a_value_at_its_bound_is_not(name: str, changes: dict[str, Any]) -> None:
    (warning,) = outcome(name, **changes)
    assert "schema" in warning

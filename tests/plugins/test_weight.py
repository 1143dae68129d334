"""The weight of a job in the cache: as much as its memory, linear in it, and bounded."""

import gc
import json
import tracemalloc
from typing import Any

import pytest

from jobgate.jobs.kind import JobKind
from jobgate.kinds.dijob import DIJOB
from jobgate.kinds.torchjob import TORCHJOB
from jobgate.plugins.weight import LIMIT, too_large, weight
from tests.kinds.dijob import jobs
from tests.plugins.crews import MAIN, crew, of_job, part

NO_LIMIT = 10**9


def dijob(tasks: int, volumes: int = 0, containers: int = 1) -> dict[str, Any]:
    named = [{"name": f"main-{number}", "image": "ding"} for number in range(containers)]
    template = {"spec": {"containers": named, "volumes": [{"name": "scratch"}]}}
    return jobs.job(
        *({"name": f"task-{number}", "template": template} for number in range(tasks)),
        metadata={"name": "train", "namespace": "team", "uid": "1"},
        plugins={"svc": []},
        volumes=[{"name": f"volume-{number}", "emptyDir": {}} for number in range(volumes)],
    )


def of_long_names(tasks: int, containers: int) -> dict[str, Any]:
    """Return a DIJob whose containers all have names of their own."""
    document = dijob(tasks)
    for place, one in enumerate(document["spec"]["tasks"]):
        named = [{"name": f"main-{place}-{number}", "image": "ding"} for number in range(containers)]
        one["template"] = {"spec": {"containers": named}}
    return document


def torchjob(tasks: int, volumes: int = 0) -> dict[str, Any]:
    spec = {
        "containers": [{"name": "torch", "image": "torch"}],
        "volumes": [{"name": f"volume-{number}"} for number in range(volumes)],
    }
    return {
        "apiVersion": TORCHJOB.gvk.api_version,
        "kind": "TorchJob",
        "metadata": {"name": "train", "namespace": "team", "uid": "1"},
        "spec": {
            "plugins": {"svc": []},
            "torchTaskSpecs": {f"task-{number}": {"template": {"spec": spec}} for number in range(tasks)},
        },
    }


def held(kind: JobKind, document: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes that the crew of a job holds, and what `weight` says that it does."""
    text = json.dumps(document)
    weight(of_job(kind, json.loads(text)))  # what is made once is there
    gc.collect()
    tracemalloc.start()
    result = of_job(kind, json.loads(text))
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size, weight(result, NO_LIMIT)


@pytest.mark.parametrize(
    "kind, document",
    [
        (DIJOB, dijob(300)),
        (DIJOB, dijob(300, volumes=300)),
        (DIJOB, dijob(1, volumes=1000)),
        (DIJOB, dijob(1, containers=500)),
        (TORCHJOB, torchjob(300)),
    ],
    ids=["tasks", "tasks and volumes", "volumes", "containers", "a map of tasks"],
)
def test_the_weight_is_the_memory_that_a_job_takes(kind: JobKind, document: dict[str, Any]) -> None:
    size, weighed = held(kind, document)
    assert 0.7 * size <= weighed <= 1.3 * size + 2048


@pytest.mark.parametrize(
    "small, large",
    [
        (dijob(100, volumes=100), dijob(400, volumes=400)),
        (dijob(100, containers=5), dijob(400, containers=5)),
    ],
    ids=["tasks and the job's volumes", "tasks of one template"],
)
def test_four_times_the_job_weighs_four_times_as_much(small: dict[str, Any], large: dict[str, Any]) -> None:
    assert weight(of_job(DIJOB, large), NO_LIMIT) <= 4.5 * weight(of_job(DIJOB, small), NO_LIMIT)


def test_what_is_equal_in_the_parts_is_one_object() -> None:
    first, *others = of_job(DIJOB, json.loads(json.dumps(dijob(3)))).parts
    assert all(other.containers is first.containers and other.volumes is first.volumes for other in others)


def test_a_volume_of_the_job_is_one_of_every_part() -> None:
    of = of_job(DIJOB, dijob(2, volumes=1))
    assert of.volumes == {"volume-0"}
    for each in of.parts:
        assert [of.has_volume(each, name) for name in ("volume-0", "scratch", "other")] == [True, True, False]


@pytest.mark.parametrize(
    "of, fits",
    [
        (crew(*(part(f"task-{number}") for number in range(1000))), True),
        (crew(*(part(f"task-{number}") for number in range(3000))), False),
        (crew(part("x" * LIMIT)), False),
        (crew(part(containers=(MAIN,) * 100_000)), False),
        (crew(volumes=frozenset(f"volume-{number}" for number in range(20_000))), False),
        (crew(facts={"address": "x" * LIMIT}), False),
        (crew(plugins={"ssh": ("x" * LIMIT,)}), False),
        (crew(part(replicas=2**31 - 1)), True),
    ],
    ids=["tasks", "too many tasks", "long names", "containers", "volumes", "facts", "arguments", "replicas"],
)
def test_a_job_may_have_many_replicas_and_no_end_of_anything_else(of: Any, fits: bool) -> None:
    assert (too_large(of) is None) is fits


def test_the_job_is_rejected_with_what_is_too_many() -> None:
    response = jobs.validate(of_long_names(1000, 20))
    (cause,) = [cause for cause in response.causes if cause.path == "spec.plugins"]
    assert "the job has 1000 tasks with 20000 containers" in str(cause)
    assert "more than 512 KiB" in str(cause)


def test_without_plugins_it_is_not() -> None:
    document = of_long_names(1000, 20)
    del document["spec"]["plugins"]
    assert jobs.validate(document).allowed

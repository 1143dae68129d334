"""Which fields of a stored job may change, and when."""

from typing import Any

import pytest

from jobgate.kinds.common.updates import MayChange, When
from tests.kinds.dijob.jobs import KINDS
from webhook import Context, Job, Operation
from webhook.view import view

DIJOB = next(iter(KINDS))

RULE = MayChange(
    {
        "spec.minAvailable": When.ALWAYS,
        "spec.tasks[*].replicas": When.ALWAYS,
        "spec.tasks[*].template": When.WHILE_SUSPENDED,
        "spec.tasks[*].template.spec.priority": When.NEVER,
        "spec.roles.*.count": When.BEFORE_IT_RUNS,
        "spec.roles.master.count": When.NEVER,
    },
    runs=lambda status: status.get("phase") == "Running",
)
STORED = "may not change once the job is stored"


def changed(old: dict[str, Any], new: dict[str, Any], status: Any = None) -> list[str]:
    document = {"spec": new}
    job = Job(DIJOB, document, view(DIJOB.spec, new)[0])
    context = Context(operation=Operation.UPDATE, old={"spec": old, "status": status})
    return [str(cause) for cause in RULE(job, context)]


def container(**fields: Any) -> dict[str, Any]:
    """Return a spec of one task with one container."""
    return {"tasks": [{"template": {"spec": {"containers": [{"name": "main", **fields}]}}}]}


@pytest.mark.parametrize(
    "case, old, new",
    [
        ("a field that may change at any time", {"minAvailable": 1}, {"minAvailable": 2}),
        ("one that comes", {}, {"minAvailable": 2}),
        ("one that goes", {"minAvailable": 2}, {}),
        ("one of an item", {"tasks": [{"replicas": 1}]}, {"tasks": [{"replicas": 2}]}),
        ("nothing", {"a": {"b": [1]}}, {"a": {"b": [1]}}),
        ("what typed clients write for nothing", {"a": 1}, {"a": 1, "b": None, "c": {}, "d": [], "e": "", "f": {"g": None}}),
        ("a quantity in another spelling", container(resources={"limits": {"cpu": "1000m"}}), container(resources={"limits": {"cpu": 1}})),
        ("a template of a suspended job", {"suspend": True} | container(image="a"), {"suspend": True} | container(image="b")),
        ("what may change before the job runs", {"roles": {"worker": {"count": 1}}}, {"roles": {"worker": {"count": 2}}}),
    ],
)  # fmt: skip
def test_what_may_change_is_let_through(case: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert changed(old, new, {"phase": "Pending"}) == [], case


@pytest.mark.parametrize(
    "old, new, causes",
    [
        ({"queue": "a"}, {"queue": "b"}, [f'spec.queue: Forbidden: {STORED}: it is "a" and would be "b"']),
        ({}, {"queue": "b"}, [f'spec.queue: Forbidden: {STORED}: it is not set and would be "b"']),
        ({"queue": "a"}, {}, [f'spec.queue: Forbidden: {STORED}: it is "a" and would be removed']),
        ({"a": True}, {"a": 1}, [f"spec.a: Forbidden: {STORED}: it is true and would be 1"]),
        ({"tasks": [{}]}, {"tasks": [{}, {}]}, [f"spec.tasks: Forbidden: {STORED}: it has 1 items and would have 2"]),
        ({"policy": {"a": 1}}, {"policy": {"a": 2, "b": 3}},
         [f"spec.policy.a: Forbidden: {STORED}: it is 1 and would be 2",
          f"spec.policy.b: Forbidden: {STORED}: it is not set and would be 3"]),
        ({}, {"policy": {"a": 1}}, [f"spec.policy.a: Forbidden: {STORED}: it is not set and would be 1"]),
        (container(image="a"), container(image="b"),
         ["spec.tasks[0].template.spec.containers[0].image: Forbidden: may change only while the job is suspended: "
          'it is "a" and would be "b"']),
        ({"suspend": True, "tasks": [{"template": {"spec": {"priority": 1}}}]},
         {"suspend": True, "tasks": [{"template": {"spec": {"priority": 2}}}]},
         [f"spec.tasks[0].template.spec.priority: Forbidden: {STORED}: it is 1 and would be 2"]),
        ({"roles": {"worker": {"count": 1}}}, {"roles": {"worker": {"count": 2}}},
         ["spec.roles.worker.count: Forbidden: may change only before the job runs: it is 1 and would be 2"]),
        ({"roles": {"master": {"count": 1}}}, {"roles": {"master": {"count": 2}}},
         [f"spec.roles.master.count: Forbidden: {STORED}: it is 1 and would be 2"]),
        (container(resources={"limits": {"cpu": "1"}}), container(resources={"limits": {"cpu": "2"}}),
         ["spec.tasks[0].template.spec.containers[0].resources.limits.cpu: Forbidden: may change only while the job is "
          'suspended: it is "1" and would be "2"']),
    ],
)  # fmt: skip
def test_what_may_not_is_refused_with_the_old_and_the_new(old: Any, new: Any, causes: list[str]) -> None:
    assert changed(old, new, {"phase": "Running"}) == causes


def test_a_value_that_may_be_secret_is_not_shown() -> None:
    old, new = container(env=[{"name": "TOKEN", "value": "abc"}]), container(env=[{"name": "TOKEN", "value": "xyz"}])
    (cause,) = changed(old, new)
    assert "abc" not in cause
    assert "xyz" not in cause
    assert cause.endswith("while the job is suspended: the value would be another")


def test_a_new_job_changes_nothing() -> None:
    job = Job(DIJOB, {"spec": {"queue": "a"}}, view(DIJOB.spec, {})[0])
    assert list(RULE(job, Context())) == []


@pytest.mark.parametrize("spec", [None, 5, [], "x", {"tasks": 5}, {"tasks": [None]}])
def test_any_json_is_survived(spec: Any) -> None:
    assert changed(spec, spec) == []
    changed({"tasks": [{"replicas": 1}]}, spec)
    changed(spec, {"tasks": [{"replicas": 1}]})

"""Which fields of a stored job may change, and when."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobgate.rules.updates import MayChange, Mutable
from tests.kinds.dijob.jobs import KINDS
from webhook import Context, Job, Operation
from webhook.view import view

DIJOB = next(iter(KINDS))

RULE = MayChange(
    {
        "spec.minAvailable": Mutable.ALWAYS,
        "spec.tasks[*].replicas": Mutable.ALWAYS,
        "spec.tasks[*].template": Mutable.WHILE_SUSPENDED,
        "spec.tasks[*].template.spec.priority": Mutable.NEVER,
        "spec.roles.*.count": Mutable.BEFORE_IT_RUNS,
        "spec.roles.master.count": Mutable.NEVER,
    },
    runs=lambda status: status.get("phase") == "Running",
)
STORED = "may not change after the job is created"

#: A rule of a list whose items are known by their names.
NAMED = MayChange(
    {
        "spec.tasks": Mutable.ALWAYS,
        "spec.tasks[*].name": Mutable.BEFORE_IT_RUNS,
        "spec.tasks[*].type": Mutable.BEFORE_IT_RUNS,
    },
    runs=lambda status: status.get("phase") == "Running",
    keys={"spec.tasks": "name"},
)


def changed(old: Any, new: Any, status: Any = None, rule: MayChange = RULE) -> list[str]:
    document = {"spec": new}
    job = Job(DIJOB, document, view(DIJOB.spec, new)[0])
    context = Context(operation=Operation.UPDATE, old={"spec": old, "status": status})
    return [str(cause) for cause in rule(job, context)]


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
        ("nothing below a key that is no text", {"a": {True: 1}}, {"a": {True: 1}}),
        ("what typed clients write for nothing", {"a": 1}, {"a": 1, "b": None, "c": {}, "d": [], "e": "", "f": {"g": None}}),
        ("a quantity in another spelling", container(resources={"limits": {"cpu": "1000m"}}), container(resources={"limits": {"cpu": 1}})),
        ("an entry of a map written otherwise", {"plugins": {"svc": None}}, {"plugins": {"svc": []}}),
        ("a template of a suspended job", {"suspend": True} | container(image="a"), {"suspend": True} | container(image="b")),
        ("what may change before the job starts", {"roles": {"worker": {"count": 1}}}, {"roles": {"worker": {"count": 2}}}),
    ],
)  # fmt: skip
def test_what_may_change_is_let_through(case: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert changed(old, new, {"phase": "Pending"}) == [], case


@pytest.mark.parametrize(
    "old, new, causes",
    [
        ({"queue": "a"}, {"queue": "b"}, [f'spec.queue: Forbidden: {STORED}: from "a" to "b"']),
        ({}, {"queue": "b"}, [f'spec.queue: Forbidden: {STORED}: would be set to "b"']),
        ({"queue": "a"}, {}, [f'spec.queue: Forbidden: {STORED}: "a" would be removed']),
        ({"a": True}, {"a": 1}, [f"spec.a: Forbidden: {STORED}: from true to 1"]),
        ({"tasks": [{}]}, {"tasks": [{}, {}]}, [f"spec.tasks: Forbidden: {STORED}: from 1 items to 2"]),
        ({"policy": {"a": 1}}, {"policy": {"a": 2, "b": 3}},
         [f"spec.policy.a: Forbidden: {STORED}: from 1 to 2",
          f"spec.policy.b: Forbidden: {STORED}: would be set to 3"]),
        ({}, {"policy": {"a": 1}}, [f"spec.policy.a: Forbidden: {STORED}: would be set to 1"]),
        ({}, {"plugins": {"svc": []}}, [f"spec.plugins[svc]: Forbidden: {STORED}: it would be added"]),
        ({"plugins": {"svc": []}}, {"plugins": {}}, [f"spec.plugins[svc]: Forbidden: {STORED}: it would be removed"]),
        ({"plugins": {"svc": None, "": []}}, {"plugins": {"svc": None}},
         [f"spec.plugins[]: Forbidden: {STORED}: it would be removed"]),
        (container(image="a"), container(image="b"),
         ["spec.tasks[0].template.spec.containers[0].image: Forbidden: may change only while the job is suspended: "
          'from "a" to "b"']),
        ({"suspend": True, "tasks": [{"template": {"spec": {"priority": 1}}}]},
         {"suspend": True, "tasks": [{"template": {"spec": {"priority": 2}}}]},
         [f"spec.tasks[0].template.spec.priority: Forbidden: {STORED}: from 1 to 2"]),
        ({"roles": {"worker": {"count": 1}}}, {"roles": {"worker": {"count": 2}}},
         ["spec.roles.worker.count: Forbidden: may change only before the job starts: from 1 to 2"]),
        ({"roles": {"master": {"count": 1}}}, {"roles": {"master": {"count": 2}}},
         [f"spec.roles.master.count: Forbidden: {STORED}: from 1 to 2"]),
        (container(resources={"limits": {"cpu": "1"}}), container(resources={"limits": {"cpu": "2"}}),
         ["spec.tasks[0].template.spec.containers[0].resources.limits[cpu]: Forbidden: may change only while the job is "
          'suspended: from "1" to "2"']),
    ],
)  # fmt: skip
def test_what_may_not_is_rejected_with_the_old_and_the_new(old: Any, new: Any, causes: list[str]) -> None:
    assert changed(old, new, {"phase": "Running"}) == causes


def test_a_value_that_may_be_secret_is_not_shown() -> None:
    old, new = container(env=[{"name": "TOKEN", "value": "abc"}]), container(env=[{"name": "TOKEN", "value": "xyz"}])
    (cause,) = changed(old, new)
    assert "abc" not in cause
    assert "xyz" not in cause
    assert cause.endswith("while the job is suspended: the value would change")


def test_a_new_job_changes_nothing() -> None:
    job = Job(DIJOB, {"spec": {"queue": "a"}}, view(DIJOB.spec, {})[0])
    assert list(RULE(job, Context())) == []


@pytest.mark.parametrize("spec", [None, 5, [], "x", {"tasks": 5}, {"tasks": [None]}])
def test_any_json_is_survived(spec: Any) -> None:
    assert changed(spec, spec) == []
    changed({"tasks": [{"replicas": 1}]}, spec)
    changed(spec, {"tasks": [{"replicas": 1}]})


def named(*names: str) -> dict[str, Any]:
    """Return a spec of tasks of these names."""
    return {"tasks": [{"name": name, "replicas": 1} for name in names]}


BEFORE = "Forbidden: may change only before the job starts"


@pytest.mark.parametrize(
    "case, old, new, causes",
    [
        ("an item comes", named("a", "b"), named("a", "b", "c"), []),
        ("an item comes before the others", named("a", "b"), named("c", "a", "b"), []),
        ("an item goes", named("a", "b"), named("a"), [f'spec.tasks: {BEFORE}: item "b" would be removed']),
        ("an item has another name", named("a", "b"), named("a", "c"),
         [f'spec.tasks[1].name: {BEFORE}: from "b" to "c"']),
        ("another name, and one more", named("a", "b"), named("a", "c", "d"),
         [f'spec.tasks[1].name: {BEFORE}: from "b" to "c"']),
        ("another name, and one more before it", named("a", "b"), named("d", "a", "c"),
         [f'spec.tasks: {BEFORE}: item "b" would be removed']),
        ("another name, and one less", named("a", "b", "c"), named("a", "d"),
         [f'spec.tasks: {BEFORE}: item "c" would be removed',
          f'spec.tasks[1].name: {BEFORE}: from "b" to "d"']),
        ("another order", named("a", "b"), named("b", "a"),
         [f"spec.tasks: {BEFORE}: the order of the items would change"]),
        ("another field of an item that moves", named("a", "b"),
         {"tasks": [{"name": "c"}, {"name": "a", "replicas": 1, "type": "learner"}, {"name": "b", "replicas": 1}]},
         [f'spec.tasks[1].type: {BEFORE}: would be set to "learner"']),
        ("one of two of a name", named("a", "a"), named("a"), [f'spec.tasks: {BEFORE}: item "a" would be removed']),
        ("no names at all", {"tasks": [{}, 5]}, {"tasks": [5, {}]}, []),
    ],
)  # fmt: skip
def test_items_are_known_by_their_key(case: str, old: Any, new: Any, causes: list[str]) -> None:
    assert changed(old, new, {"phase": "Running"}, NAMED) == causes, case
    assert changed(old, new, {}, NAMED) == [], case


class Counted(dict[str, Any]):
    """An object that counts how many of its entries are looked at."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        Counted.looks += len(self)
        return super().__iter__()

    def items(self) -> Any:
        Counted.looks += len(self)
        return super().items()

    def values(self) -> Any:
        Counted.looks += len(self)
        return super().values()

    def get(self, *arguments: Any) -> Any:
        Counted.looks += 1
        return super().get(*arguments)


def test_what_may_change_is_not_looked_into() -> None:
    looks = []
    template = "spec.tasks[*].template"
    for lines in ({f"{template}.metadata": Mutable.ALWAYS}, {f"{template}.metadata": Mutable.NEVER}):
        before, after = Counted(queue="a"), Counted(queue="b")
        Counted.looks = 0
        rule = MayChange({template: Mutable.ALWAYS, **lines})
        assert changed({"tasks": [{"template": before}]}, {"tasks": [{"template": after}]}, rule=rule) == []
        looks.append(Counted.looks)
    assert looks[0] < looks[1]


def test_what_is_nested_deeply_is_looked_at_a_few_times_only() -> None:
    spec, size = Counted(), 0
    for _ in range(100):
        spec = Counted(deeper=spec, beside=Counted({str(number): Counted() for number in range(50)}))
        size += 52
    Counted.looks = 0
    assert changed({}, {"priority": spec}) == []
    assert Counted.looks < 10 * size
    Counted.looks = 0
    assert len(changed({}, {"priority": spec | {"x": 1}})) == 1
    assert Counted.looks < 10 * size

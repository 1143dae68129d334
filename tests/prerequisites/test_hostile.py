"""Items and jobs that are made to be slow or large: the work stays in proportion, the answer within its limit."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import orjson
import pytest

from jobgate.jobs.prerequisites import JOB_INSTANCES
from jobgate.prerequisites import content, reference
from jobgate.prerequisites import item as items
from jobgate.prerequisites.content import content_of
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import CLUSTER, listed
from jobgate.prerequisites.resolve import resolve
from jobgate.prerequisites.stored import ItemStore
from tests.prerequisites.items import Granted, Known, item, named, starts, wants
from tests.prerequisites.test_jobs import answer, dijob
from webhook import Phase

VARIABLES = [{"name": "a"}]
LONG = "{{a}}" * 800


@pytest.mark.parametrize(
    ("case", "spec"),
    [
        ("commands", {"cmd": starts(*[LONG] * 32)}),
        ("variables", {"env": [{"name": "E", "value": LONG * 8}]}),
        ("references", {"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": LONG * 8, "key": "k"}}}]}),
        ("arguments", {"plugin": {"name": "env", "arguments": {"x": [LONG, {"y": LONG}]}}}),
    ],
)
def test_texts_that_values_make_too_long_are_never_made(
    case: str, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> str:
        raise AssertionError(case)

    monkeypatch.setattr(content, "substituted", never)
    known = Known([item("x", templateVariables=VARIABLES, **spec)])
    _, problems = content_of(resolve([named("x", a="v" * 1024)], known.find()))
    assert [problem.reason for problem in problems] == [ProblemReason.TOO_LARGE]


def test_an_item_is_read_once_however_often_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = items._read

    def counted(document: Any, kind: str) -> Any:
        read.append(kind)
        return real(document, kind)

    monkeypatch.setattr(items, "_read", counted)
    known = Known([item("x", templateVariables=VARIABLES, cmd=starts("echo {{a}}"))])
    known.documents = {place: ItemStore().keep(one) for place, one in known.documents.items()}
    assert len(resolve([named("x", a=str(n)) for n in range(32)], known.find()).instances) == 32
    assert read == [CLUSTER]


def test_an_item_that_was_replaced_is_read_again() -> None:
    known = Known([item("x", cmd=starts("old"))])
    assert resolve([named("x")], known.find()).instances[0].item.generation == 1
    known.put(item("x", generation=2, cmd=starts("new")))
    assert resolve([named("x")], known.find()).instances[0].item.generation == 2


TANGLES = [
    ("a lattice", lambda: [item(f"l{i}-{j}", require=[wants(f"l{i + 1}-{k}") for k in range(32)])
                   for i in range(16) for j in range(32)]),
    ("circles", lambda: [item(f"l{i}-{j}", require=[wants(f"l{(i + 1) % 16}-{k}") for k in range(32)])
                 for i in range(16) for j in range(32)]),
    ("other values at each step", lambda: [
        item(f"l{i}-{j}", templateVariables=[{"name": "a", "default": 0}],
             require=[wants(f"l{i + 1}-{k}", a=str(j)) for k in range(32)]) for i in range(15) for j in range(32)]),
]  # fmt: skip


@pytest.mark.parametrize(("case", "documents"), TANGLES)
def test_no_tangle_of_requirements_takes_more_than_a_bounded_number_of_looks(
    case: str, documents: Callable[[], list[dict[str, Any]]]
) -> None:
    known, looks = Known(documents()), 0
    find = known.find()

    def counted(kind: str, name: str) -> Any:
        nonlocal looks
        looks += 1
        return find(kind, name)

    found = resolve([named(f"l0-{j}") for j in range(32)], counted)
    assert found.problems, case
    assert looks < 1000, case
    assert sum(len(problem.message()) for problem in found.problems) < 64 * 1024


def test_what_tasks_name_is_read_once_for_defaults_and_once_for_all_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counted(value: Any) -> Any:
        nonlocal read
        read += 1
        return listed(value)

    monkeypatch.setattr(reference, "listed", counted)
    known = Known([item("x", plugin={"name": "env"})])
    assert answer(dijob(wants("x", CLUSTER)), known, Phase.VALIDATE, Granted({"alice": [f"{CLUSTER}/x"]})).allowed
    assert read == 2


@pytest.mark.parametrize(
    ("case", "of_task"),
    [
        ("other values", lambda n: [wants("x", CLUSTER, a=f"{n}-{k}") for k in range(32)]),
        ("nothing that is there", lambda n: [wants(f"no-{n}-{k}", CLUSTER) for k in range(8)]),
    ],
)
def test_a_thousand_tasks_have_a_bounded_number_of_items_and_an_answer(case: str, of_task: Any) -> None:
    job = dijob()
    (task,) = job["spec"]["tasks"]
    job["spec"]["tasks"] = [{**deepcopy(task), "name": f"t{n}", "prerequisites": of_task(n)} for n in range(1000)]
    known = Known([item("x", templateVariables=VARIABLES, cmd=starts("echo {{a}}"))])
    looks, get = 0, known.get

    def counted(*key: Any) -> Any:
        nonlocal looks
        looks += 1
        return get(*key)

    known.get = counted  # type: ignore[method-assign, assignment]
    for phase in Phase:
        looks = 0
        found = answer(job, known, phase, Granted({"alice": [f"{CLUSTER}/x"]}))
        # Before it is validated, a job is mutated again.
        assert looks <= 2 * (JOB_INSTANCES + 64), case
        assert len(orjson.dumps(found.status())) < 64 * 1024
    assert not found.allowed

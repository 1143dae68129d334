"""Dependencies: graphs in which every task can start pass, each other fault has a message of its own."""

from time import perf_counter

import pytest

from jobgate.jobs.dependencies import DependsOn, Iteration
from jobgate.rules.dependencies import dependency_rules, gangs_can_start
from tests.messages import compare
from tests.rules.builder import Json, faults, job, notices, task
from webhook import Path


def test_the_words_of_a_dependency() -> None:
    waits = DependsOn(name=["a", "b"], iteration=Iteration.ANY)
    assert waits.any_suffices
    assert [(str(path), name) for path, name, _ in waits.names(Path("x"))] == [("x.name[0]", "a"), ("x.name[1]", "b")]
    assert not DependsOn().any_suffices
    assert list(DependsOn().names(Path())) == []


@pytest.mark.parametrize(
    "case, document",
    [
        ("nobody waits", job(task("a"), task("b"))),
        ("a chain, in any order", job(task("c", 1, "b"), task("b", 1, "a"), task("a"))),
        ("a diamond", job(task("a"), task("b", 1, "a"), task("c", 1, "a"), task("d", 1, "b", "c"))),
        ("one of several", job(task("a"), task("b"), task("c", dependsOn={"name": ["a", "b"], "iteration": "any"}))),
        ("a dependency on nothing", job(task("a", dependsOn={}), task("b", dependsOn={"name": []}))),
    ],
)
def test_tasks_that_can_all_start_are_allowed(case: str, document: Json) -> None:
    assert faults(document, dependency_rules) == [], case


@pytest.mark.parametrize(
    "case, document, expected",
    [
        ("an unknown task", job(task("learner"), task("actor", 1, "lerner")),
         ["spec.tasks[1].dependsOn.name[0]: Not found"]),
        ("one like none", job(task("a"), task("b", 1, "xyz", "")),
         ["spec.tasks[1].dependsOn.name[0]: Not found", "spec.tasks[1].dependsOn.name[1]: Not found"]),
        ("a name that no task can have", job(task("A\nb"), task("b", 1, "c")),
         ["spec.tasks[1].dependsOn.name[0]: Not found"]),
        ("no task has a name", job(task(None, 1, "a")), ["spec.tasks[0].dependsOn.name[0]: Not found"]),
        ("many tasks", job(*(task(f"t{index}") for index in range(9)), task("b", 1, "xyz")),
         ["spec.tasks[9].dependsOn.name[0]: Not found"]),
        ("a task twice", job(task("a"), task("b", 1, "a", "a")),
         ["spec.tasks[1].dependsOn.name[1]: Duplicate value"]),
        ("itself", job(task("a", 1, "a")), ["spec.tasks[0].dependsOn.name[0]: Invalid value"]),
        ("itself, as one of several", job(task("a"), task("b", dependsOn={"name": ["a", "b"], "iteration": "any"})),
         ["spec.tasks[1].dependsOn.name[1]: Invalid value"]),
        ("each other", job(task("a", 1, "b"), task("b", 1, "a")), ["spec.tasks[1].dependsOn.name[0]: Invalid value"]),
        ("a circle that others wait for", job(task("x", 1, "a"), task("a", 1, "b"), task("b", 1, "c"), task("c", 1, "y", "a"), task("y")),
         ["spec.tasks[3].dependsOn.name[1]: Invalid value"]),
        ("a circle that one of several would open", job(task("z"), task("a", 1, "b"), task("b", dependsOn={"name": ["a", "z"], "iteration": "any"})),
         ["spec.tasks[2].dependsOn.name[0]: Invalid value"]),
        ("two circles", job(task("a", 1, "b"), task("b", 1, "a"), task("c", 1, "d"), task("d", 1, "c")),
         ["spec.tasks[1].dependsOn.name[0]: Invalid value", "spec.tasks[3].dependsOn.name[0]: Invalid value"]),
        ("a circle of nine", job(*(task(f"t{index}", 1, f"t{(index + 1) % 9}") for index in range(9))),
         ["spec.tasks[8].dependsOn.name[0]: Invalid value"]),
        ("a circle of ten", job(*(task(f"t{index}", 1, f"t{(index + 1) % 10}") for index in range(10))),
         ["spec.tasks[9].dependsOn.name[0]: Invalid value"]),
        ("all at once", job(task("a", 1, "a", "b", "b", "z"), task("b", 1, "a")),
         ["spec.tasks[0].dependsOn.name[3]: Not found", "spec.tasks[0].dependsOn.name[2]: Duplicate value", "spec.tasks[0].dependsOn.name[0]: Invalid value", "spec.tasks[1].dependsOn.name[0]: Invalid value"]),
        ("a broken part hides no other", job(task("a", dependsOn={"name": "b"}), task("b", dependsOn={"name": ["b"], "iteration": "some"})),
         ["spec.tasks[0].dependsOn.name: Invalid value", "spec.tasks[1].dependsOn.iteration: Unsupported value", "spec.tasks[1].dependsOn.name[0]: Invalid value"]),
    ],
)  # fmt: skip
def test_what_never_starts_is_rejected(case: str, document: Json, expected: list[str]) -> None:
    compare("rules", faults(document, dependency_rules), expected)


def test_a_task_of_no_readable_name_may_be_the_one_that_is_meant() -> None:
    assert faults(job(task("a", 1, "b"), task(name=3)), dependency_rules) == [  # type: ignore[arg-type]
        "spec.tasks[1].name: Invalid value: 3: must be a string"
    ]


@pytest.mark.parametrize(
    "case, document",
    [
        ("one circle", job(*(task(f"t{index}", 1, f"t{(index + 1) % 10_000}") for index in range(10_000)))),
        ("as many circles as tasks", job(task("t0"), *(task(f"t{index}", 1, f"t{index - 1}", f"t{(index + 1) % 3_000}") for index in range(1, 3_000)))),
        ("names that are much alike", job(*(task("ab" * 30 + f"{index:03}", 1, "ba" * 30 + f"{index:03}") for index in range(900)))),
    ],
)  # fmt: skip
def test_great_graphs_cost_no_more_than_their_size(case: str, document: Json) -> None:
    started = perf_counter()
    assert faults(document, dependency_rules)
    assert perf_counter() - started < 20, case


@pytest.mark.parametrize(
    "case, document",
    [
        ("nobody waits", job(task("a", 2), task("b", 4))),
        ("no gang", job(task("a", 2), task("b", 4, "a"), minAvailable=1)),
        ("those that do not wait are enough", job(task("a", 2), task("b", 4, "a"), minAvailable=2)),
        ("no task that waits has a minimum", job(task("a", 2, minAvailable=2), task("b", 4, "a", minAvailable=0))),
        ("minima that are not enforced", job(task("a", 2, minAvailable=2), task("b", 4, "a", minAvailable=4), minAvailable=2)),
        ("a circle is reported by another rule", job(task("a", 2, "b"), task("b", 4, "a"))),
    ],
)  # fmt: skip
def test_gangs_that_can_start_are_allowed(case: str, document: Json) -> None:
    assert faults(document, (gangs_can_start(deny=True),)) == [], case


ONLY = "the gang starts with {} pods, but only {} do not wait for other tasks"
EACH = "the gang starts with the minimum of every task, but task {} waits for other tasks"
STUCK = [
    (job(task("a", 2), task("b", 4, "a"), minAvailable=6), "spec.minAvailable", "6",
     f"{ONLY.format(6, 2)}; set it to at most 2"),
    (job(task("a", 2), task("b", 4, "a")), "spec.tasks[1].dependsOn", '["a"]',
     f"{ONLY.format(6, 2)}; set the job's minimum to at most 2"),
    (job(task("a", 2, minAvailable=1), task("b", 4, "a", minAvailable=1), minAvailable=3), "spec.minAvailable", "3",
     f"{ONLY.format(3, 2)}; set it to at most 1"),
    (job(task("a", 2, minAvailable=1), task("b", 4, "a", minAvailable=1), minAvailable=2), "spec.minAvailable", "2",
     f"{EACH.format('b')}; set it to at most 1"),
    (job(task("a", 2, minAvailable=1), task("b", 4, "a", minAvailable=1)), "spec.tasks[1].dependsOn", '["a"]',
     f"{EACH.format('b')}; set the job's minimum to at most 1"),
    (job(task("a", 0), task("b", 4, "a")), "spec.tasks[1].dependsOn", '["a"]', f"{ONLY.format(4, 0)}; remove "
                                                                               "dependsOn"),
]  # fmt: skip


@pytest.mark.parametrize("document, path, value, why", STUCK)
def test_gangs_that_wait_for_themselves_are_rejected(document: Json, path: str, value: str, why: str) -> None:
    assert faults(document, (gangs_can_start(deny=True),)) == [f"{path}: Invalid value: {value}: {why}"]


@pytest.mark.parametrize("document, path, value, why", STUCK)
def test_or_told_of_if_the_kind_wants_it_so(document: Json, path: str, value: str, why: str) -> None:
    rules = (gangs_can_start(deny=False),)
    assert (faults(document, rules), notices(document, rules)) == ([], [f"{path}: {why}"])

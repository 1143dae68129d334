"""The plugin env: which pod of the job this one is."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobgate.plugins import Crew, CrewContainer, Member, Variable
from jobgate.plugins.arguments import NoArguments
from jobgate.plugins.env import Env
from jobgate.plugins.limits import MOST_PODS
from tests.plugins.crews import crew, drafted, part, pod, reported, variables, wired
from webhook import Path

ASKED = {"plugins": {"env": NoArguments()}}
PATH = Path("spec.plugins[env]")


def one(*parts: Any, **fields: Any) -> Crew:
    return crew(*parts, **ASKED | fields)


def faults(of: Crew) -> list[str]:
    return reported(Env().check(of, NoArguments(), PATH))


TWO = (part("learner", 2), part("worker", 3))


@pytest.mark.parametrize(
    "task, index, expected",
    [
        ("learner", 0, {"VK_TASK_INDEX": "0", "VC_TASK_INDEX": "0", "VC_TASK_NAME": "learner", "VC_TASK_SIZE": "2", "VC_GLOBAL_RANK": "0"}),
        ("learner", 1, {"VK_TASK_INDEX": "1", "VC_TASK_INDEX": "1", "VC_TASK_NAME": "learner", "VC_TASK_SIZE": "2", "VC_GLOBAL_RANK": "1"}),
        ("worker", 0, {"VK_TASK_INDEX": "0", "VC_TASK_INDEX": "0", "VC_TASK_NAME": "worker", "VC_TASK_SIZE": "3", "VC_GLOBAL_RANK": "2"}),
        ("worker", 2, {"VK_TASK_INDEX": "2", "VC_TASK_INDEX": "2", "VC_TASK_NAME": "worker", "VC_TASK_SIZE": "3", "VC_GLOBAL_RANK": "4"}),
    ],
)  # fmt: skip
def test_a_pod_gets_its_place_in_its_task_and_in_the_job(task: str, index: int, expected: dict[str, str]) -> None:
    result = variables(wired(pod(), one(*TWO), task, index))
    assert result == expected | {"VC_JOB_NAME": "train", "VC_GLOBAL_SIZE": "5"}


def test_init_containers_get_it_too_and_containers_of_others_do_not() -> None:
    parts = part(containers=(CrewContainer("main"), CrewContainer("fetch", init=True)))
    written = pod("main", "sidecar", initContainers=[{"name": "fetch"}, {"name": "main"}, {"name": "injected"}])
    after = wired(written, one(parts))["spec"]
    assert [("env" in each) for each in after["containers"]] == [True, False]
    assert [("env" in each) for each in after["initContainers"]] == [True, False, False]


def test_the_users_own_comes_after_and_wins() -> None:
    own = [{"name": "VC_TASK_INDEX", "value": "7"}, {"name": "NAME", "value": "worker-$(VK_TASK_INDEX)"}]
    (container,) = wired(pod({"name": "main", "env": own}), one(*TWO), index=1)["spec"]["containers"]
    names = [each["name"] for each in container["env"]]
    assert container["env"][-2:] == own
    assert names.index("VK_TASK_INDEX") < names.index("NAME")
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("length, reported", [(131_000, True), (131_072, False), (2**30, False)])
def test_what_no_pod_can_hold_is_left_out_of_a_job_that_nobody_has_checked(length: int, reported: bool) -> None:
    """Such a job was stored while the webhook only warned, or was away: its pods must not take the server down."""
    of = one(*TWO, contract=lambda _: [Variable("NODES", "n" * length)])
    result = variables(wired(pod(), of))
    assert ("NODES" in result) == reported
    assert result["VC_TASK_INDEX"] == "0"


def test_wired_again_a_pod_stays_as_it_is() -> None:
    once = wired(pod(), one(*TWO), index=1)
    assert drafted(once, one(*TWO), index=1).patch == []


def promised(_: Member) -> Iterator[Variable]:
    yield Variable("RANK", "1", wrong=lambda text: text == "99")


@pytest.mark.parametrize(
    "present, users, expected",
    [
        (None, False, "1"),
        ("99", False, "1"),
        ("0", False, "0"),
        ("99", True, "99"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_replaced_if_it_is_not_the_users(present: str | None, users: bool, expected: str) -> None:
    parts = part(containers=(CrewContainer("main", variables=frozenset({"RANK"} if users else ())),))
    env = [] if present is None else [{"name": "RANK", "value": present}]
    after = wired(pod({"name": "main", "env": env}), one(parts, contract=promised))
    assert variables(after)["RANK"] == expected


def lists(length: int, count: int = 1) -> Any:
    return lambda _: tuple(Variable(f"LIST_{place}", "x" * length) for place in range(count))


@pytest.mark.parametrize(
    "of, expected",
    [
        (one(*TWO), []),
        (one(part(replicas=MOST_PODS)), []),
        (one(part(replicas=MOST_PODS + 1)), ["spec.plugins[env]: Forbidden: the job has 150001 pods, and the plugin supports at most 150000"]),
        (one(part(replicas=2**31 - 1), contract=lists(9)), ["spec.plugins[env]: Forbidden: the job has 2147483647 pods, and the plugin supports at most 150000"]),
        (one(contract=lists(131_064)), []),
        (one(contract=lists(131_065)), ["spec.plugins[env]: Forbidden: LIST_0 would have 131073 bytes in task worker; a container cannot start with a variable larger than 131072: use fewer pods"]),
        (one(contract=lists(100_000, 5)), []),
        (one(contract=lists(100_000, 6)),
         ["spec.plugins[env]: Forbidden: the variables would have 600192 bytes in each of the 1 containers of task worker, and the limit of a pod is 524288: use fewer pods or fewer tasks"]),
        (one(part(), part("board", containers=(CrewContainer("a"), CrewContainer("b"))), contract=lists(100_000, 3)),
         ["spec.plugins[env]: Forbidden: the variables would have 300096 bytes in each of the 2 containers of task board, and the limit of a pod is 524288: use fewer pods or fewer tasks"]),
    ],
)  # fmt: skip
def test_what_containers_cannot_be_started_with_is_rejected(of: Crew, expected: list[str]) -> None:
    assert faults(of) == expected


def test_of_tasks_of_one_type_the_one_with_the_most_containers_counts() -> None:
    two = (CrewContainer("a"), CrewContainer("b"))
    parts = (
        part("first", type="learner"),
        part("second", type="learner", containers=two),
        part("third", type="learner"),
    )
    (fault,) = faults(one(*parts, contract=lists(100_000, 3)))
    assert "in each of the 2 containers of task second," in fault


def test_in_a_job_beyond_all_bounds_a_pod_gets_its_place_and_no_lists() -> None:
    def endless(_: Member) -> Iterator[Variable]:
        raise AssertionError("no list of so many pods is made")

    result = variables(wired(pod(), one(part(replicas=2**31 - 1), contract=endless), index=2**31 - 2))
    assert result["VC_GLOBAL_RANK"] == "2147483646"


def test_an_operator_that_sees_to_it_itself_is_left_to_it() -> None:
    assert drafted(pod(), one(provided=frozenset({"env"}))).patch == []

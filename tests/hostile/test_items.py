"""Prerequisites that are slow to review or large, and pods of any shape: the work is bounded."""

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import orjson
import pytest

from jobgate.cluster import ApiError, informer
from jobgate.controller.statuses import Statuses
from jobgate.kinds import installed
from jobgate.pods import shape
from jobgate.pods.items import ItemReviewer
from jobgate.prerequisites import item as item_module
from jobgate.prerequisites import resolve as resolution
from jobgate.prerequisites.item import FAULTS, faults, item_of
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import NAMESPACED, RESOURCES
from jobgate.prerequisites.resolve import resolve, resolve_item
from jobgate.prerequisites.stored import ALL_LIMIT, ITEM_LIMIT, ItemStore, StoredItem
from jobgate.prerequisites.values import fault_of_pattern, fault_of_value
from jobgate.serving.cluster import ClusterView
from tests.cluster.test_informer import Played, event, informing, until
from tests.controller.cluster import MemoryCluster
from tests.prerequisites.items import Known, item, named
from webhook import Operation, Request, Response


def reviewed(spec: dict[str, Any]) -> Response:
    """Return the review of a Prerequisite."""
    document = {"apiVersion": "jobgate.dev/v1alpha1", "kind": NAMESPACED, "metadata": {"name": "x"}, "spec": spec}
    request = Request(
        uid="1",
        api_version="jobgate.dev/v1alpha1",
        kind=NAMESPACED,
        operation=Operation.CREATE,
        name="x",
        namespace="default",
        document=document,
    )
    answer = asyncio.run(ItemReviewer().review(request))
    assert answer is not None
    return answer


def commands(text: str) -> dict[str, Any]:
    return {"cmd": {"callbacks": [{"event": "taskStarts", "commands": [text] * 32}] * 8}}


WRONG = {
    "placeholders of nothing": commands("".join(f"{{{{x{number % 1000}}}}}" for number in range(500))),
    "carriage returns": commands("\r" * 4096),
    "values that are no literals": {
        "require": [{"name": "a", "templateVariables": {f"k{number}": "{{v}}" for number in range(10_000)}}]
    },
}


@pytest.mark.parametrize("spec", WRONG.values(), ids=WRONG.keys())
def test_the_search_for_faults_of_an_item_stops_at_a_limit(
    spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    def counted(*of: Any) -> Iterator[Any]:
        nonlocal looked
        for fault in faults(*of):
            looked += 1
            yield fault

    monkeypatch.setattr(item_module, "faults", counted)
    answer = reviewed(spec)
    assert not answer.allowed
    assert looked == FAULTS
    assert len(answer.causes) <= FAULTS + 1
    assert len(orjson.dumps(answer.to_review())) < 64 * 1024


def test_a_placeholder_is_reported_once_in_a_text() -> None:
    answer = reviewed({"env": [{"name": "A", "value": "{{x}}" * 1000}]})
    assert len(answer.causes) == 1


#: RE2 needs seconds to compile each of them, with its default memory limit.
COSTLY = [".{0,1000}" * 55, "(" + "|".join(["a{0,1000}"] * 40) + ")", "[^a]{0,1000}" * 40, "(?:\\w{0,1000}){0,1}" * 20]


@pytest.mark.parametrize("pattern", COSTLY, ids=lambda pattern: pattern[:12])
def test_a_pattern_that_would_compile_slowly_is_rejected(pattern: str) -> None:
    assert "too large" in (fault_of_pattern(pattern[:512]) or "")
    answer = reviewed({"templateVariables": [{"name": "a", "pattern": pattern[:512]}]})
    assert not answer.allowed


@pytest.mark.parametrize(
    "pattern, value",
    [
        ("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", "a-1.b"),
        ("s3://[a-z0-9.-]{3,63}/[A-Za-z0-9._/-]+", "s3://bucket/a/b"),
        ("(?i)[a-z]{1,255}", "Ab"),
        ("[1-9][0-9]{0,3}", "100"),
    ],
)
def test_usual_patterns_are_not_too_large(pattern: str, value: str) -> None:
    assert fault_of_value(value, pattern) is None
    assert fault_of_value(value + "!", pattern)


def test_all_patterns_of_an_item_are_bounded_together() -> None:
    variables = [{"name": f"v{number}", "pattern": "a" * 512} for number in range(9)]
    assert reviewed({"templateVariables": variables[:8]}).allowed
    (cause,) = reviewed({"templateVariables": variables}).causes
    assert ProblemReason.TOO_LARGE in cause.message


def test_the_resolution_ends_if_values_match_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def counted(value: str, pattern: str | None) -> str | None:
        tried.append(value)
        return fault_of_value(value, pattern)

    monkeypatch.setattr(resolution, "fault_of_value", counted)
    slow = [{"name": f"v{number}", "pattern": "(?:a?){300}(?:(?:a*)?){20}"} for number in range(32)]
    names = [f"x{number}" for number in range(32)]
    known = Known([item(name, templateVariables=slow) for name in names])
    values = {f"v{number}": "a" * 1024 for number in range(32)}
    outcome = resolve([named(name, **values) for name in names], known.find())
    assert {problem.reason for problem in outcome.problems} >= {ProblemReason.TOO_LARGE}
    assert len(tried) < 64
    # The cost is counted, so that many tasks together are bounded, too.
    assert outcome.cost > 512


def test_one_fault_is_reported_for_a_pod_with_wrong_types() -> None:
    container = {"name": "c", "env": ["x"] * 100_000, "command": ["x"] * 100_000 + [1]}
    fault = shape.fault({"spec": {"volumes": [1] * 100_000, "containers": [container]}})
    assert fault is not None
    assert str(fault).endswith("at `$.spec.volumes[0]`'")


def stored(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "annotations": {"a": "b"}, "managedFields": [{}]}
    return {"metadata": metadata, "spec": spec}


LARGE = {"env": [{"name": "A", "value": "x" * (ITEM_LIMIT - 2000)}]}


@pytest.mark.parametrize(
    "spec, kept",
    [
        ({"description": "small"}, True),
        (LARGE, True),
        ({"env": [{"name": "A", "value": "x" * ITEM_LIMIT}]}, False),
        ({"plugin": {"name": "env", "arguments": [[]] * (ITEM_LIMIT // 64)}}, False),
    ],
    ids=["small", "large", "too large", "of many small values"],
)
def test_an_item_that_needs_too_much_memory_is_rejected_and_not_kept(spec: dict[str, Any], kept: bool) -> None:
    item_ = ItemStore().keep(stored("x", "a", **spec))
    assert item_["metadata"] == {"name": "x", "namespace": "a"}
    assert ("spec" in item_) is kept
    assert reviewed(spec).allowed is kept
    read = item_of(item_, NAMESPACED)
    assert read is not None
    assert [reason for reason, *_ in read.faults] == ([] if kept else [ProblemReason.TOO_LARGE])


def test_the_items_of_a_namespace_leave_room_for_those_of_other_namespaces() -> None:
    room = ItemStore()
    many = [room.keep(stored(f"x{number}", "a", **LARGE)) for number in range(100)]
    held = ["spec" in each for each in many]
    assert 50 < sum(held) < 70
    assert "spec" in room.keep(stored("y", "b", **LARGE))
    last = item_of(many[-1], NAMESPACED)
    assert last is not None
    (problem,) = resolve_item(last, lambda *_: None).problems
    assert problem.reason is ProblemReason.TOO_LARGE
    many.clear()
    del last
    assert "spec" in room.keep(stored("x", "a", **LARGE))


def test_a_changed_or_relisted_item_is_counted_once() -> None:
    room = ItemStore()
    kept = {}
    for version in range(200):
        document = stored("x", "a", **LARGE)
        document["metadata"]["resourceVersion"] = str(version // 2)
        kept[version] = room.keep(document)  # the earlier versions are still referenced
        assert "spec" in kept[version]
    assert kept[0] is kept[1]
    assert kept[1] is not kept[2]


def test_all_items_together_are_bounded() -> None:
    room = ItemStore()
    kept = [room.keep(stored(f"x{number}", f"n{number}", **LARGE)) for number in range(1000)]
    assert sum("spec" in each for each in kept) * ITEM_LIMIT <= 1.1 * ALL_LIMIT


def test_namespaced_items_leave_room_for_cluster_items() -> None:
    room = ItemStore()
    kept = [room.keep(stored(f"x{number}", f"n{number % 8}", **LARGE)) for number in range(8 * 70)]
    assert not all("spec" in each for each in kept)
    of_cluster = [room.keep(stored(f"x{number}", "", **LARGE)) for number in range(60)]
    assert all("spec" in each for each in of_cluster)


def test_a_deleted_item_frees_its_memory_after_it_was_parsed() -> None:
    room = ItemStore()
    many = [room.keep(stored(f"x{number}", "a", **LARGE)) for number in range(70)]
    for entry in many:
        item_of(entry, NAMESPACED)
    dropped = [each for each in many if "spec" not in each]
    assert not room.has_room(many)
    del many[:10]
    del entry
    assert room.has_room(dropped)
    assert not room.has_room([room.keep(stored("y", "b", env=[{"name": "A", "value": "x" * ITEM_LIMIT}]))])


def test_only_the_last_parsed_items_stay_parsed() -> None:
    room = ItemStore()
    many = [room.keep(stored(f"x{number}", "a", env=[])) for number in range(300)]
    for document in many:
        item_of(document, NAMESPACED)
    assert [cast("StoredItem", document).item is not None for document in many] == [False] * 44 + [True] * 256


def versioned(name: str, version: int) -> dict[str, Any]:
    document = stored(name, "a", **LARGE)
    document["metadata"]["resourceVersion"] = str(version)
    return document


FULL = [versioned(f"x{number}", 1) for number in range(70)]


@pytest.mark.parametrize(
    "first, left",
    [
        ([event("DELETED", versioned("x0", 11))], FULL[10:]),
        (ApiError(410), [versioned(f"y{number}", 1) for number in range(60)]),
    ],
    ids=["some are deleted", "the list has other items"],
)
@pytest.mark.parametrize("of_server", [True, False], ids=["server", "controller"])
async def test_a_dropped_item_is_kept_once_there_is_room(
    first: Any, left: list[Any], of_server: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer, "RETRY_PERIOD", 0.02)
    monkeypatch.setattr(informer, "RELIST_PERIOD", 0.0)
    monkeypatch.setattr(informer, "RELIST_TIMES", 0)
    informers = (
        ClusterView(installed(), reached=False).cache.informers
        if of_server
        else Statuses(MemoryCluster(), lambda _: True).cache.informers
    )
    known = informers[RESOURCES[NAMESPACED]]
    # While a list is read, removed objects still count, so the list is read once more.
    api = Played(FULL, first, left, left)
    async with informing(known, api):
        await until(lambda: not api.steps and api.asked[-1].startswith("watch"))
        keys = known.keys()
        kept = [known.get(name, namespace) for namespace, name in keys]
        assert len(kept) == 60
        assert all(each is not None and "spec" in each for each in kept)
        assert api.asked.count("list") == 3

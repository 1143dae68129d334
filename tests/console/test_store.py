"""The reviews of replicas are kept within bounds, whatever a pod that pretends to be one sends."""

import asyncio
from typing import Any

import orjson
import pytest

from jobgate.console.reviews import BYTES, STEPS, ReviewStore
from webhook.server.reviews import FINDINGS

REVIEW: dict[str, Any] = {"id": 1, "apiVersion": "a/v1", "kind": "Crew", "namespace": "lab", "name": "a", "causes": []}


@pytest.mark.parametrize("field", ["user", "name", "causes"])
def test_large_fields_count(field: str) -> None:
    store, large = ReviewStore({}), "x" * 900_000
    for _ in range(100):
        store.add("a", {**REVIEW, field: [{"rule": "r", "message": large}] if field == "causes" else large})
    assert sum(len(orjson.dumps(kept.light)) for kept in store._kept) <= BYTES
    assert 0 < len(store._kept) < 100


@pytest.mark.parametrize(
    "review",
    [
        {"kind": ["a"], "namespace": {}, "milliseconds": "x", "dryRun": 1},
        {"milliseconds": True, "operations": [1]},
        {"causes": [{"field": 1}, "a", None, {"rule": ["r"], "message": {}}]},
        {"causes": {"a": 1}, "warnings": "a", "object": 1, "patch": 2},
    ],
    ids=["fields", "numbers", "findings", "lists"],
)
def test_any_shape_is_kept_and_counted(review: dict[str, Any]) -> None:
    store = ReviewStore({})
    store.add("a", {**REVIEW, **review})
    assert orjson.dumps(store._kept[0].light)
    assert {type(store._kept[0].light[field]) for field in ("milliseconds", "operations")} == {float}


class Anyone:
    """A caller who may see everything."""

    async def visible(self, places: set[Any]) -> set[Any]:
        return places


@pytest.mark.parametrize("steps", [[["a"]], [{}], "a", None], ids=str)
async def test_findings_with_any_steps_are_shown(steps: Any) -> None:
    store, caller = ReviewStore({}), Anyone()
    store.add(
        "a", {**REVIEW, "object": {"a": 1}, "causes": [{"rule": "r", "steps": steps}], "patch": [1, {"op": ["x"]}]}
    )
    shown = await store.one(caller, store.last)  # type: ignore[arg-type]
    assert shown is not None
    assert [cause["line"] for cause in shown["causes"]] == [0]


def test_many_small_parts_of_findings_are_left_out() -> None:
    store = ReviewStore({})
    store.add("a", {**REVIEW, "causes": [{"steps": [1] * 1000}] * 1000})
    (kept,) = store._kept
    assert len(kept.light["causes"]) == FINDINGS
    assert len(kept.light["causes"][0]["steps"]) == STEPS


async def test_copies_in_a_patch_are_shown_but_not_made() -> None:
    store, caller = ReviewStore({}), Anyone()
    copies = [{"op": "copy", "from": "/a", "path": f"/a/{number}"} for number in range(12)]
    store.add("a", {**REVIEW, "object": {"a": {"b": 1}}, "patch": copies})
    shown = await store.one(caller, store.last)  # type: ignore[arg-type]
    assert shown is not None
    assert [line["text"].partition(":")[0] for line in shown["diff"]] == [f"/a/{number}" for number in range(12)]


async def test_while_a_large_review_is_prepared_others_are_answered() -> None:
    store, caller, turns = ReviewStore({}), Anyone(), 0
    store.add("a", {**REVIEW, "object": {"a": [0] * 30_000}})
    shown = asyncio.ensure_future(store.one(caller, store.last))  # type: ignore[arg-type]
    while not shown.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 5
    assert (await shown or {})["yaml"].count("\n") == 30_001

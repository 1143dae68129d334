"""The reviews of replicas are kept within bounds, whatever a pod that pretends to be one sends."""

from typing import Any

import orjson
import pytest

from jobgate.console.reviews import BYTES, ReviewStore, by_rule

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
        {"causes": [{"field": 1}, "a", None, {"rule": ["r"], "message": {}}]},
        {"causes": {"a": 1}, "warnings": "a", "object": 1, "patch": 2},
    ],
    ids=["fields", "findings", "lists"],
)
def test_any_shape_is_kept_and_counted(review: dict[str, Any]) -> None:
    store = ReviewStore({})
    store.add("a", {**REVIEW, **review})
    assert orjson.dumps(store._kept[0].light)
    assert orjson.dumps(by_rule([*store._kept]))

"""Drafts: what is set is seen, recorded as a patch, and nothing else is touched."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, settings

from tests.webhook.kind import CREW, parts
from tests.webhook.values import jobs
from webhook import Context, Draft, Settings
from webhook.review import defaulted
from webhook.values import escape


def test_setting_a_field_shows_it_and_records_it() -> None:
    draft = Draft({"a": 1})
    draft["b"] = 2
    assert draft.value == {"a": 1, "b": 2}
    assert draft.patch == [{"op": "add", "path": "/b", "value": 2}]


def set_in_item(draft: Draft) -> None:
    for item in draft.each("spec", "items"):
        item.setdefault("n", 1)


def set_in_items_of_items(draft: Draft) -> None:
    for item in draft.each("items"):
        for inner in item.each("inner"):
            inner.setdefault("n", 1)


def set_below(draft: Draft) -> None:
    below = draft.at("a", "b")
    assert below is not None
    below["c~/d"] = 1


def set_in_what_was_set(draft: Draft) -> None:
    draft["a"] = {}
    below = draft.at("a")
    assert below is not None
    below["b"] = 1


def set_through_two_drafts_of_one_object(draft: Draft) -> None:
    first, second = draft.at("a"), draft.at("a")
    assert first is not None
    assert second is not None
    first["b"] = 1
    second["c"] = 2


@pytest.mark.parametrize(
    "original, change, pointers",
    [
        ({"spec": {"items": [{}, 3, {"n": 2}, {"n": None}]}}, set_in_item, ["/spec/items/0/n", "/spec/items/3/n"]),
        ({"items": [{"inner": [{}]}, {"inner": 1}]}, set_in_items_of_items, ["/items/0/inner/0/n"]),
        ({"a": {"b": {}}}, set_below, ["/a/b/c~0~1d"]),
        ({}, set_in_what_was_set, ["/a", "/a/b"]),
        ({"a": {}}, set_through_two_drafts_of_one_object, ["/a/b", "/a/c"]),
    ],
)
def test_a_patch_gives_what_the_draft_shows(
    original: dict[str, Any], change: Callable[[Draft], None], pointers: list[str]
) -> None:
    before = deepcopy(original)
    draft = Draft(original)
    change(draft)
    assert [operation["path"] for operation in draft.patch] == pointers
    assert original == before
    assert jsonpatch.apply_patch(original, draft.patch) == draft.value


def test_a_field_that_the_user_wrote_cannot_be_set() -> None:
    draft = Draft({"a": False})
    with pytest.raises(ValueError, match="a is set already: a mutation only adds what is absent"):
        draft["a"] = True
    assert draft.patch == []


def test_null_counts_as_absent() -> None:
    draft = Draft({"a": None})
    assert "a" not in draft
    assert draft.get("a", 1) == 1
    assert draft["a"] is None
    draft.setdefault("a", 2)
    assert draft.value == {"a": 2}


def test_falsehood_is_a_value() -> None:
    draft = Draft({"a": 0, "b": ""})
    draft.setdefault("a", 1)
    draft.setdefault("b", "x")
    assert draft.patch == []


@pytest.mark.parametrize("shape", [None, [], "", 0, {"a": None}, {"a": []}, {"a": "x"}])
def test_below_what_is_no_object_there_is_no_draft(shape: Any) -> None:
    draft = Draft({"spec": shape})
    assert draft.at("spec", "a") is None
    assert not list(draft.each("spec", "a"))


@pytest.mark.parametrize("step, expected", [("a/b", "a~1b"), ("a~b", "a~0b"), ("~1", "~01"), (3, "3"), ("", "")])
def test_a_step_of_a_pointer_is_escaped(step: str | int, expected: str) -> None:
    assert escape(step) == expected


@settings(max_examples=60)
@given(jobs)
def test_the_patch_of_any_job_adds_and_applies_and_is_needed_once(job: dict[str, Any]) -> None:
    before = deepcopy(job)
    once = defaulted(CREW, job, Context(Settings()))
    assert job == before
    assert {operation["op"] for operation in once.patch} <= {"add"}
    assert jsonpatch.apply_patch(job, once.patch) == once.value
    twice = defaulted(CREW, once.value, Context(Settings()))
    assert twice.patch == []
    assert twice.value == once.value


def test_the_patch_of_a_job_is_minimal() -> None:
    draft = defaulted(CREW, parts({"role": "lead"}, {"name": "a", "replicas": 2, "x": {"y": []}}), Context(Settings()))
    assert draft.patch == [
        {"op": "add", "path": "/spec/parts/1/role", "value": "none"},
        {"op": "add", "path": "/spec/parts/0/name", "value": "lead"},
        {"op": "add", "path": "/spec/parts/0/replicas", "value": 1},
    ]


def test_an_item_is_added_to_the_end_of_a_list() -> None:
    document = {"ports": [{"name": "a"}]}
    draft = Draft(document)
    draft.append("ports", {"name": "b"})
    draft.append("volumes", {"name": "c"})
    draft.append("volumes", {"name": "d"})
    assert document == {"ports": [{"name": "a"}]}
    assert draft.value == {"ports": [{"name": "a"}, {"name": "b"}], "volumes": [{"name": "c"}, {"name": "d"}]}
    assert jsonpatch.apply_patch(document, draft.patch) == draft.value
    assert [operation["path"] for operation in draft.patch] == ["/ports/-", "/volumes", "/volumes/-"]


def test_what_is_no_list_gets_no_item() -> None:
    with pytest.raises(TypeError, match="ports is no list"):
        Draft({"ports": {"a": 1}}).append("ports", {"name": "b"})


def test_the_entries_of_a_map_are_drafts_with_their_keys() -> None:
    document = {"tasks": {"Master": {"n": 1}, "a/b": {}, "broken": 5}}
    draft = Draft(document)
    for key, entry in draft.entries("tasks"):
        entry.setdefault("n", len(key))
    assert draft.value["tasks"] == {"Master": {"n": 1}, "a/b": {"n": 3}, "broken": 5}
    assert [operation["path"] for operation in draft.patch] == ["/tasks/a~1b/n"]
    assert list(Draft({"tasks": []}).entries("tasks")) == []


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {"a": [{"b": float("nan")}]}, {1: "a"}, {"a"}, object()],
    ids=["NaN", "infinite", "NaN deep inside", "a key that is no text", "a set", "an object"],
)
def test_what_json_has_not_is_never_part_of_a_patch(value: Any) -> None:
    draft = Draft({"list": [], "old": 1})
    with pytest.raises(ValueError, match="new is set to a value that is not JSON"):
        draft["new"] = value
    with pytest.raises(ValueError, match="is not JSON"):
        draft.append("list", value)
    with pytest.raises(ValueError, match="is not JSON"):
        draft.insert("list", [value])
    with pytest.raises(ValueError, match="is not JSON"):
        draft.correct("old", value)
    assert draft.patch == []
    assert draft.value == {"list": [], "old": 1}


def test_a_patch_below_a_long_key_grows_with_the_object_and_not_with_the_operations() -> None:
    key = "k" * 100_000
    job = {"metadata": {}, "spec": {"tasks": {key: {"containers": [{"n": place} for place in range(300)]}}}}
    draft = Draft(job)
    for _, task in draft.entries("spec", "tasks"):
        for container in task.each("containers"):
            container["image"] = "i"
        task.append("containers", {"n": 300})
    draft["status"] = {}
    assert [(change["op"], change["path"]) for change in draft.patch] == [("add", "/spec"), ("add", "/status")]
    assert jsonpatch.apply_patch(job, draft.patch) == draft.value
    assert len(draft.value["spec"]["tasks"][key]["containers"]) == 301

"""What a forgetful writer's full update erased is put back."""

from typing import Any

import jsonpatch
import pytest

from webhook.restore import restoration

STORED = {
    "metadata": {"name": "job", "managedFields": [{"manager": "kubectl"}]},
    "spec": {"queue": "research", "tasks": [{"name": "a", "policies": [{"action": "AbortJob"}]}]},
}


@pytest.mark.parametrize(
    "case, written, stored, expected",
    [
        ("an erased field comes back", {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ("a changed field is as it was", {"a": 2}, {"a": 1}, {"a": 1}),
        ("what was filled in stays", {"a": 1, "b": {"c": 0}}, {"a": 1}, {"a": 1, "b": {"c": 0}}),
        ("an empty struct fills nothing in", {"a": {"b": {}, "c": {"t": None}}}, {"a": {"d": 1}}, {"a": {"d": 1}}),
        ("an empty object that was stored stays", {"a": {}}, {"a": {}}, {"a": {}}),
        ("a null fills nothing in", {"a": 1, "b": None}, {"a": 1}, {"a": 1}),
        ("what stood as null may be filled in", {"a": 1}, {"a": None}, {"a": 1}),
        ("items of a list are merged", {"l": [{"a": 1, "n": "x"}]}, {"l": [{"a": 1, "b": 2}]},
         {"l": [{"a": 1, "b": 2, "n": "x"}]}),
        ("a list of another length is as it was", {"l": [1]}, {"l": [1, 2]}, {"l": [1, 2]}),
        ("an object that became something else is as it was", {"a": 5}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)  # fmt: skip
def test_a_write_is_brought_back_to_what_was_stored(case: str, written: Any, stored: Any, expected: Any) -> None:
    document, old = {"spec": written}, {"spec": stored}
    assert jsonpatch.apply_patch(document, restoration(document, old))["spec"] == expected, case


def test_the_write_becomes_one_that_changes_nothing() -> None:
    written = {
        "metadata": {"name": "job", "managedFields": [{"manager": "operator"}]},
        "spec": {"tasks": [{"name": "a"}]},
    }
    patch = restoration(written, STORED)
    assert jsonpatch.apply_patch(written, patch) == STORED
    assert [operation["path"] for operation in patch] == [
        "/spec/queue",
        "/spec/tasks/0/policies",
        "/metadata/managedFields",
    ]


def test_a_null_item_is_replaced_and_not_pushed_aside() -> None:
    written: dict[str, Any] = {"spec": {"l": [None, 1]}}
    patch = restoration(written, {"spec": {"l": [{"a": 1}, 1]}})
    assert jsonpatch.apply_patch(written, patch) == {"spec": {"l": [{"a": 1}, 1]}}


def test_a_write_that_erases_nothing_needs_no_patch() -> None:
    assert restoration(STORED, STORED) == []

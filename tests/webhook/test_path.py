"""Field paths: how they print, how they are read again, how two versions of an object are compared by them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.webhook.values import json_values
from webhook import Path
from webhook.path import join, keyed, steps_of


@pytest.mark.parametrize(
    "path, printed",
    [
        (Path("spec"), "spec"),
        (Path("spec") / "tasks" / 1, "spec.tasks[1]"),
        (Path("spec") / "limits" / "cpu", "spec.limits.cpu"),
        ((Path("spec") / "limits").key("nvidia.com/gpu"), "spec.limits[nvidia.com/gpu]"),
        (Path() / "spec", "spec"),
        (Path(), ""),
    ],
)
def test_a_path_prints_as_kubernetes_prints_it(path: Path, printed: str) -> None:
    assert str(path) == printed


def test_a_path_equals_its_text_and_hashes_alike() -> None:
    path = Path("spec") / "tasks" / 0
    assert path == "spec.tasks[0]"
    assert path == Path("spec") / "tasks" / 0
    assert path != "spec.tasks[1]"
    assert path != 0
    assert {path: 1}[Path("spec") / "tasks" / 0] == 1


def test_branches_of_a_path_do_not_touch_each_other() -> None:
    root = Path("spec")
    left, right = root / "a", root / "b"
    assert (str(root), str(left), str(right)) == ("spec", "spec.a", "spec.b")


def test_a_path_knows_its_steps_exactly() -> None:
    path = (Path("spec.tasks[0]") / "a.b").key("0") / 3
    assert path.steps == ("spec", "tasks", 0, "a.b", "0", 3)
    assert steps_of(path) == path.steps


@pytest.mark.parametrize(
    "path, start, expected",
    [
        (Path("spec") / "a" / 0 / "b", Path("spec") / "a", "metadata.x[0].b"),
        (Path("spec") / "a", Path("spec") / "a", "metadata.x"),
        ((Path("spec") / "a").key("k.l") / "c", Path("spec.a"), "metadata.x[k.l].c"),
        (Path("spec") / "ab", Path("spec") / "a", None),
        (Path("spec"), Path("spec") / "a", None),
    ],
    ids=["below", "the place itself", "an entry of a map", "another name", "above"],
)
def test_a_path_below_a_start_is_moved(path: Path, start: Path, expected: str | None) -> None:
    moved = path.rebased(start, Path("metadata") / "x")
    assert (None if moved is None else str(moved)) == expected


@pytest.mark.parametrize(
    "steps, printed",
    [
        (("spec", "tasks", 1, "name"), "spec.tasks[1].name"),
        (("spec", "limits", "nvidia.com/gpu"), "spec.limits[nvidia.com/gpu]"),
        ((), ""),
    ],
)
def test_steps_are_joined_and_read_again(steps: tuple[str | int, ...], printed: str) -> None:
    assert str(join(steps)) == printed
    assert tuple(steps_of(printed)) == steps


LIST = {"spec": {"tasks": [{"name": "a"}, {"name": "b"}, {"name": "a"}, {}, {"name": 7}, "x", {"name": ""}]}}


@pytest.mark.parametrize(
    "path, expected",
    [
        ("spec.tasks[0].replicas", ("spec", "tasks", ("a", 0), "replicas")),
        ("spec.tasks[1].replicas", ("spec", "tasks", ("b", 0), "replicas")),
        ("spec.tasks[2].replicas", ("spec", "tasks", ("a", 1), "replicas")),
        ("spec.tasks[3].name", ("spec", "tasks", 3, "name")),
        ("spec.tasks[4].name", ("spec", "tasks", 4, "name")),
        ("spec.tasks[5].name", ("spec", "tasks", 5, "name")),
        ("spec.tasks[6].name", ("spec", "tasks", 6, "name")),
        ("spec.tasks[99].name", ("spec", "tasks", 99, "name")),
        ("spec.tasks", ("spec", "tasks")),
        ("spec.other[0].name", ("spec", "other", 0, "name")),
        ("metadata.labels[example.com/a]", ("metadata", "labels", "example.com/a")),
        ("", ()),
    ],
)
def test_items_with_a_name_have_it_as_their_key(path: str, expected: tuple[object, ...]) -> None:
    assert keyed(path, LIST) == expected


def test_an_item_that_moved_keeps_its_key_through_nested_lists() -> None:
    before = {"a": [{"name": "x", "b": [{"name": "y"}, {"name": "z"}]}]}
    after = {"a": [{"name": "w"}, {"name": "x", "b": [{"name": "z"}]}]}
    expected = ("a", ("x", 0), "b", ("z", 0), "c")
    assert keyed("a[0].b[1].c", before) == keyed("a[1].b[0].c", after) == expected


@settings(max_examples=60)
@given(st.text(max_size=30) | st.from_regex(r"\A[a-z.\[\]0-9²]{0,30}\Z"), json_values)
def test_no_text_is_a_path_that_cannot_be_read(path: str, document: Any) -> None:
    steps_of(path)
    keyed(path, document)


@pytest.mark.parametrize("digits", ["9" * 5000, "²"], ids=["longer than Python reads", "a digit that is no number"])
def test_a_key_of_digits_is_a_key(digits: str) -> None:
    assert steps_of(f"limits[{digits}]") == ["limits", digits]
    assert keyed(f"limits[{digits}]", {"limits": []}) == ("limits", digits)

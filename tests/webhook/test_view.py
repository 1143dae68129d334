"""Typed views of objects that fit their model, and of objects that do not."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from pydantic import Field

from tests.webhook.kind import CREW, Bounds, Model, Part, Role, Spec
from tests.webhook.values import json_values, spec
from webhook import Object, UnknownField
from webhook.path import steps_of
from webhook.view import opaque, view, without


def test_a_whole_job_is_viewed_whole() -> None:
    whole = view(Spec, {"parts": [{"name": "a"}], "maxParts": 3})
    assert whole == (Spec(parts=[Part(name="a")], maxParts=3), True)


@pytest.mark.parametrize(
    "value, readable, broken",
    [
        ({"parts": [{"name": "a"}], "maxParts": "3"}, {"parts", "bounds"}, {"max_parts"}),
        ({"parts": "x", "maxParts": 3}, {"bounds", "max_parts"}, {"parts"}),
        ({"parts": [1, {"name": "a"}]}, {"bounds", "max_parts"}, {"parts"}),
        ({}, {"bounds", "max_parts"}, {"parts"}),
        ([], {"bounds", "max_parts"}, {"parts"}),
        (None, {"bounds", "max_parts"}, {"parts"}),
        ({"bounds": 7, "parts": [{}]}, {"parts", "max_parts"}, {"bounds"}),
    ],
)
def test_a_broken_job_is_viewed_as_far_as_it_can_be_read(value: Any, readable: set[str], broken: set[str]) -> None:
    part, whole = view(Spec, value)
    assert not whole
    assert {name for name in Spec.model_fields if hasattr(part, name)} == readable
    assert {name for name in Spec.model_fields if name not in part.__dict__} == broken


def test_defaults_stand_for_what_is_absent_and_never_for_what_is_broken() -> None:
    part, whole = view(Spec, {"parts": [{"replicas": "3"}, {"replicas": 2, "role": "captain"}]})
    assert not whole
    broken, readable = part.parts
    assert (broken.name, broken.role, hasattr(broken, "replicas")) == (None, Role.NONE, False)
    assert (readable.replicas, hasattr(readable, "role")) == (2, False)
    assert (part.max_parts, part.bounds) == (8, Bounds())


def test_a_broken_object_inside_is_read_in_part() -> None:
    part, _ = view(Spec, {"parts": [{}], "bounds": {"least": "1", "most": 4}})
    assert (part.bounds.most, hasattr(part.bounds, "least")) == (4, False)


@settings(max_examples=60)
@given(spec | json_values)
def test_a_view_shows_only_what_was_written_or_absent(value: Any) -> None:
    part, whole = view(Spec, value)
    written = value if isinstance(value, dict) else {}
    assert whole or isinstance(part, Spec)
    if hasattr(part, "max_parts"):
        assert part.max_parts == written.get("maxParts", 8)
    if hasattr(part, "parts"):
        for shown, item in zip(part.parts, written.get("parts", ()), strict=True):
            assert getattr(shown, "replicas", None) in (None, item.get("replicas", 1))
            assert getattr(shown, "name", None) in (None, item.get("name"))


@pytest.mark.parametrize(
    "path, expected",
    [
        ("spec.parts[0].template.image", True),
        ("spec.parts[0].template.a[3].b", True),
        ("spec.parts[0].replicas", False),
        ("spec.parts[0]", False),
        ("spec.bounds.most", False),
        ("spec.maxParts", False),
        ("spec.unknown", True),
        ("spec", False),
    ],
)
def test_plain_json_inside_a_model_is_opaque(path: str, expected: bool) -> None:
    assert opaque(Spec, path) is expected


DOCUMENT = {"a": {"b": [1, {"c": 2}], "d": ["x", "y"]}, "e": 1}


@pytest.mark.parametrize(
    "paths, expected",
    [
        (["a.b[1].c"], {"a": {"b": [1, {}], "d": ["x", "y"]}, "e": 1}),
        (["a.b[0]"], {"a": {"b": [{}, {"c": 2}], "d": ["x", "y"]}, "e": 1}),
        (["a.d[0]"], {"a": {"b": [1, {"c": 2}], "d": ["", "y"]}, "e": 1}),
        (["a.d", "a.b"], {"a": {}, "e": 1}),
        (["a.b[1].c", "a.b"], {"a": {"d": ["x", "y"]}, "e": 1}),
        (["x.y.z", "a.b[9].c", "a.b[0].c", "e.f", ""], DOCUMENT),
        ([], DOCUMENT),
    ],
)
def test_values_are_left_out_and_places_kept(paths: list[str], expected: dict[str, Any]) -> None:
    before = deepcopy(DOCUMENT)
    assert without(DOCUMENT, paths) == expected
    assert before == DOCUMENT


def test_every_path_is_left_out_whatever_it_holds() -> None:
    keys = ["x", "y/z", "nvidia.com/gpu", "1"]
    document = {"a": {key: {"b": 1} for key in keys}}
    paths = ["a.x", "a[y/z]", "a[nvidia.com/gpu]", "a.1"]
    assert [steps_of(path)[-1] for path in paths] == keys
    assert without(document, paths) == {"a": {}}


class Fleet(Model):
    """Parts in a map, beside a part that has a name of its own."""

    parts: dict[str, Part] = Field(default_factory=dict)
    policy: Bounds | None = None


def test_a_map_is_read_entry_by_entry() -> None:
    fleet, whole = view(Fleet, {"parts": {"a": {"replicas": "3", "name": "x"}, "b": {"replicas": 2}}})
    assert not whole
    assert (fleet.parts["a"].name, hasattr(fleet.parts["a"], "replicas"), fleet.parts["b"].replicas) == ("x", False, 2)
    broken, _ = view(Fleet, {"parts": {"a": 5}})
    assert not hasattr(broken, "parts")


@pytest.mark.parametrize(
    "path, expected",
    [
        ("spec.parts.a.replicas", False),
        ("spec.parts.a", False),
        ("spec.parts.a.template.image", True),
        ("spec.policy.most", False),
        ("spec.parts.a.unknown", True),
    ],
)
def test_a_path_through_a_map_is_opaque_if_the_entry_is(path: str, expected: bool) -> None:
    assert opaque(Fleet, path) is expected


def test_get_reads_a_field_at_the_path_of_its_kind() -> None:
    kind = replace(CREW, spec=Fleet, rules=(), fields={"least": "policy.least"}, known_fields=frozenset({"queue"}))
    fleet = Object(kind, {}, Fleet(policy=Bounds(least=3)))
    assert (fleet.get("least"), str(fleet.at("least"))) == (3, "spec.policy.least")
    assert (fleet.get("queue"), Object(kind, {}, Fleet()).get("least")) == (None, None)
    with pytest.raises(UnknownField):
        fleet.get("queuee")
    with pytest.raises(UnknownField, match=r"spec\.least|^Policy: did you mean policy\?$"):
        fleet.at("Policy")


def test_items_that_lack_a_field_are_left_out_and_keep_their_places() -> None:
    parts = [{"name": "a", "replicas": "x"}, {"name": "b"}]
    spec, _ = view(Spec, {"parts": parts})
    crew = Object(CREW, {}, spec)
    assert [str(path) for path, _ in crew.each("parts")] == ["spec.parts[0]", "spec.parts[1]"]
    reduced = crew.leaving_out(frozenset({(Part, "replicas")}))
    assert reduced is not None
    assert [(str(path), part.name) for path, part in reduced.each("parts")] == [("spec.parts[1]", "b")]
    assert reduced.leaving_out(frozenset({(Part, "replicas")})) is None

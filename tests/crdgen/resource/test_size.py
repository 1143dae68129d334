"""The size report counts as `kubectl` does, and its savings match the smaller CRD."""

import copy
import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from controlplane.client import ClusterApi
from crdgen import Doc, Model, OpenPodTemplate, PodTemplate, crd
from crdgen.resource.resource import of
from crdgen.resource.size import SizedField, annotations, parts, savings, size
from crdgen.schema import limits
from tests.crdgen.cli.conftest import Crdgen, crdgen, folder

__all__ = ["crdgen", "folder"]

WORDS = "Many words of one sentence that nobody needs to read. " * 10


class Talkative(Model):
    """A model with a short description."""

    quiet: int = 1
    loud: Annotated[str, Doc(WORDS)] = "a"


class Spec(Model):
    talk: Talkative = Field(default_factory=Talkative)
    template: PodTemplate


class Open(Model):
    talk: Talkative = Field(default_factory=Talkative)
    template: OpenPodTemplate


def definition(model: type[Model], **metadata: Any) -> dict[str, Any]:
    widgets = crd(of(model, group="example.com", version="v1", kind="Widget"))
    widgets["metadata"] |= metadata
    return widgets


def walk(part: SizedField) -> Iterator[SizedField]:
    yield part
    for child in part.parts:
        yield from walk(child)


def without_descriptions(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    shortened = {key: value for key, value in schema.items() if key != "description"}
    if "properties" in shortened:
        shortened["properties"] = {name: without_descriptions(child) for name, child in shortened["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in shortened:
            shortened[key] = without_descriptions(shortened[key])
    return shortened


def test_each_part_has_the_bytes_of_its_schema() -> None:
    widgets = definition(Spec)
    schema = widgets["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    (whole,) = parts(widgets)
    parts_by_path = {part.path: part for part in walk(whole)}
    assert parts_by_path["v1"].size == size(schema)
    assert parts_by_path["v1 spec.talk"].size == size(schema["properties"]["spec"]["properties"]["talk"])
    assert "v1 spec.template.spec.containers[].name" in parts_by_path
    assert whole.descriptions == size(schema) - size(without_descriptions(schema))


def test_savings_match_the_smaller_crd() -> None:
    widgets = definition(Spec)
    saved_bytes = savings(widgets)
    template = saved_bytes["v1 spec.template: make the pod template open (OpenPodTemplate)"]
    assert template == size(widgets) - size(definition(Open))
    undescribed = copy.deepcopy(widgets)
    schema = undescribed["spec"]["versions"][0]["schema"]
    schema["openAPIV3Schema"] = without_descriptions(schema["openAPIV3Schema"])
    assert saved_bytes["v1: leave out the descriptions"] == size(widgets) - size(undescribed)
    assert list(saved_bytes.values()) == sorted(saved_bytes.values(), reverse=True)


def test_removing_an_unserved_version_is_a_saving() -> None:
    widgets = definition(Talkative)
    old = copy.deepcopy(widgets["spec"]["versions"][0]) | {"name": "v0", "served": False, "storage": False}
    widgets["spec"]["versions"].append(old)
    assert any(saving.startswith("v0: remove the version") for saving in savings(widgets))


def test_all_annotations_count_and_html_is_escaped() -> None:
    plain = definition(Talkative)
    before = annotations(plain)
    assert annotations(definition(Talkative, annotations={"a": "bcd"})) == before + len('"a":"bcd"') + len("abcd")
    plain["metadata"]["labels"] = {"x": "<"}
    assert annotations(plain) == before + len(',"labels":{"x":"\\u003c"}')


@pytest.mark.parametrize("excess", [0, 1])
def test_the_api_server_has_the_same_limit(cluster_api: ClusterApi, excess: int) -> None:
    widgets = definition(Talkative)
    value = "x" * (limits.ANNOTATIONS - len("key") + excess)
    widgets["metadata"] |= {"name": "widgets.example.com", "annotations": {"key": value}}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    status, answer = cluster_api.post(path, widgets, {"dryRun": "All"})
    assert status == (422 if excess else 201), answer.get("message")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_json_has_a_size(value: Any) -> None:
    for value_crd in ({"spec": value, "metadata": value}, {"spec": {"versions": value}}):
        assert size(value_crd) > 0
        assert annotations(value_crd) > 0
        parts(value_crd)
        savings(value_crd)


def test_the_command_prints_the_parts_and_fails_above_the_limit(crdgen: Crdgen) -> None:
    line = "size tests.crdgen.resource.test_size:Spec"
    answer = crdgen(line)
    assert answer.status == 0
    assert "v1 spec.template.spec.containers" in answer.out
    assert "make the pod template open" in answer.out
    small = crdgen(f"{line} --limit 1000 --output json --depth 1")
    assert small.status == 1
    (entry,) = json.loads(small.out)
    assert (entry["limit"], entry["fits"]) == (1000, False)
    assert [part["path"] for part in entry["parts"]] == ["v1"]
    assert entry["bytes"] < entry["annotations"]
    assert "fails" in crdgen(f"{line} --limit 1000").out

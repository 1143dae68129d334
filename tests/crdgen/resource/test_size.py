"""The size report counts what `kubectl` counts, and its savings are what the CRD would lose."""

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
    """Says little of itself."""

    quiet: int = 1
    loud: Annotated[str, Doc(WORDS)] = "a"


class Spec(Model):
    talk: Talkative = Field(default_factory=Talkative)
    template: PodTemplate


class Open(Model):
    talk: Talkative = Field(default_factory=Talkative)
    template: OpenPodTemplate


def definition(model: type[Model], **metadata: Any) -> dict[str, Any]:
    made = crd(of(model, group="example.com", version="v1", kind="Widget"))
    made["metadata"] |= metadata
    return made


def walk(part: SizedField) -> Iterator[SizedField]:
    yield part
    for below in part.parts:
        yield from walk(below)


def without_descriptions(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key != "description"}
    if "properties" in kept:
        kept["properties"] = {name: without_descriptions(child) for name, child in kept["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in kept:
            kept[key] = without_descriptions(kept[key])
    return kept


def test_each_part_has_the_bytes_of_its_schema() -> None:
    made = definition(Spec)
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    (whole,) = parts(made)
    found = {part.path: part for part in walk(whole)}
    assert found["v1"].size == size(schema)
    assert found["v1 spec.talk"].size == size(schema["properties"]["spec"]["properties"]["talk"])
    assert "v1 spec.template.spec.containers[].name" in found
    assert whole.descriptions == size(schema) - size(without_descriptions(schema))


def test_savings_are_what_the_crd_would_lose() -> None:
    made = definition(Spec)
    found = savings(made)
    template = found["v1 spec.template: make the pod template open (OpenPodTemplate)"]
    assert template == size(made) - size(definition(Open))
    quiet = copy.deepcopy(made)
    schema = quiet["spec"]["versions"][0]["schema"]
    schema["openAPIV3Schema"] = without_descriptions(schema["openAPIV3Schema"])
    assert found["v1: leave out the descriptions"] == size(made) - size(quiet)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_a_version_that_is_not_served_can_go() -> None:
    made = definition(Talkative)
    old = copy.deepcopy(made["spec"]["versions"][0]) | {"name": "v0", "served": False, "storage": False}
    made["spec"]["versions"].append(old)
    assert any(how.startswith("v0: remove the version") for how in savings(made))


def test_all_annotations_count_and_html_is_escaped() -> None:
    plain = definition(Talkative)
    kept = annotations(plain)
    assert annotations(definition(Talkative, annotations={"a": "bcd"})) == kept + len('"a":"bcd"') + len("abcd")
    plain["metadata"]["labels"] = {"x": "<"}
    assert annotations(plain) == kept + len(',"labels":{"x":"\\u003c"}')


@pytest.mark.parametrize("over", [0, 1])
def test_the_limit_is_that_of_the_api_server(cluster_api: ClusterApi, over: int) -> None:
    made = definition(Talkative)
    value = "x" * (limits.ANNOTATIONS - len("key") + over)
    made["metadata"] |= {"name": "widgets.example.com", "annotations": {"key": value}}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    status, answer = cluster_api.post(path, made, {"dryRun": "All"})
    assert status == (422 if over else 201), answer.get("message")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_json_has_a_size(value: Any) -> None:
    for made in ({"spec": value, "metadata": value}, {"spec": {"versions": value}}):
        assert size(made) > 0
        assert annotations(made) > 0
        parts(made)
        savings(made)


def test_the_command_tells_it_and_fails_above_the_limit(crdgen: Crdgen) -> None:
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

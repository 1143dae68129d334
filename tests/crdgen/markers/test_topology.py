"""Map types and embedded resources reject wrong fields; policies shorten or remove descriptions."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from crdgen import (
    AtomicMap,
    CustomResource,
    Descriptions,
    Doc,
    EmbeddedResource,
    GranularMap,
    Names,
    SchemaError,
    Version,
    crd,
    structural_schema,
)
from crdgen.generate.tidy import shorten


class Inner(BaseModel):
    """An inner part. It has a second sentence."""

    name: Annotated[str, Doc("Who it is. And why.")] = "a"


def field(annotation: Any, **options: Any) -> type[BaseModel]:
    """Return a model with one field, `value`."""
    return type("Spec", (BaseModel,), {"__annotations__": {"value": annotation}, "__module__": __name__, **options})


def node(annotation: Any) -> dict[str, Any]:
    value: dict[str, Any] = structural_schema(field(annotation))["properties"]["value"]
    return value


def test_a_map_type_is_for_objects() -> None:
    assert node(Annotated[Inner, AtomicMap])["x-kubernetes-map-type"] == "atomic"
    assert node(Annotated[dict[str, int], GranularMap])["x-kubernetes-map-type"] == "granular"


def test_an_embedded_resource_keeps_declared_fields_or_every_field() -> None:
    class Object(BaseModel):
        apiVersion: str  # noqa: N815
        kind: str
        metadata: dict[str, Any] = {}
        data: dict[str, str] = {}

    typed = node(Annotated[Object, EmbeddedResource])
    assert typed["x-kubernetes-embedded-resource"] is True
    assert "x-kubernetes-preserve-unknown-fields" not in typed
    free = node(Annotated[dict[str, Any], EmbeddedResource])
    assert free == {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_an_embedded_resource_has_an_api_version_and_a_kind() -> None:
    model = field(Annotated[dict[str, Any], EmbeddedResource])
    assert model.model_validate({"value": {"apiVersion": "v1", "kind": "Pod"}})
    with pytest.raises(ValidationError, match="must have kind"):
        model.model_validate({"value": {"apiVersion": "v1"}})


class Odd(BaseModel):
    metadata: str


@pytest.mark.parametrize(
    "case, annotation, path, problem, fix",
    [
        (
            "a map type on a list",
            Annotated[list[int], AtomicMap],
            "Spec.value",
            "AtomicMap is for objects",
            "`MapList`",
        ),
        ("a map type on text", Annotated[str, GranularMap], "Spec.value", "GranularMap is for objects", "a model"),
        ("embedded text", Annotated[str, EmbeddedResource], "Spec.value", "EmbeddedResource is for objects", "a model"),
    ],
)
def test_a_marker_checks_itself(case: str, annotation: Any, path: str, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(field(annotation))
    assert raised.value.path == path
    assert problem in raised.value.problem
    assert fix in raised.value.fix


@pytest.mark.parametrize("what", ["none", 0, -1])
def test_an_unknown_policy_is_rejected(what: Any) -> None:
    with pytest.raises(SchemaError, match="is no policy; use `keep`, `drop`, or a number above 0"):
        Descriptions(what)


class Spec(BaseModel):
    """The whole. Second sentence."""

    plain: Annotated[Inner, Doc("First. Second.")] = Inner()
    dropped: Annotated[list[Inner], Doc("First. Second."), Descriptions("drop")] = []
    kept: Annotated[dict[str, Inner], Doc("First. Second."), Descriptions("keep")] = Field(default_factory=dict)
    short: Annotated[Inner, Doc("First. Second."), Descriptions(12)] = Inner()


def texts(schema: dict[str, Any]) -> dict[str, list[str | None]]:
    """Return the descriptions of each field and of the `name` inside it."""
    descriptions: dict[str, list[str | None]] = {}
    for name, child in schema["properties"].items():
        inner = child.get("items") or child.get("additionalProperties") or child
        descriptions[name] = [child.get("description"), inner["properties"]["name"].get("description")]
    return descriptions


ALL = "Who it is. And why."


@pytest.mark.parametrize(
    "limit, root, expected",
    [
        (
            None,
            "The whole. Second sentence.",
            {
                "plain": ["First. Second.", ALL],
                "dropped": ["First. Second.", None],
                "kept": ["First. Second.", ALL],
                "short": ["First. Second.", "Who it is."],
            },
        ),
        (0, None, {"plain": [None, None], "dropped": [None, None], "kept": [None, ALL], "short": [None, "Who it is."]}),
        (
            10,
            "The whole.",
            {
                "plain": ["First.", "Who it is."],
                "dropped": ["First.", None],
                "kept": ["First.", ALL],
                "short": ["First.", "Who it is."],
            },
        ),
    ],
)
def test_descriptions_follow_the_nearest_policy(
    limit: int | None, root: str | None, expected: dict[str, list[str | None]]
) -> None:
    schema = structural_schema(Spec, limit=limit)
    assert schema.get("description") == root
    assert texts(schema) == expected


def test_the_policy_of_a_version_overrides_the_policy_of_the_resource() -> None:
    versions = (
        Version("v2", Spec, description="Given. Twice."),
        Version("v1", Spec, storage=False, descriptions=Descriptions("drop")),
        Version("v0", Spec, storage=False, descriptions=Descriptions("keep")),
    )
    definition = crd(CustomResource("a.b", Names("Thing"), versions, descriptions=Descriptions(10)))
    roots = [version["schema"]["openAPIV3Schema"] for version in definition["spec"]["versions"]]
    assert [root.get("description") for root in roots] == ["Given.", None, "The whole. Second sentence."]
    assert [root["properties"]["spec"].get("description") for root in roots] == [
        "The whole.",
        None,
        "The whole. Second sentence.",
    ]


@pytest.mark.parametrize(
    "text, limit, short",
    [
        ("One. Two.", 9, "One. Two."),
        ("One. Two.", 8, "One."),
        ("One\nTwo.", 5, "One"),
        ("e.g. this one", 9, "e.g."),
        ("A long first sentence.", 10, "A long…"),
        ("Unbroken", 4, "Unb…"),
        ("Anything", 0, ""),
        ("v1.2 is new. It is.", 13, "v1.2 is new."),
    ],
)
def test_a_text_is_shortened_at_the_end_of_a_sentence(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short
    assert len(shorten(text, limit)) <= limit or text == short

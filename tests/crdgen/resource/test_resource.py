"""Names, versions, conversion and metadata of a resource; and resources that `of` makes from one model."""

import base64
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypedDict

from crdgen import Conversion, CustomResource, Doc, Names, SchemaError, Service, ValidationRule, Version, crd, of, rules
from crdgen.evaluate import Evaluator
from crdgen.lint import lint
from crdgen.resource.resource import english_plural

T = TypeVar("T")

# The beginning of a certificate: nothing else is read.
CA = "-----BEGIN CERTIFICATE-----\nMIIBaTCC\n-----END CERTIFICATE-----\n"


class Spec(BaseModel):
    """A thing."""

    size: int = 1


class Needed(BaseModel):
    size: int


class Status(BaseModel):
    phase: str


ONE = Version("v1", Spec)
RESOURCE = CustomResource("a.example.com", Names("Thing"), (ONE,))


def root(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the whole object, in the only version."""
    (version,) = definition["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def test_versions_have_their_flags() -> None:
    old = Version("v1", Spec, storage=False, deprecated="write v2")
    gone = Version("v1beta1", Spec, storage=False, served=False, deprecated=True)
    versions = crd(replace(RESOURCE, versions=(Version("v2", Spec), old, gone)))["spec"]["versions"]
    flags = ("name", "served", "storage", "deprecated", "deprecationWarning")
    assert [{flag: version[flag] for flag in flags if flag in version} for version in versions] == [
        {"name": "v2", "served": True, "storage": True},
        {"name": "v1", "served": True, "storage": False, "deprecated": True, "deprecationWarning": "write v2"},
        {"name": "v1beta1", "served": False, "storage": False, "deprecated": True},
    ]


def test_names_scope_labels_and_annotations_are_written() -> None:
    names = Names("Thing", "thingies", "thingy", ("th",), ("all",), "Things")
    definition = crd(
        replace(
            RESOURCE, names=names, scope="Cluster", labels={"a": "b"}, annotations={"x.com/C": "d e"}, api_approved="u"
        )
    )
    assert definition["metadata"] == {
        "name": "thingies.a.example.com",
        "labels": {"a": "b"},
        "annotations": {"x.com/C": "d e", "api-approved.kubernetes.io": "u"},
    }
    assert definition["spec"]["scope"] == "Cluster"
    assert definition["spec"]["names"] == {
        "kind": "Thing",
        "listKind": "Things",
        "plural": "thingies",
        "singular": "thingy",
        "shortNames": ["th"],
        "categories": ["all"],
    }


@pytest.mark.parametrize(
    "resource, at, words",
    [
        (replace(RESOURCE, group="example"), "spec.group", "must be a DNS subdomain with a dot"),
        (replace(RESOURCE, group="batch.k8s.io"), "metadata.annotations", "names no approval"),
        (replace(RESOURCE, group="x.kubernetes.io", api_approved="me"), "metadata.annotations", "names no approval"),
        (replace(RESOURCE, names=Names("A b")), "spec.names.kind", "'a b' must be a label"),
        (replace(RESOURCE, names=Names("Box[int]")), "spec.names.kind", "'box[int]' must be a label"),
        (replace(RESOURCE, names=Names("A", "Things")), "spec.names.plural", "'Things' must be a label"),
        (replace(RESOURCE, names=Names("A", short_names=("T",))), "spec.names.shortNames[0]", "must be a label"),
        (replace(RESOURCE, names=Names("A", categories=("a_b",))), "spec.names.categories[0]", "must be a label"),
        (replace(RESOURCE, group="a." + "b" * 63 + ("." + "c" * 60) * 3), "metadata.name", "at most 253"),
        (replace(RESOURCE, scope="Global"), "spec.scope", "not 'Global'"),
        (replace(RESOURCE, versions=(replace(ONE, storage=False),)), "spec.versions", "storage: true: none"),
        (replace(RESOURCE, versions=()), "spec.versions", "storage: true: none"),
        (replace(RESOURCE, versions=(replace(ONE, served=False),)), "spec.versions", "no version is served"),
        (replace(RESOURCE, versions=(ONE, replace(ONE, storage=False))), "spec.versions[1].name", "two versions v1"),
        (replace(RESOURCE, versions=(replace(ONE, name="1"),)), "spec.versions[0].name", "'1' must be a label"),
        (replace(RESOURCE, versions=(replace(ONE, deprecated=""),)), "spec.versions[0].deprecationWarning", "1 to 256"),
        (replace(RESOURCE, versions=(replace(ONE, deprecated="ä" * 129),)), "spec.versions[0].dep", "1 to 256"),
        (replace(RESOURCE, versions=(replace(ONE, deprecated="a\nb"),)), "spec.versions[0].dep", "printable"),
        (replace(RESOURCE, labels={"a b": ""}), "metadata.labels", "must be name or prefix"),
        (replace(RESOURCE, labels={"a": "b c"}), "metadata.labels", "an annotation holds any text"),
        (replace(RESOURCE, annotations={"/a": ""}), "metadata.annotations", "must be name or prefix"),
        (replace(RESOURCE, annotations={"a": "b" * 262_144}), "metadata.annotations", "262145 bytes"),
    ],
)
def test_a_resource_that_the_api_server_would_reject_is_an_error(resource: CustomResource, at: str, words: str) -> None:
    rejects(resource, at, words)


def rejects(resource: CustomResource, at: str, words: str) -> None:
    """Check that an error at this path of the definition contains these words."""
    with pytest.raises(SchemaError) as raised:
        crd(resource)
    problems = [error.problem for error in raised.value.errors if error.path.startswith(f"{resource.names.kind} {at}")]
    assert any(words in problem for problem in problems), str(raised.value)


def test_a_conversion_calls_a_service_or_a_url() -> None:
    service = Conversion(service=Service("convert", "system", "/c", 8443), ca_bundle=CA)
    assert crd(replace(RESOURCE, conversion=service))["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {
                "caBundle": base64.b64encode(CA.encode()).decode(),
                "service": {"name": "convert", "namespace": "system", "path": "/c", "port": 8443},
            },
            "conversionReviewVersions": ["v1"],
        },
    }
    url = Conversion(url="https://example.com/c", review_versions=("v2", "v1"))
    assert crd(replace(RESOURCE, conversion=url))["spec"]["conversion"]["webhook"] == {
        "clientConfig": {"url": "https://example.com/c"},
        "conversionReviewVersions": ["v2", "v1"],
    }


SERVICE = Service("convert", "system")


@pytest.mark.parametrize(
    "conversion, at, words",
    [
        (Conversion(), "", "needs a clientConfig"),
        (Conversion(SERVICE, "https://a.b"), "", "exactly one of url and service"),
        (Conversion(url="http://a.b"), ".url", "must begin with https://"),
        (Conversion(url="https://u@a.b"), ".url", "must not have a user"),
        (Conversion(replace(SERVICE, namespace="")), ".service.namespace", "has no namespace"),
        (Conversion(replace(SERVICE, name="A")), ".service.name", "'A' must be a label"),
        (Conversion(replace(SERVICE, port=0)), ".service.port", "0 is not a port number"),
        (Conversion(replace(SERVICE, path="c")), ".service.path", "'c' is not a valid path"),
        (Conversion(SERVICE, ca_bundle="MIIB"), ".caBundle", "not a PEM certificate"),
    ],
)
def test_a_conversion_that_cannot_be_called_is_rejected(conversion: Conversion, at: str, words: str) -> None:
    rejects(replace(RESOURCE, conversion=conversion), f"spec.conversion.webhook.clientConfig{at}", words)


def test_a_conversion_supports_a_review_version() -> None:
    conversion = Conversion(SERVICE, review_versions=("v3",))
    at = "spec.conversion.webhook.conversionReviewVersions"
    rejects(replace(RESOURCE, conversion=conversion), at, "one of v1, v1beta1 must be in the list")


@rules(ValidationRule("self.spec.size < 5", "too large"))
class Whole(BaseModel):
    """A whole object."""

    api_version: Annotated[str, Field(alias="apiVersion")]
    kind: Literal["Gadget"]
    metadata: Any
    spec: Annotated[Needed, Doc("What is wanted.")]
    status: Status | None = None
    data: dict[str, str] = {}


def test_of_accepts_a_whole_object() -> None:
    definition = crd(of(Whole, group="a.example.com", version="v1"))
    assert definition["metadata"]["name"] == "gadgets.a.example.com"
    (version,) = definition["spec"]["versions"]
    assert version["subresources"] == {"status": {}}
    schema = version["schema"]["openAPIV3Schema"]
    assert schema["description"] == "A whole object."
    assert sorted(schema["properties"]) == ["apiVersion", "data", "kind", "metadata", "spec", "status"]
    assert schema["properties"]["metadata"] == {"type": "object"}
    assert schema["properties"]["spec"]["description"] == "What is wanted."
    assert schema["required"] == ["spec"]
    assert schema["x-kubernetes-validations"] == [{"rule": "self.spec.size < 5", "message": "too large"}]


def test_a_status_is_never_required_and_has_no_default_of_its_own() -> None:
    class Odd(BaseModel):
        spec: Spec = Spec()
        status: Status = Status(phase="Pending")

    class Strict(BaseModel):
        spec: Spec = Spec()
        status: Status

    for model in (Odd, Strict):
        schema = crd(of(model, group="a.example.com", version="v1"))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        assert "required" not in schema
        assert "default" not in schema["properties"]["status"]
        assert schema["properties"]["spec"]["default"] == {"size": 1}


def test_of_accepts_a_spec() -> None:
    class WidgetSpec(BaseModel):
        """A widget."""

        size: int
        kind: Literal["big"] = "big"

    definition = crd(of(WidgetSpec, group="a.example.com", version="v1", scope="Cluster"))
    assert definition["spec"]["names"]["kind"] == "Widget"
    assert definition["spec"]["scope"] == "Cluster"
    (version,) = definition["spec"]["versions"]
    assert version["schema"]["openAPIV3Schema"]["required"] == ["spec"]
    assert version["schema"]["openAPIV3Schema"]["description"] == "A widget."
    assert "subresources" not in version


def test_the_kind_of_a_generic_model_has_no_parameters() -> None:
    class Box(BaseModel, Generic[T]):
        content: T

    assert of(Box[int], group="a.example.com", version="v1").names.kind == "Box"


def test_kind_and_plural_can_be_set() -> None:
    names = of(Spec, group="a.example.com", version="v1", kind="Mouse", plural="mice").names
    assert (names.kind, names.plural, names.singular) == ("Mouse", "mice", "mouse")


@pytest.mark.parametrize(
    "word, plural",
    [
        ("job", "jobs"),
        ("policy", "policies"),
        ("gateway", "gateways"),
        ("class", "classes"),
        ("box", "boxes"),
        ("match", "matches"),
        ("status", "statuses"),
        ("alias", "aliases"),
        ("analysis", "analyses"),
        ("settings", "settings"),
        ("trainingdata", "trainingdata"),
    ],
)
def test_plurals_are_english(word: str, plural: str) -> None:
    assert english_plural(word) == plural
    assert Names(word.capitalize()).plural == plural


@dataclass
class Sized:
    size: int = 1


class Titled(TypedDict):
    title: str


@pytest.mark.parametrize("model, field", [(Sized, "size"), (Titled, "title")])
def test_a_spec_may_be_a_dataclass_or_a_typed_dict(model: type[Any], field: str) -> None:
    definition = crd(of(model, group="example.com", version="v1"))
    assert definition["spec"]["names"]["kind"] == model.__name__
    assert field in root(definition)["properties"]["spec"]["properties"]


class Metadata(BaseModel):
    name: str


class Headless(BaseModel):
    apiVersion: str  # noqa: N815
    kind: Literal["Headless"]
    metadata: Metadata
    size: int


class Loose(BaseModel):
    api_version: Annotated[str, Field(alias="apiVersion")]
    metadata: dict[str, str]
    spec: dict[str, int]


@pytest.mark.parametrize(
    "model, fields", [(Headless, "apiVersion and kind and metadata"), (Loose, "apiVersion and metadata")]
)
def test_a_whole_object_without_a_spec_is_rejected(model: type[BaseModel], fields: str) -> None:
    with pytest.raises(SchemaError, match=f"has {fields}, as a whole object, and no field `spec`") as raised:
        of(model, group="example.com", version="v1")
    assert "then the model is the spec itself" in raised.value.fix
    version = Version("v1", spec=model)  # an explicit `spec` is not checked
    assert root(crd(replace(RESOURCE, versions=(version,))))["required"] == ["spec"]


class Kinds(BaseModel):
    kind: str


def test_a_spec_may_have_a_kind() -> None:
    assert root(crd(of(Kinds, group="example.com", version="v1")))["required"] == ["spec"]


class Pair(BaseModel):
    low: int = 1
    high: int = 2


class Optional(BaseModel):
    low: int | None = None


class Half(Pair):
    middle: int | None = None


class Few(BaseModel):
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    low: int = 1


Ordered = rules(ValidationRule("self.low <= self.high"))(type("Ordered", (Pair,), {"__module__": __name__}))
Shrinking = rules(ValidationRule("self.middle <= oldSelf.middle"))(type("Shrinking", (Half,), {"__module__": __name__}))
Growing = rules(ValidationRule("self.low >= oldSelf.low"))(type("Growing", (Pair,), {"__module__": __name__}))


@pytest.mark.parametrize(
    "case, model, default, required",
    [
        ("all fields have defaults", Pair, {}, False),
        ("no field has a default", Optional, None, False),
        ("a field is required", Needed, None, True),
        ("a rule applies to every spec", Ordered, None, True),
        ("a rule compares with the stored spec", Growing, {"low": 1, "high": 2}, False),
        ("a rule compares a field that may be missing", Shrinking, None, False),
        ("the empty spec is rejected", Few, None, True),
    ],
)
def test_a_spec_with_a_default_for_every_field_has_a_default(
    case: str, model: type[BaseModel], default: Any, required: bool
) -> None:
    definition = crd(of(model, group="example.com", version="v1", kind="Thing"))
    schema = root(definition)
    assert schema["properties"]["spec"].get("default") == default
    assert ("required" in schema) is required
    assert (case == "a rule compares a field that may be missing") is (
        "default-can-be-set" in {finding.rule for finding in lint(definition)}
    )
    stored = Evaluator(schema).default({})
    assert stored == ({} if default is None else {"spec": {"low": 1, "high": 2}})


class Box(BaseModel):
    """A whole object: pydantic rejects it without a spec."""

    spec: Pair


def test_the_spec_of_a_whole_object_is_required_as_in_the_model() -> None:
    schema = root(crd(of(Box, group="example.com", version="v1")))
    assert schema["required"] == ["spec"]
    assert "default" not in schema["properties"]["spec"]


class Numbers(RootModel[list[int]]):
    pass


class NoNumbers(RootModel[list[int]]):
    root: list[int] = []


@pytest.mark.parametrize("model, required", [(Numbers, ["spec"]), (NoNumbers, None)])
def test_a_root_model_without_a_default_is_required(model: type[BaseModel], required: list[str] | None) -> None:
    definition = crd(of(model, group="example.com", version="v1"))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema.get("required") == required

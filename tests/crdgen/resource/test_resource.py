"""What a resource says of itself beyond its models: names, versions, conversion, metadata; and resources of one model."""

import base64
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypedDict

from crdgen import Conversion, CustomResource, Doc, Names, Rule, SchemaError, Service, Version, crd, of, rules
from crdgen.evaluate import Evaluator
from crdgen.lint import lint
from crdgen.resource.resource import english_plural

T = TypeVar("T")

# The beginning of a certificate, which is all that is looked at.
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
    """Return the schema of the whole object, of the one version."""
    (version,) = definition["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def test_versions_are_served_stored_and_deprecated_as_they_say() -> None:
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
    "case, resource, problem, fix",
    [
        ("no domain", replace(RESOURCE, group="example"), "'example' is no API group", "lower-case domain name"),
        ("capitals", replace(RESOURCE, group="A.example.com"), "no API group", "lower-case"),
        ("Kubernetes' own", replace(RESOURCE, group="batch.k8s.io"), "nobody approved", "`unapproved, …`"),
        (
            "approved by whom",
            replace(RESOURCE, group="x.kubernetes.io", api_approved="me"),
            "nobody approved",
            "the URL",
        ),
        ("a kind with a blank", replace(RESOURCE, names=Names("A b")), "the kind 'A b' is no DNS label", "63 letters"),
        ("a generic model's name", replace(RESOURCE, names=Names("Box[int]")), "the kind 'Box[int]'", "63 letters"),
        ("a plural", replace(RESOURCE, names=Names("A", "Things")), "the plural 'Things'", "lower-case"),
        ("a short name", replace(RESOURCE, names=Names("A", short_names=("T",))), "the short name 'T'", "lower-case"),
        ("a category", replace(RESOURCE, names=Names("A", categories=("a_b",))), "the category 'a_b'", "lower-case"),
        ("the list's kind", replace(RESOURCE, names=Names("A", list_kind="A")), "has the same kind", "`AList`"),
        ("a long name", replace(RESOURCE, group="a." + "b" * 63 + ("." + "c" * 60) * 3), "more than 253", "shorten"),
        ("a scope", replace(RESOURCE, scope="Global"), "scope 'Global'", '"Cluster"'),  # type: ignore[arg-type]
        (
            "nothing stored",
            replace(RESOURCE, versions=(replace(ONE, storage=False),)),
            "0 versions are stored",
            "exactly",
        ),
        ("no version", replace(RESOURCE, versions=()), "0 versions are stored (none)", "exactly one"),
        (
            "nothing served",
            replace(RESOURCE, versions=(replace(ONE, served=False),)),
            "no version is served",
            "served=T",
        ),
        (
            "twice",
            replace(RESOURCE, versions=(ONE, replace(ONE, storage=False))),
            "v1 is there 2 times",
            "its own name",
        ),
        ("a version's name", replace(RESOURCE, versions=(replace(ONE, name="1"),)), "'1' is no name", "`v1alpha1`"),
        ("a blank warning", replace(RESOURCE, versions=(replace(ONE, deprecated=" "),)), "is blank", "deprecated=True"),
        ("a long warning", replace(RESOURCE, versions=(replace(ONE, deprecated="ä" * 129),)), "258 bytes", "takes 256"),
        ("two lines", replace(RESOURCE, versions=(replace(ONE, deprecated="a\nb"),)), "holds '\\n'", "printable"),
        ("a label's name", replace(RESOURCE, labels={"a b": ""}), "no name of a label", "`example.com/name`"),
        ("a label's value", replace(RESOURCE, labels={"a": "b c"}), "no value of the label a", "63 letters"),
        ("an annotation", replace(RESOURCE, annotations={"/a": ""}), "no name of an annotation", "`example.com/name`"),
        ("a large one", replace(RESOURCE, annotations={"a": "b" * 262_144}), "have 262145 bytes", "takes 262144"),
    ],
)
def test_what_the_api_server_would_refuse_is_an_error(
    case: str, resource: CustomResource, problem: str, fix: str
) -> None:
    with pytest.raises(SchemaError) as raised:
        crd(resource)
    assert raised.value.path.startswith(resource.names.kind)
    assert problem in raised.value.problem
    assert fix in raised.value.fix


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
    "case, conversion, problem, fix",
    [
        ("nobody", Conversion(), "neither a Service nor a URL", "one of the two"),
        ("both", Conversion(SERVICE, "https://a.b"), "a Service and a URL", "one of the two"),
        ("plain HTTP", Conversion(url="http://a.b"), "no https address", "https://"),
        ("a user", Conversion(url="https://u@a.b"), "has a user", "host, port and path"),
        ("a query", Conversion(url="https://a.b/?c=d"), "has a query", "host, port and path"),
        ("a name", Conversion(replace(SERVICE, name="A")), "'A' is no name of a Service", "lower-case"),
        ("a namespace", Conversion(replace(SERVICE, namespace="")), "'' is no namespace", "lower-case"),
        ("a port", Conversion(replace(SERVICE, port=0)), "0 is no port", "65535"),
        ("a path", Conversion(replace(SERVICE, path="c")), "'c' is no path", "begin it with one slash"),
        ("a part of a path", Conversion(replace(SERVICE, path="/A_b")), "'/A_b' is no path", "lower-case"),
        ("no certificate", Conversion(SERVICE, ca_bundle="MIIB"), "no certificate as PEM", "BEGIN CERTIFICATE"),
        ("a broken one", Conversion(SERVICE, ca_bundle=CA.replace("MIIB", "M!IB")), "no certificate", "PEM text"),
        ("versions of reviews", Conversion(SERVICE, review_versions=("v3",)), "knows none of", '("v1",)'),
    ],
)
def test_a_conversion_that_cannot_be_called_is_refused(
    case: str, conversion: Conversion, problem: str, fix: str
) -> None:
    with pytest.raises(SchemaError) as raised:
        crd(replace(RESOURCE, conversion=conversion))
    assert raised.value.path == "Thing conversion"
    assert problem in raised.value.problem
    assert fix in raised.value.fix


@rules(Rule("self.spec.size < 5", "too large"))
class Whole(BaseModel):
    """A whole object."""

    api_version: Annotated[str, Field(alias="apiVersion")]
    kind: Literal["Gadget"]
    metadata: Any
    spec: Annotated[Needed, Doc("What is wanted.")]
    status: Status | None = None
    data: dict[str, str] = {}


def test_a_whole_object_is_a_resource() -> None:
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


def test_a_spec_is_a_resource() -> None:
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


def test_a_generic_model_gives_its_own_name() -> None:
    class Box(BaseModel, Generic[T]):
        content: T

    assert of(Box[int], group="a.example.com", version="v1").names.kind == "Box"


def test_kind_and_plural_can_be_given() -> None:
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
        ("series", "series"),
        ("trainingdata", "trainingdata"),
    ],
)
def test_a_plural_is_english(word: str, plural: str) -> None:
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
    "model, found", [(Headless, "apiVersion and kind and metadata"), (Loose, "apiVersion and metadata")]
)
def test_a_whole_object_without_a_spec_is_taken_for_no_spec(model: type[BaseModel], found: str) -> None:
    with pytest.raises(SchemaError, match=f"has {found}, as a whole object, and no field `spec`") as raised:
        of(model, group="example.com", version="v1")
    assert "then the model is the spec itself" in raised.value.fix
    version = Version("v1", spec=model)  # who says that it is the spec is believed
    assert root(crd(replace(RESOURCE, versions=(version,))))["required"] == ["spec"]


class Kinds(BaseModel):
    kind: str


def test_a_spec_with_a_kind_is_a_spec() -> None:
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


Ordered = rules(Rule("self.low <= self.high"))(type("Ordered", (Pair,), {"__module__": __name__}))
Shrinking = rules(Rule("self.middle <= oldSelf.middle"))(type("Shrinking", (Half,), {"__module__": __name__}))
Growing = rules(Rule("self.low >= oldSelf.low"))(type("Growing", (Pair,), {"__module__": __name__}))


@pytest.mark.parametrize(
    "case, model, default, required",
    [
        ("all fields have defaults", Pair, {}, False),
        ("there is nothing to default", Optional, None, False),
        ("a field is required", Needed, None, True),
        ("a rule is to hold of every spec", Ordered, None, True),
        ("a rule compares with the stored spec", Growing, {"low": 1, "high": 2}, False),
        ("it compares what may be missing", Shrinking, None, False),
        ("the empty spec is refused", Few, None, True),
    ],
)
def test_a_spec_of_defaults_has_one_itself(case: str, model: type[BaseModel], default: Any, required: bool) -> None:
    definition = crd(of(model, group="example.com", version="v1", kind="Thing"))
    schema = root(definition)
    assert schema["properties"]["spec"].get("default") == default
    assert ("required" in schema) is required
    assert (case == "it compares what may be missing") is (
        "default-can-be-set" in {finding.rule for finding in lint(definition)}
    )
    stored = Evaluator(schema).default({})
    assert stored == ({} if default is None else {"spec": {"low": 1, "high": 2}})


class Box(BaseModel):
    """A whole object, which pydantic refuses without a spec."""

    spec: Pair


def test_the_spec_of_a_whole_object_is_required_as_the_model_says() -> None:
    schema = root(crd(of(Box, group="example.com", version="v1")))
    assert schema["required"] == ["spec"]
    assert "default" not in schema["properties"]["spec"]


class Numbers(RootModel[list[int]]):
    pass


class NoNumbers(RootModel[list[int]]):
    root: list[int] = []


@pytest.mark.parametrize("model, required", [(Numbers, ["spec"]), (NoNumbers, None)])
def test_a_root_model_is_not_made_of_nothing(model: type[BaseModel], required: list[str] | None) -> None:
    definition = crd(of(model, group="example.com", version="v1"))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema.get("required") == required

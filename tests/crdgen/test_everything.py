"""A CRD with every feature at once: a real API server accepts it, and every feature works."""

import secrets
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from crdgen import (
    Atomic,
    AtomicMap,
    Column,
    Conversion,
    CustomResource,
    Descriptions,
    Doc,
    EmbeddedResource,
    GranularMap,
    Immutable,
    ImmutableOnceSet,
    IntOrString,
    MapList,
    Names,
    PreserveUnknown,
    Quantity,
    Scale,
    Service,
    SetList,
    Time,
    ValidationRule,
    Version,
    Volumes,
    at_least_one_of,
    at_most_one_of,
    crd,
    exactly_one_of,
    pod_template,
    rules,
)
from crdgen.podtemplate import MINORS, load

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STRICT = {"dryRun": "All", "fieldValidation": "Strict"}
GROUP = "everything.example.com"


class Limits(BaseModel):
    """Resource limits. A second sentence that nobody wants to read in a cluster."""

    cpu: Annotated[Quantity, Doc("Cores.")] = "1"
    memory: Quantity | None = None


class Port(BaseModel):
    name: Annotated[str, Field(max_length=15), ValidationRule("self != 'http'", "has another port already")]
    number: Annotated[int, ValidationRule("self == oldSelf", "is bound")] = 80


@rules(
    ValidationRule(
        "self.replicas <= self.most",
        message="more replicas than may be",
        message_expression="'more replicas than may be in queue ' + self.queue",  # a number's text would cost too much
        reason="FieldValueForbidden",
        field_path=".replicas",
    ),
    ValidationRule(
        "!has(self.labels) || !('example.com/off' in self.labels)",
        "is switched off",
        field_path=".labels['example.com/off']",
    ),
    ValidationRule("!has(self.x__dash__ray) || self.x__dash__ray != 'no'", "no such ray", field_path="['x-ray']"),
    ValidationRule("oldSelf.hasValue() || self.replicas < 9", "start small", optional_old_self=True),
    exactly_one_of("image", "build", "x-ray"),
    at_most_one_of("first", "namespace"),
    at_least_one_of("first", "namespace", "labels"),
)
class Spec(BaseModel):
    """A thing that runs."""

    replicas: Annotated[int, Field(ge=0, le=100)] = 1
    most: int = 10
    image: Annotated[str | None, Field(max_length=100)] = None
    build: str | None = None
    x_ray: Annotated[str | None, Field(alias="x-ray", max_length=10), ImmutableOnceSet] = None
    first: str | None = None
    namespace: Annotated[str | None, Immutable] = None
    labels: Annotated[dict[str, str] | None, Field(max_length=5), GranularMap] = None
    queue: Annotated[str, Field(max_length=63), Immutable] = "default"
    urgent: bool = False
    limits: Annotated[Limits, AtomicMap, Descriptions("drop"), Doc("Resource limits.")] = Limits()
    ports: Annotated[list[Port], MapList("name"), Field(max_length=9)] = []
    names: Annotated[list[str], SetList] = []
    args: Annotated[list[str], Atomic] = []
    port: IntOrString | None = None
    since: Time | None = None
    seed: Annotated[dict[str, Any] | None, EmbeddedResource] = None
    free: Annotated[dict[str, Any] | None, PreserveUnknown] = None
    template: Annotated[dict[str, Any] | None, pod_template("1.30")] = None
    volumes: Volumes | None = None


class Status(BaseModel):
    replicas: int = 0
    selector: str | None = None
    phase: str | None = None
    conditions: list[dict[str, str]] = []


def everything(suffix: str, conversion: Conversion | None = None) -> CustomResource:
    """Return the resource; the suffix makes its names unique."""
    columns = (
        Column("Replicas", ".spec.replicas", description="How many are wanted."),
        Column("Phase", ".status.phase"),
        Column("Ready", ".status.conditions[?(@.type=='Ready')].status", type="string", priority=1),
        Column("Age", ".metadata.creationTimestamp"),
    )
    new = Version(
        "v2",
        Spec,
        Status,
        columns,
        scale=Scale(selector=".status.selector"),
        selectable=(".spec.queue", ".spec.urgent", ".spec.replicas"),
        rules=(ValidationRule("self.metadata.name != 'forbidden'", "no object has this name"),),
    )
    old = Version("v1", Spec, Status, storage=False, deprecated=f"{GROUP}/v1 goes away; write v2")
    gone = Version(
        "v1alpha1", Spec, Status, served=False, storage=False, deprecated=True, descriptions=Descriptions(20)
    )
    return CustomResource(
        group=GROUP,
        names=Names(f"Thing{suffix}", short_names=(f"th{suffix}",), categories=("everything",)),
        versions=(new, old, gone),
        labels={"app.kubernetes.io/part-of": "zoo"},
        annotations={"example.com/made-by": "crdgen"},
        conversion=conversion,
    )


@pytest.mark.parametrize(
    "conversion",
    [
        Conversion(service=Service("convert", "default", path="/convert/things", port=8443)),
        Conversion(url="https://convert.example.com:8443/things", review_versions=("v1", "v1beta1")),
    ],
    ids=["service", "url"],
)
def test_the_api_server_accepts_a_conversion(cluster_api: ClusterApi, conversion: Conversion) -> None:
    definition = crd(everything("x", conversion))
    status, answer = cluster_api.post(CRDS, definition, STRICT)
    assert status == 201, answer.get("message")
    assert answer["spec"]["conversion"]["webhook"] == definition["spec"]["conversion"]["webhook"]


def test_the_api_server_accepts_an_approved_kubernetes_group(cluster_api: ClusterApi) -> None:
    resource = CustomResource(
        "crdgen.k8s.io", Names("Thing"), (Version("v1", Limits),), api_approved="unapproved, a test"
    )
    assert cluster_api.post(CRDS, crd(resource), STRICT)[0] == 201


def test_the_api_server_accepts_the_pod_templates_of_all_minors(cluster_api: ClusterApi) -> None:
    for minor in MINORS:
        # All types of the minor go into one schema: the rules apply to each of them.
        definition = crd(CustomResource(GROUP, Names("Template"), (Version("v1", Limits),)))
        (version,) = definition["spec"]["versions"]
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object", "properties": dict(load(minor))}
        status, answer = cluster_api.post(CRDS, definition, STRICT)
        assert status == 201, (minor, answer.get("message"))


class Things:
    """The kind on the API server."""

    def __init__(self, api: ClusterApi) -> None:
        self.api = api
        definition = crd(everything(secrets.token_hex(3)))
        self.name = definition["metadata"]["name"]
        self.kind = definition["spec"]["names"]["kind"]
        self.plural = definition["spec"]["names"]["plural"]
        status, answer = api.post(CRDS, definition, {"fieldValidation": "Strict"})
        assert status == 201, answer.get("message")
        wait_for(lambda: api.get(self.path())[0] == 200, what=f"{self.plural} are served")

    def path(self, name: str = "", version: str = "v2") -> str:
        return f"/apis/{GROUP}/{version}/namespaces/default/{self.plural}/{name}".rstrip("/")

    def create(self, name: str, spec: dict[str, Any], dry: bool = False) -> tuple[int, dict[str, Any]]:
        fields = {"image": "busybox", "first": "a"} | spec
        body = {
            "apiVersion": f"{GROUP}/v2",
            "kind": self.kind,
            "metadata": {"name": name},
            "spec": {key: value for key, value in fields.items() if value is not None},
        }
        return self.api.post(self.path(), body, STRICT if dry else {"fieldValidation": "Strict"})

    def change(self, name: str, spec: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return self.api.patch(self.path(name), {"spec": spec}, {"dryRun": "All"})


@pytest.fixture(scope="module")
def things(cluster_api: ClusterApi) -> Iterator[Things]:
    served = Things(cluster_api)
    yield served
    cluster_api.delete(f"{CRDS}/{served.name}")


def causes(answer: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (cause["reason"], cause.get("field", ""), cause["message"])
        for cause in answer.get("details", {}).get("causes", [])
    ]


@pytest.mark.parametrize(
    "case, spec, reason, field, message",
    [
        (
            "an expression as message",
            {"replicas": 11},
            "FieldValueForbidden",
            "spec.replicas",
            "more replicas than may be in queue default",
        ),
        (
            "a path into a map",
            {"labels": {"example.com/off": ""}},
            "FieldValueInvalid",
            "spec.labels[example.com/off]",
            "is switched off",
        ),
        ("an escaped name", {"image": None, "x-ray": "no"}, "FieldValueInvalid", "spec.x-ray", "no such ray"),
        ("a rule with an optional oldSelf", {"replicas": 9}, "FieldValueInvalid", "spec", "start small"),
        (
            "two of exactly one",
            {"build": "."},
            "FieldValueInvalid",
            "spec",
            "exactly one of image, build, x-ray must be set",
        ),
        (
            "none of exactly one",
            {"image": None},
            "FieldValueInvalid",
            "spec",
            "exactly one of image, build, x-ray must be set",
        ),
        (
            "two of at most one",
            {"namespace": "b"},
            "FieldValueInvalid",
            "spec",
            "at most one of first, namespace may be set",
        ),
        (
            "none of at least one",
            {"first": None},
            "FieldValueInvalid",
            "spec",
            "at least one of first, namespace, labels must be set",
        ),
        (
            "a rule on an item's field",
            {"ports": [{"name": "http"}]},
            "FieldValueInvalid",
            "spec.ports[0].name",
            "has another port already",
        ),
        (
            "an embedded object without a kind",
            {"seed": {"apiVersion": "v1"}},
            "FieldValueRequired",
            "spec.seed.kind",
            "",
        ),
        ("the items of a set", {"names": ["a", "a"]}, "FieldValueDuplicate", "spec.names[1]", ""),
    ],
)
def test_a_rule_rejects_with_its_message(
    things: Things, case: str, spec: dict[str, Any], reason: str, field: str, message: str
) -> None:
    status, answer = things.create("one", spec, dry=True)
    assert status == 422, answer
    assert any(cause[:2] == (reason, field) and message in cause[2] for cause in causes(answer)), causes(answer)


def test_a_rule_on_the_whole_object_sees_its_name(things: Things) -> None:
    status, answer = things.create("forbidden", {}, dry=True)
    assert status == 422
    assert "no object has this name" in answer["message"]


def test_immutable_fields_cannot_change(things: Things) -> None:
    assert things.create("fixed", {"queue": "a", "ports": [{"name": "a"}], "labels": {"a": "b"}})[0] == 201
    changes: list[tuple[dict[str, Any], str]] = [
        ({"queue": "b"}, "is immutable"),
        ({"queue": None}, "is immutable"),
        ({"first": None, "namespace": "b"}, "is immutable: it can be neither added nor removed"),
        ({"ports": [{"name": "a", "number": 81}]}, "is bound"),
    ]
    for spec, message in changes:
        status, answer = things.change("fixed", spec)
        assert status == 422, (spec, answer)
        assert message in answer["message"]
    assert things.change("fixed", {"ports": [{"name": "b", "number": 81}], "replicas": 9})[0] == 200


def test_a_field_that_is_immutable_once_set_can_be_set_once(things: Things) -> None:
    assert things.create("later", {})[0] == 201
    patched = {"spec": {"image": None, "x-ray": "a"}}
    assert things.api.patch(things.path("later"), patched)[0] == 200
    changes: list[tuple[dict[str, Any], str]] = [
        ({"x-ray": "b"}, "cannot change once it is set"),
        ({"x-ray": None, "image": "a"}, "cannot be removed once it is set"),
    ]
    for spec, message in changes:
        status, answer = things.change("later", spec)
        assert status == 422, (spec, answer)
        assert message in answer["message"]
    assert things.change("later", {"x-ray": "a", "replicas": 2})[0] == 200


def test_scale_reads_and_writes_the_replicas(things: Things) -> None:
    assert things.create("scaled", {})[0] == 201
    body = {"status": {"replicas": 1, "selector": "a=b"}}
    assert things.api.patch(things.path("scaled") + "/status", body)[0] == 200
    status, scale = things.api.patch(things.path("scaled") + "/scale", {"spec": {"replicas": 3}})
    assert (status, scale["spec"], scale["status"]) == (200, {"replicas": 3}, {"replicas": 1, "selector": "a=b"})
    assert things.api.get(things.path("scaled"))[1]["spec"]["replicas"] == 3


def test_a_selectable_field_selects(things: Things) -> None:
    specs: dict[str, dict[str, Any]] = {"red": {"queue": "red", "urgent": True}, "blue": {"queue": "blue"}}
    for name, spec in specs.items():
        assert things.create(name, spec)[0] == 201
    for selector, names in [("spec.queue=red", ["red"]), ("spec.queue=blue,spec.urgent=false", ["blue"])]:
        status, answer = things.api.get(things.path(), {"fieldSelector": selector})
        assert status == 200, answer
        assert [item["metadata"]["name"] for item in answer["items"]] == names


def test_a_deprecated_version_warns_and_columns_are_printed(controlplane: ControlPlane, things: Things) -> None:
    assert things.create("printed", {"replicas": 4})[0] == 201
    old = controlplane.kubectl("get", f"{things.plural}.v1.{GROUP}", "printed")
    assert f"Warning: {GROUP}/v1 goes away; write v2" in old.stderr
    new = controlplane.kubectl("get", f"{things.plural}.v2.{GROUP}", "printed", "--output=wide")
    assert "Warning" not in new.stderr
    heading, row = (line.split() for line in new.stdout.splitlines())
    assert (heading, row[:2]) == (["NAME", "REPLICAS", "PHASE", "READY", "AGE"], ["printed", "4"])

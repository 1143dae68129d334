"""Models write computed fields, but do not read them: a status has them, a spec does not."""

import secrets
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field
from pydantic.dataclasses import dataclass

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen import CustomResource, Model, Names, SchemaError, Version, crd, of, structural_schema

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STRICT = {"fieldValidation": "Strict"}


class Replicas(Model):
    ready_now: int = 0
    wanted: int = 1

    @computed_field(description="How many are not ready yet.")  # type: ignore[prop-decorator]
    @property
    def still_missing(self) -> int:
        return self.wanted - self.ready_now


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    size: int = 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def area(self) -> int:
        return self.size**2


@dataclass
class Span:
    start: int
    end: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def length(self) -> int:
        return self.end - self.start


class Spec(BaseModel):
    replicas: Replicas = Replicas()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def owner(self) -> "Spec | None":
        """A spec within itself, which would be an error if it were declared."""
        return None


class Status(BaseModel):
    learners: Replicas
    tasks: dict[str, Replicas] = {}
    spans: list[Span] = []
    closed: Closed = Closed()

    @computed_field(alias="isDone")  # type: ignore[prop-decorator]
    @property
    def done(self) -> bool:
        return self.worst is None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def worst(self) -> Replicas | None:
        return max(self.tasks.values(), key=lambda replicas: replicas.still_missing, default=None)


class Whole(BaseModel):
    spec: Spec
    status: Annotated[Status | None, Field(description="What became of it.")] = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def age(self) -> int:
        return 1


PARTS = CustomResource("computed.example.com", Names("Whole"), (Version("v1", Spec, Status),))
WRITTEN = Status(
    learners=Replicas(), tasks={"a": Replicas(readyNow=1, wanted=3), "b": Replicas()}, spans=[Span(1, 3)]
).model_dump(mode="json", by_alias=True)


def properties(resource: CustomResource) -> dict[str, Any]:
    result: dict[str, Any] = crd(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return result


@pytest.mark.parametrize("resource", [PARTS, of(Whole, group="a.example.com", version="v1")], ids=["parts", "whole"])
def test_a_status_declares_computed_fields(resource: CustomResource) -> None:
    fields = properties(resource)
    assert set(fields) == {"apiVersion", "kind", "metadata", "spec", "status"}
    status = fields["status"]["properties"]
    missing = {"type": "integer", "format": "int64", "description": "How many are not ready yet."}
    assert status["isDone"] == {"type": "boolean"}
    assert status["learners"]["properties"]["stillMissing"] == missing
    assert status["tasks"]["additionalProperties"]["properties"]["stillMissing"] == missing
    assert status["worst"]["nullable"] is True
    assert "length" in status["spans"]["items"]["properties"]
    assert fields["status"]["required"] == ["learners"]


@pytest.mark.parametrize("resource", [PARTS, of(Whole, group="a.example.com", version="v1")], ids=["parts", "whole"])
def test_a_spec_has_no_computed_fields(resource: CustomResource) -> None:
    spec = properties(resource)["spec"]["properties"]
    assert set(spec) == {"replicas"}
    assert set(spec["replicas"]["properties"]) == {"readyNow", "wanted"}


def test_a_model_that_rejects_unknown_fields_has_no_computed_fields() -> None:
    closed = properties(PARTS)["status"]["properties"]["closed"]
    assert set(closed["properties"]) == {"size"}
    assert Status.model_validate(WRITTEN | {"closed": {"size": 1}}).closed == Closed()


def test_a_schema_has_computed_fields_on_request() -> None:
    assert "stillMissing" not in structural_schema(Replicas)["properties"]
    assert "stillMissing" in structural_schema(Replicas, computed=True)["properties"]


def test_a_computed_field_without_a_json_form_is_only_an_error_in_a_status() -> None:
    class Odd(BaseModel):
        size: int = 1

        @computed_field  # type: ignore[prop-decorator]
        @property
        def kind(self) -> type[int]:
            return int

    assert properties(CustomResource("a.example.com", Names("Odd"), (Version("v1", Odd),)))["spec"]
    with pytest.raises(SchemaError, match=r"^Odd\.status\.kind: a class has no form in JSON"):
        crd(CustomResource("a.example.com", Names("Odd"), (Version("v1", Odd, Odd),)))


def test_an_api_server_keeps_the_whole_status(cluster_api: ClusterApi) -> None:
    name = f"computed{secrets.token_hex(3)}"
    names = Names(kind=name.capitalize(), plural=name, singular=name)
    definition = crd(CustomResource("computed.example.com", names, PARTS.versions))
    status, answer = cluster_api.post(CRDS, definition, STRICT)
    assert status == 201, answer.get("message")
    path = f"/apis/computed.example.com/v1/namespaces/default/{name}"
    try:
        wait_for(lambda: cluster_api.get(path)[0] == 200, what=f"{name} is served")
        body: dict[str, Any] = {
            "apiVersion": "computed.example.com/v1",
            "kind": definition["spec"]["names"]["kind"],
            "metadata": {"name": "one", "namespace": "default"},
            "spec": {},
        }
        status, created = cluster_api.post(path, body, STRICT)
        assert status == 201, created.get("message")
        status, stored = cluster_api.put(f"{path}/one/status", created | {"status": WRITTEN})
        assert status == 200, stored.get("message")
        # Computed fields of a model that rejects unknown fields are pruned, so that it can read the rest.
        assert stored["status"] == WRITTEN | {"closed": {"size": 1}}
        assert Status.model_validate(stored["status"]).done is False
    finally:
        cluster_api.delete(f"{CRDS}/{name}.computed.example.com")

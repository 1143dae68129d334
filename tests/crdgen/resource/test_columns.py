"""Printer columns, scale and selectable fields: their paths must lead to declared fields."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from crdgen import (
    Column,
    CustomResource,
    IntOrString,
    Names,
    PreserveUnknown,
    Quantity,
    Scale,
    SchemaError,
    Time,
    Version,
    crd,
)


class Condition(BaseModel):
    type: str
    since: Time | None = None


class More(BaseModel):
    m0: str = ""
    m1: str = ""
    m2: str = ""
    m3: str = ""
    m4: str = ""
    m5: str = ""
    m6: str = ""


class Spec(BaseModel):
    more: More = More()
    replicas: int = 1
    ratio: float = 0.5
    on: bool = True
    name: str = "a"
    port: IntOrString = 80
    memory: Quantity = "1Gi"
    limits: dict[str, int] = {}
    free: Annotated[dict[str, Any], PreserveUnknown] = {}
    parts: list[Condition] = []
    odd: Annotated[str, Field(alias="odd.name")] = ""


class Status(BaseModel):
    replicas: int = 0
    phase: str | None = None
    selector: str | None = None
    since: Time | None = None
    conditions: list[Condition] = []


def version_json(**options: Any) -> dict[str, Any]:
    resource = CustomResource("a.example.com", Names("Thing"), (Version("v1", Spec, Status, **options),))
    version: dict[str, Any]
    (version,) = crd(resource)["spec"]["versions"]
    return version


@pytest.mark.parametrize(
    "path, kind",
    [
        (".spec.replicas", "integer"),
        (".spec.ratio", "number"),
        (".spec.on", "boolean"),
        (".spec.name", "string"),
        (".spec.port", "string"),
        (".spec.memory", "string"),
        (".spec.limits.cpu", "integer"),
        (".spec.limits['nvidia.com/gpu']", "integer"),
        (".spec.limits.nvidia\\.com/gpu", "integer"),
        (".spec.parts[0].type", "string"),
        (".spec.parts[*].type", "string"),
        (".spec.odd\\.name", "string"),
        (".status.conditions[-1:].since", "date"),
        (".status.conditions[?(@.type=='Ready')].type", "string"),
        (".status.since", "date"),
        (".metadata.creationTimestamp", "date"),
        (".metadata.labels['a/b']", "string"),
        (".metadata.generation", "integer"),
        (".kind", "string"),
    ],
)
def test_a_column_has_the_type_of_its_field(path: str, kind: str) -> None:
    (column,) = version_json(columns=(Column("Name", path),))["additionalPrinterColumns"]
    assert column == {"name": "Name", "jsonPath": path, "type": kind}


@pytest.mark.parametrize(
    "path, kind",
    [
        (".spec.free.what.ever", "integer"),
        (".spec.parts", "string"),
        (".spec.replicas", "number"),
        (".spec.name", "date"),
        (".metadata.ownerReferences[0].name", "string"),
    ],
)
def test_a_column_accepts_another_type_that_prints_its_field(path: str, kind: Any) -> None:
    (column,) = version_json(columns=(Column("Name", path, type=kind),))["additionalPrinterColumns"]
    assert column["type"] == kind


def test_a_column_has_optional_fields() -> None:
    column = Column("Since", ".status.since", description="When.", priority=1, format="date-time")
    assert version_json(columns=(column,))["additionalPrinterColumns"] == [
        {
            "name": "Since",
            "jsonPath": ".status.since",
            "type": "date",
            "description": "When.",
            "priority": 1,
            "format": "date-time",
        }
    ]


@pytest.mark.parametrize(
    "column, words",
    [
        (Column("A", ".status.phse"), "leads to phse, which is not declared: did you mean phase?"),
        (Column("A", ".stats.phase"), "did you mean status?"),
        (Column("A", ".status.zzz"), "declared are conditions, phase, replicas, selector, since"),
        (Column("A", ".status.zzz", type="string"), "which is not declared"),
        (Column("A", ".metadata.label"), "did you mean labels?"),
        (Column("A", ".spec.parts.type"), "has a list before type: write the index"),
        (Column("A", ".spec.name[0]"), "takes an item of what is no list: [0]"),
        (Column("A", ".spec.parts"), "the column has no type; set type to one of boolean"),
        (Column("A", ".spec.free.x"), "the column has no type"),
        (Column("A", "status.phase"), "must begin with a dot"),
        (Column("A", ".spec.parts[0.type"), "cannot be read from [0.type on"),
        (Column("A", ".status.phase", type="integer"), "is of type string, which a column of type integer never"),
        (Column("A", ".spec.replicas", type="date"), "is of type integer, which a column of type date never prints"),
        (Column("A", ".spec.name", type="text"), "no column type 'text'; set type to one of boolean"),  # type: ignore[arg-type]
        (Column("A", ".spec.name", format="uuid"), "no column format 'uuid'; set format to one of byte"),
        (Column("", ".spec.name"), "the column has no name"),
    ],
)
def test_a_column_that_would_print_nothing_is_rejected(column: Column, words: str) -> None:
    with pytest.raises(SchemaError) as raised:
        version_json(columns=(column,))
    (fault,) = raised.value.errors
    assert fault.path.startswith("Thing spec.versions[0].additionalPrinterColumns[0].")
    assert words in str(fault)


def test_scale_has_the_paths_of_its_fields() -> None:
    assert version_json(scale=Scale(selector=".status.selector"))["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }


@pytest.mark.parametrize(
    "scale, field, words",
    [
        (Scale(".spec.replica"), "specReplicasPath", "did you mean replicas?"),
        (Scale(".status.replicas"), "specReplicasPath", "must begin with .spec."),
        (Scale("spec.replicas"), "specReplicasPath", "must begin with .spec."),
        (Scale(".spec.name"), "specReplicasPath", ".spec.name is string, and must be integer"),
        (Scale(".spec.parts[0].type"), "specReplicasPath", "must be names after dots"),
        (Scale(status_replicas=".spec.replicas"), "statusReplicasPath", "must begin with .status."),
        (Scale(status_replicas=".status.phase"), "statusReplicasPath", "is string, and must be integer"),
        (Scale(selector=".status.replicas"), "labelSelectorPath", "is integer, and must be string"),
        (Scale(selector=".metadata.name"), "labelSelectorPath", "must begin with .spec. or .status."),
    ],
)
def test_scale_rejects_wrong_paths(scale: Scale, field: str, words: str) -> None:
    with pytest.raises(SchemaError) as raised:
        version_json(scale=scale)
    assert raised.value.path == f"Thing spec.versions[0].subresources.scale.{field}"
    assert words in raised.value.problem


def test_scale_without_a_status_is_rejected() -> None:
    resource = CustomResource("a.example.com", Names("Thing"), (Version("v1", Spec, scale=Scale()),))
    with pytest.raises(SchemaError, match=r"\.status\.replicas leads to status, which is not declared"):
        crd(resource)


def test_selectable_fields_are_listed() -> None:
    fields = (".spec.name", ".spec.on", ".status.replicas")
    assert version_json(selectable=fields)["selectableFields"] == [{"jsonPath": field} for field in fields]


@pytest.mark.parametrize(
    "fields, words",
    [
        ((".spec.nme",), "did you mean name?"),
        ((".spec.ratio",), "must be a boolean, integer, string"),
        ((".spec.parts",), "must be a boolean, integer, string"),
        ((".spec.parts[0].type",), "cannot be read from [0]"),
        ((".metadata.labels",), "leads to labels"),
        ((".spec.name", ".spec.name"), "is there twice"),
        ((".spec.name", ".spec.on", *(f".spec.more.m{n}" for n in range(7))), "8 is the most"),
    ],
)
def test_a_field_that_cannot_be_selected_is_rejected(fields: tuple[str, ...], words: str) -> None:
    with pytest.raises(SchemaError) as raised:
        version_json(selectable=fields)
    assert raised.value.path.startswith("Thing spec.versions[0].selectableFields")
    assert words in raised.value.problem

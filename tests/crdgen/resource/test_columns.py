"""Printer columns, scale and selectable fields: paths are followed through the schema, and must be there."""

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


class Spec(BaseModel):
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


def versioned(**options: Any) -> dict[str, Any]:
    resource = CustomResource("a.example.com", Names("Thing"), (Version("v1", Spec, Status, **options),))
    (version,) = crd(resource)["spec"]["versions"]
    found: dict[str, Any] = version
    return found


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
    (column,) = versioned(columns=(Column("Name", path),))["additionalPrinterColumns"]
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
def test_a_column_takes_a_type_that_its_field_can_be_printed_as(path: str, kind: Any) -> None:
    (column,) = versioned(columns=(Column("Name", path, type=kind),))["additionalPrinterColumns"]
    assert column["type"] == kind


def test_a_column_says_more_where_it_is_asked_to() -> None:
    column = Column("Since", ".status.since", description="When.", priority=1, format="date-time")
    assert versioned(columns=(column,))["additionalPrinterColumns"] == [
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
    "column, problem, fix",
    [
        (Column("A", ".status.phse"), ".status.phse names no field", "write `phase` for `phse`"),
        (Column("A", ".stats.phase"), "names no field", "write `status` for `stats`"),
        (Column("A", ".status.zzz"), "names no field", "use one of: conditions, phase, replicas, selector, since"),
        (Column("A", ".status.zzz", type="string"), "names no field", "use one of"),
        (Column("A", ".metadata.label"), "names no field", "write `labels`"),
        (Column("A", ".spec.parts.type"), "before `type` there is a list", "needs its index"),
        (Column("A", ".spec.name[0]"), "takes an item of what is no list", "drop `[0]`"),
        (Column("A", ".spec.parts"), "is no scalar", "a path to a scalar"),
        (Column("A", ".spec.free.x"), "cannot be told", "give the column a type"),
        (Column("A", "status.phase"), "does not begin with a dot", "`.status.phase`"),
        (Column("A", ".spec.parts[0.type"), "cannot be read from", "write it as"),
        (Column("A", ".status.phase", type="integer"), "of type string, which is never printed as integer", "`string`"),
        (
            Column("A", ".spec.replicas", type="date"),
            "of type integer, which is never printed as date",
            "leave the type",
        ),
        (Column("A", ".spec.name", type="text"), "text is no column type", "use one of: integer"),  # type: ignore[arg-type]
        (Column("A", ".spec.name", format="uuid"), "uuid is no format", "use one of: byte"),
        (Column("", ".spec.name"), "has no name", "give it a heading"),
    ],
)
def test_a_column_that_would_print_nothing_is_refused(column: Column, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        versioned(columns=(column,))
    assert raised.value.path == f"Thing column {column.name}"
    assert problem in raised.value.problem
    assert fix in raised.value.fix


def test_scale_names_its_fields() -> None:
    assert versioned(scale=Scale(selector=".status.selector"))["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }


@pytest.mark.parametrize(
    "scale, at, problem, fix",
    [
        (Scale(".spec.replica"), "replicas", "names no field", "write `replicas` for `replica`"),
        (Scale(".status.replicas"), "replicas", "is not under `.spec`", "write it as `.spec.replicas`"),
        (Scale("spec.replicas"), "replicas", "is not under `.spec`", "write it as `.spec.replicas`"),
        (Scale(".spec.name"), "replicas", "is of type string", "type integer"),
        (Scale(".spec.parts[0].type"), "replicas", "no path of names and dots", "without indexes"),
        (Scale(status_replicas=".spec.replicas"), "status_replicas", "is not under `.status`", "`.status.replicas`"),
        (Scale(status_replicas=".status.phase"), "status_replicas", "is of type string", "type integer"),
        (Scale(selector=".status.replicas"), "selector", "is of type integer", "type string"),
        (Scale(selector=".metadata.name"), "selector", "is not under `.status` or `.spec`", ""),
    ],
)
def test_scale_reads_numbers_that_are_there(scale: Scale, at: str, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        versioned(scale=scale)
    assert raised.value.path == f"Thing scale {at}"
    assert problem in raised.value.problem
    assert fix in raised.value.fix


def test_scale_without_a_status_is_refused() -> None:
    resource = CustomResource("a.example.com", Names("Thing"), (Version("v1", Spec, scale=Scale()),))
    with pytest.raises(SchemaError, match=r"\.status\.replicas names no field"):
        crd(resource)


def test_selectable_fields_are_listed() -> None:
    fields = (".spec.name", ".spec.on", ".status.replicas")
    assert versioned(selectable=fields)["selectableFields"] == [{"jsonPath": field} for field in fields]


@pytest.mark.parametrize(
    "fields, path, problem, fix",
    [
        ((".spec.nme",), "Thing selectable field .spec.nme", "names no field", "write `name`"),
        ((".spec.ratio",), "Thing selectable field .spec.ratio", "is of type number", "boolean, integer, string"),
        ((".spec.parts",), "Thing selectable field .spec.parts", "is of type array", "boolean, integer, string"),
        ((".spec.limits.cpu",), "Thing selectable field .spec.limits.cpu", "names no field", ""),
        ((".spec.parts[0].type",), "Thing selectable field .spec.parts[0].type", "no path of names", "without indexes"),
        ((".metadata.labels",), "Thing selectable field .metadata.labels", "is in metadata", "use labels"),
        ((".spec.name", ".spec.name"), "Thing selectable field .spec.name", "is there twice", "drop one"),
        (tuple(".spec.name" for _ in range(9)), "Thing", "9 fields are selectable", "the API server takes 8"),
    ],
)
def test_a_field_that_cannot_be_selected_is_refused(fields: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        versioned(selectable=fields)
    assert raised.value.path == path
    assert problem in raised.value.problem
    assert fix in raised.value.fix

"""What cannot be structural is an error that names the field and the fix."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from crdgen import (
    Atomic,
    Column,
    CustomResource,
    Int32,
    MapList,
    MinItems,
    Model,
    Names,
    PreserveUnknown,
    SchemaError,
    SetList,
    Version,
    crd,
    structural_schema,
)


class Part(Model):
    name: str | None = None
    replicas: Annotated[str, Int32(minimum=1)] = "1"


class Node(Model):
    children: list["Node"] = Field(default_factory=list)


class Outer(Model):
    node: Node


def field(annotation: Any, **options: Any) -> type[BaseModel]:
    """Return a model with one field, `value`."""
    return type("Spec", (Model,), {"__annotations__": {"value": annotation}, "__module__": __name__, **options})


@pytest.mark.parametrize(
    "case, model, path, problem, fix",
    [
        (
            "a bound on a string",
            field(list[Part]),
            "Spec.value[].replicas",
            "Int32 is for integers",
            "annotate an `int`",
        ),
        ("a cycle", Outer, "Outer.node.children[]", "Node → Node", "cut the cycle"),
        ("a union of two types", field(int | list[str]), "Spec.value", "a union (integer | array)", "use one type"),
        (
            "a union of models",
            field(dict[str, Node | Part]),
            "Spec.value.*.children[]",
            "contains itself",
            "cut the cycle",
        ),
        (
            "a factory",
            field(int, value=Field(default_factory=lambda: 1)),
            "Spec.value",
            "default_factory",
            "plain default",
        ),
        ("a mixed tuple", field(tuple[int, str]), "Spec.value", "prefixItems", "a model with one field"),
        ("an ISO duration", field(timedelta), "Spec.value", "ISO 8601", "`30s`"),
        (
            "an enum or null",
            field(Literal["a"] | None),
            "Spec.value",
            "null for no enum",
            "make None the field's default",
        ),
        ("bytes", field(bytes), "Spec.value", "base64", "`format: byte`"),
        ("a callable", field(Callable[[], None]), "Spec", "", "JSON can carry"),
        (
            "too large a bound",
            field(Annotated[int, Int32(maximum=2**40)]),
            "Spec.value",
            "cannot hold",
            "use a bound from",
        ),
        (
            "MinItems on text",
            field(Annotated[str, MinItems(1)]),
            "Spec.value",
            "MinItems is for arrays",
            "annotate a list",
        ),
        (
            "Atomic on an object",
            field(Annotated[dict[str, int], Atomic]),
            "Spec.value",
            "Atomic is for",
            "annotate a list",
        ),
        ("a set of models", field(Annotated[list[Part], SetList]), "Spec.value[].replicas", "Int32", "annotate"),
        ("a set of lists", field(Annotated[list[list[int]], SetList]), "Spec.value", "lists of scalars", "MapList"),
        ("an unknown key", field(Annotated[list[Part], MapList("id")]), "Spec.value[].replicas", "Int32", "annotate"),
        ("no key", field(Annotated[list[dict[str, int]], MapList()]), "Spec.value", "MapList has no key", "name the"),
        ("an open int-or-string", field(Annotated[int | str, PreserveUnknown]), "Spec.value", "exclude", "drop one"),
    ],
)
def test_an_error_names_the_field_and_the_fix(
    case: str, model: type[BaseModel], path: str, problem: str, fix: str
) -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(model)
    assert raised.value.path == path
    assert problem in raised.value.problem
    assert fix in raised.value.fix
    assert str(raised.value) == f"{path}: {raised.value.problem}; {raised.value.fix}"


class Item(Model):
    name: str | None = None
    size: int = 1
    kind: str


@pytest.mark.parametrize(
    "key, path, problem",
    [
        ("name", "Spec.value[].name", "is required or has a default"),
        ("other", "Spec.value[].other", "do not have"),
    ],
)
def test_a_key_of_a_map_list_must_always_be_there(key: str, path: str, problem: str) -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(field(Annotated[list[Item], MapList(key)]))
    assert (raised.value.path, problem in raised.value.problem) == (path, True)


@pytest.mark.parametrize("key", ["kind", "size"])
def test_a_key_that_is_required_or_has_a_default_is_taken(key: str) -> None:
    schema = structural_schema(field(Annotated[list[Item], MapList(key)]))
    assert schema["properties"]["value"]["x-kubernetes-list-map-keys"] == [key]


@pytest.mark.parametrize(
    "column, problem",
    [
        (Column("Phase", ".status.phase"), "names no field"),
        (Column("Spec", ".spec"), "is no scalar"),
        (Column("First", ".spec.list[0]"), "names no field"),
    ],
)
def test_a_column_reads_a_field_that_is_there(column: Column, problem: str) -> None:
    version = Version("v1", spec=field(list[int]), columns=(column,))
    with pytest.raises(SchemaError, match=problem):
        crd(CustomResource(group="a.example.com", names=Names("Thing"), versions=(version,)))


def test_exactly_one_version_is_stored() -> None:
    versions = tuple(Version(name, spec=field(int)) for name in ("v1", "v2"))
    with pytest.raises(SchemaError, match=r"2 versions are stored \(v1, v2\)"):
        crd(CustomResource(group="a.example.com", names=Names("Thing"), versions=versions))

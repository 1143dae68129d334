"""Models without a structural schema are errors that name the field and the fix."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, Flag
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, SecretStr, WithJsonSchema, create_model
from typing_extensions import TypeAliasType

from crdgen import (
    Atomic,
    CustomResource,
    Duration,
    Int32,
    MapList,
    MinItems,
    Model,
    ModelDefault,
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


Tree = TypeAliasType("Tree", "dict[str, Tree] | str")


class Left(Model):
    right: "Right"


class Right(Model):
    lefts: dict[str, Left]


class Circle(Model):
    size: int


class Label(Model):
    size: str


class Stamped(Model):
    id: Annotated[UUID, ModelDefault] = Field(default_factory=uuid4)


class Opaque:
    pass


def now() -> int:
    return 1


class Later(Model):
    at: Annotated[str, Int32(minimum=1)]
    next: list["Later"]


Twins = create_model("Twins", first=(int, Field(alias="own")), other=(int, Field(alias="own")))


class Unfinished(BaseModel):
    value: "NowhereDefined"  # type: ignore[name-defined]  # noqa: F821


def with_pattern(pattern: str) -> Any:
    return WithJsonSchema({"type": "string", "pattern": pattern})


def doubling_model(levels: int) -> type[BaseModel]:
    """Return a model whose schema doubles its nodes with each level."""
    model: Any = Circle
    for level in range(levels):
        fields: Any = {"one": (model, ...), "other": (model, ...)}
        model = create_model(f"Level{level}", **fields)
    return model


class Access(Flag):
    READ = 1
    WRITE = 2


class Nothing(Enum):
    pass


class Answer(Enum):
    YES = "yes"
    COUNT = 1
    NONE = None


class Days(Enum):
    FIRST = date(2026, 1, 1)


class Address(str):
    """Behaves like `pydantic.EmailStr` if its package is not installed."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise ImportError("addresses is not installed")


class Mail(BaseModel):
    model_config = ConfigDict(defer_build=True)

    to: Address


class Twice(Enum):
    FIRST = "a"
    AGAIN = "a"  # noqa: PIE796
    OTHER = "b"


Wide = doubling_model(20)
NAIVE = datetime(2020, 1, 1)  # noqa: DTZ001


def field(annotation: Any, **options: Any) -> type[BaseModel]:
    """Return a model with one field, `value`."""
    config = ConfigDict(arbitrary_types_allowed=True)
    return type(
        "Spec",
        (Model,),
        {"__annotations__": {"value": annotation}, "__module__": __name__, "model_config": config, **options},
    )


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
        ("a cycle", Outer, "Outer.node.children[]", "the model Node contains itself", "`Depth(…)`"),
        ("a cycle of two", Left, "Left.right.lefts.*", "the model Left contains itself", "`Depth(…)`"),
        ("a recursive alias", field(Tree), "Spec.value.*", "the model Tree contains itself", "`Depth(…)`"),
        ("far too many models", field(Wide), "Spec", "more than 60000 nodes", "PreserveUnknown"),
        (
            "variants that disagree",
            field(Circle | Label),
            "Spec.value.size",
            "its type (integer, string)",
            "one type in all variants",
        ),
        ("lists that disagree", field(list[int] | list[str]), "Spec.value[]", "(integer, string)", "one type"),
        (
            "a dict or a model",
            field(dict[str, int] | Circle),
            "Spec.value",
            "disagree on its additionalProperties",
            "one type in all variants",
        ),
        (
            "a union of models",
            field(dict[str, Node | Part]),
            "Spec.value.*.children[]",
            "contains itself",
            "`Depth(…)`",
        ),
        (
            "a factory",
            field(UUID, value=Field(default_factory=uuid4)),
            "Spec.value",
            "its default_factory may give another value each time",
            "ModelDefault",
        ),
        (
            "a lambda",
            field(int, value=Field(default_factory=lambda: uuid4().int)),
            "Spec.value",
            "its default_factory may give another value each time",
            "ModelDefault",
        ),
        (
            "a factory that reads other fields",
            field(int, value=Field(default_factory=lambda fields: len(fields))),  # noqa: PLW0108
            "Spec.value",
            "its default_factory makes a default of other fields",
            "ModelDefault",
        ),
        (
            "a factory of a model with such a factory",
            field(Stamped, value=Field(default_factory=Stamped)),
            "Spec.value",
            "its default_factory may",
            "`ModelDefault`",
        ),
        (
            "a default made by such a factory",
            field(Stamped, value=Stamped()),
            "Spec.value",
            "Stamped.id",
            "in the default",
        ),
        (
            "a factory that fails",
            field(Circle, value=Field(default_factory=Circle)),
            "Spec.value",
            "its default_factory fails: ValidationError: 1 validation error",
            "complete",
        ),
        (
            "a reference to nothing",
            field(Annotated[str, WithJsonSchema({"$ref": "#/$defs/Nowhere"})]),
            "Spec",
            "`$ref: #/$defs/Nowhere` refers to nothing",
            "write the schema out",
        ),
        (
            "a reference to nothing within",
            field(dict[str, Annotated[str, WithJsonSchema({"type": "array", "items": {"$ref": "https://a/b"}})]]),
            "Spec.value.*[]",
            "`$ref: https://a/b` refers to nothing",
            "write the schema out",
        ),
        ("a function as default", field(int, value=now), "Spec.value", "cannot be written as JSON", "or None"),
        (
            "a function's default",
            field(Callable[[], int], value=now),
            "Spec.value",
            "no form in JSON",
            "WithJsonSchema",
        ),
        ("a mixed tuple", field(tuple[int, str]), "Spec.value", "a tuple of different types", "a model with one field"),
        (
            "bounds on ISO durations",
            field(Annotated[timedelta, Field(le=timedelta(1))]),
            "Spec.value",
            "ISO 8601",
            "Duration",
        ),
        ("bounds without a zone", field(Annotated[datetime, Field(ge=NAIVE)]), "Spec.value", "zone", "UTC"),
        (
            "a default without a zone",
            field(datetime, value=NAIVE),
            "Spec.value",
            "such as 2006-01-02T15:04:05Z",
            "valid",
        ),
        ("an infinite default", field(float, value=float("inf")), "Spec.value", "no infinity", "None"),
        ("a secret default", field(SecretStr, value=SecretStr("x")), "Spec.value", "a secret", "drop the default"),
        (
            "a default below its bound",
            field(Annotated[int, Field(ge=1)], value=0),
            "Spec.value",
            "at least 1",
            "bounds of the field",
        ),
        (
            "a default at an exclusive bound, written as a float",
            field(Annotated[float, Field(gt=1)], value=1),
            "Spec.value",
            "the default 1.0 is not valid for the schema of the field: must be greater than 1",
            "bounds of the field",
        ),
        (
            "a list's item out of bounds, written as a float",
            field(list[Annotated[float, Field(ge=3)]], value=[1]),
            "Spec.value",
            "at [0]: must be at least 3",
            "bounds of the field",
        ),
        (
            "a decimal out of bounds",
            field(Annotated[Decimal, Field(gt=1, max_digits=3, decimal_places=2)], value=Decimal("-1.125")),
            "Spec.value",
            "must match ",
            "bounds of the field",
        ),
        (
            "a duration out of bounds",
            field(Annotated[Duration, Field(ge=timedelta(0))], value=timedelta(hours=-1)),
            "Spec.value",
            "the default '-1h' is not valid for the schema of the field: must be at least 0s",
            "bounds of the field",
        ),
        (
            "a moment out of bounds, with a zone",
            field(
                Annotated[datetime, Field(ge=datetime(2026, 1, 1, tzinfo=UTC))], value=datetime(2025, 1, 1, tzinfo=UTC)
            ),
            "Spec.value",
            "must be at least 2026-01-01",
            "bounds of the field",
        ),
        (
            "a whole number in steps of less than one",
            field(Annotated[float, Field(multiple_of=0.5)], value=1),
            "Spec.value",
            "the default 1.0 is not valid for the schema of the field: must be a multiple of 0.5",
            "bounds of the field",
        ),
        ("a default of another type", field(int, value="x"), "Spec.value", "'x' is not valid", "valid for the type"),
        ("a default that is no JSON", field(Any, value=object()), "Spec.value", "cannot be written as JSON", "None"),
        ("only null", field(None), "Spec.value", "nothing but null", "leave it out"),
        ("a set with null", field(set[int | None]), "Spec.value", "may not be null", "drop `| None`"),
        ("keys of tuples", field(dict[tuple[int, int], int]), "Spec.value", "must be strings in JSON", "keys of text"),
        ("look-ahead", field(Annotated[str, with_pattern("^(?!a)b")]), "Spec.value", "look-ahead", "a rule"),
        ("a callable", field(Callable[[], None]), "Spec.value", "a function has no form in JSON", "JSON can carry"),
        (
            "an enum of days",
            field(Days),
            "Spec.value",
            "no JSON is read as the value datetime.date(",
            "texts or numbers",
        ),
        ("a lone surrogate", field(str, value="\ud800"), "Spec.value", "cannot be written as JSON", "or None"),
        ("another package", Mail, "Mail", "addresses is not installed", "install the package"),
        ("a class", field(type[int]), "Spec.value", "a class has no form", "JSON can carry"),
        ("an object of any class", field(Opaque), "Spec.value", "class Opaque", "WithJsonSchema"),
        (
            "a format that means something else",
            field(Annotated[str, WithJsonSchema({"type": "string", "format": "duration"})]),
            "Spec.value",
            "`30s`",
            "crdgen.Duration",
        ),
        (
            "two names",
            field(int, value=Field(validation_alias=AliasChoices("a", "b"))),
            "Spec.a",
            "read from other places",
            "`alias=`",
        ),
        (
            "another place",
            field(int, value=Field(validation_alias=AliasPath("a", "b"))),
            "Spec.value",
            "read from other places",
            "as models",
        ),
        (
            "read and written under two names",
            field(int, value=Field(validation_alias="in")),
            "Spec.in",
            "read as `in` and written as `value`",
            "`alias=`",
        ),
        ("one name for two", Twins, "Twins", "two fields are called `own`", "another alias"),
        (
            "a condition",
            field(Annotated[str, WithJsonSchema({"type": "string", "if": {}})]),
            "Spec.value",
            "if is not supported",
            "rule",
        ),
        ("no forward reference", Unfinished, "Unfinished", "not fully defined", "defined in the module"),
        (
            "too large a bound",
            field(Annotated[int, Int32(minimum=2**40)]),
            "Spec.value",
            "no integer of 32 bits is within its bound",
            "correct the bound",
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
        ("a set of lists", field(Annotated[list[list[int]], SetList]), "Spec.value", "lists of scalars", "MapList"),
        ("a set of models", field(Annotated[list[Part], SetList]), "Spec.value[].replicas", "Int32", "annotate"),
        ("an unknown key", field(Annotated[list[Part], MapList("id")]), "Spec.value[].replicas", "Int32", "annotate"),
        ("a flag", field(Access), "Spec.value", "every combination", "a set of an Enum's members"),
        (
            "an enum of several types and null",
            field(Answer, value=Answer.YES),
            "Spec.value",
            "the API server takes null for no enum",
            "without a member of None",
        ),
        ("an enum of nothing", field(Nothing), "Spec.value", "an enum can have", "use the names"),
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
    first = str(raised.value).partition("\n")[0]
    assert first == f"{path}: {raised.value.problem}; {raised.value.fix}" == str(raised.value.errors[0])


class Mistaken(Model):
    pair: tuple[int, str]
    fine: int = 1
    pairs: list[tuple[int, str]]
    later: Later
    parts: dict[str, list[Circle | Label]]


def test_all_faults_of_fields_are_reported_together() -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(Mistaken)
    assert [fault.path for fault in raised.value.errors] == [
        "Mistaken.pair",
        "Mistaken.pairs[]",
        "Mistaken.later.at",
        "Mistaken.later.next[]",
        "Mistaken.parts.*[].size",
    ]
    assert str(raised.value).splitlines() == [str(fault) for fault in raised.value.errors]


def test_faults_of_spec_status_and_versions_are_reported_together() -> None:
    versions = (
        Version("v1", spec=field(tuple[int, str]), status=field(type[int])),
        Version("v2", spec=Later, storage=False),
    )
    with pytest.raises(SchemaError) as raised:
        crd(CustomResource(group="a.example.com", names=Names("Thing"), versions=versions))
    assert [fault.path for fault in raised.value.errors] == [
        "Thing.spec.value",
        "Thing.status.value",
        "Thing.spec.at",
        "Thing.spec.next[]",
    ]


def test_a_fault_in_a_union_is_reported_once() -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(field(Later | None))
    assert [fault.path for fault in raised.value.errors] == ["Spec.value.at", "Spec.value.next[]"]


def test_an_enum_value_with_two_names_is_listed_once() -> None:
    schema = structural_schema(field(Twice))["properties"]["value"]
    assert schema["enum"] == ["a", "b"]


class Item(Model):
    name: str | None = None
    size: int = 1
    kind: str


@pytest.mark.parametrize("key", ["kind", "size"])
def test_a_key_that_is_required_or_has_a_default_is_accepted(key: str) -> None:
    schema = structural_schema(field(Annotated[list[Item], MapList(key)]))
    assert schema["properties"]["value"]["x-kubernetes-list-map-keys"] == [key]

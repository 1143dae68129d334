"""A default has the form that its model writes, if the model can read it; else the form of its type."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    field_serializer,
    field_validator,
)

from crdgen import ModelDefault, SchemaError, structural_schema

Percent = Annotated[
    float,
    BeforeValidator(lambda value: float(value.rstrip("%")) / 100 if isinstance(value, str) else value),
    PlainSerializer(lambda value: f"{value:.0%}"),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+%$"}),
]


class Code:
    """A class that is read from a string and written as a number."""

    def __repr__(self) -> str:
        return "<code 7>"


def parse_code(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be text")  # noqa: TRY004
    return Code()


Coded = Annotated[Code, PlainValidator(parse_code), PlainSerializer(lambda _: 7), WithJsonSchema({"type": "string"})]


class ReadAgain(BaseModel):
    value: Percent = 0.5


class Seconds(BaseModel):
    value: timedelta = timedelta(seconds=30)

    @field_serializer("value")
    def in_seconds(self, value: timedelta) -> float:
        return value.total_seconds()


class Day(BaseModel):
    value: datetime = datetime(2026, 1, 2, tzinfo=UTC)

    @field_serializer("value")
    def in_german(self, value: datetime) -> str:
        return value.strftime("%d.%m.%Y")


class Scaled(BaseModel):
    value: float = 0.5

    @field_serializer("value")
    def in_percent(self, value: float) -> float:
        return value * 100


class Suffixed(BaseModel):
    value: int = 30

    @field_serializer("value")
    def with_unit(self, value: int) -> str:
        return f"{value}s"

    @field_validator("value", mode="before")
    @classmethod
    def without_unit(cls, value: Any) -> Any:
        return int(value.rstrip("s")) if isinstance(value, str) else value


class Shouted(BaseModel):
    value: str = "info"

    @field_serializer("value")
    def in_capitals(self, value: str) -> str:
        return value.upper()

    @field_validator("value", mode="before")
    @classmethod
    def in_small(cls, value: Any) -> Any:
        return value.lower()


class InSeconds(BaseModel):
    value: Annotated[
        timedelta,
        BeforeValidator(lambda value: timedelta(seconds=int(value[:-1])) if str(value).endswith("s") else value),
        PlainSerializer(lambda value: f"{value.total_seconds():.0f}s"),
    ] = timedelta(seconds=30)


class Joined(BaseModel):
    value: set[str] = {"b", "a"}

    @field_serializer("value")
    def joined(self, value: set[str]) -> str:
        return ",".join(sorted(value))


@pytest.mark.parametrize(
    "case, model, default",
    [
        ("the field reads what its serializer writes", ReadAgain, "50%"),
        ("the field's own serializer", Shouted, "INFO"),
        ("read again, and rejected by the pattern of durations", InSeconds, "PT30S"),
        ("seconds are not an ISO duration", Seconds, "PT30S"),
        ("a day as people write it", Day, "2026-01-02T00:00:00Z"),
        ("a number that would be read as another number", Scaled, 0.5),
        ("read again, and rejected by the schema", Suffixed, 30),
        ("a text instead of a list", Joined, ["a", "b"]),
    ],
)
def test_a_default_has_a_form_that_the_field_reads(case: str, model: type[BaseModel], default: Any) -> None:
    assert structural_schema(model)["properties"]["value"]["default"] == default
    assert model.model_validate({"value": default}) == model()


class Unread(BaseModel):
    value: Coded = Code()


class Left(BaseModel):
    value: Annotated[Coded, ModelDefault] = Code()


def test_a_default_that_the_field_cannot_read_is_an_error() -> None:
    with pytest.raises(SchemaError, match=r"^Unread.value: the default 7 is not valid for the schema"):
        structural_schema(Unread)
    assert "default" not in structural_schema(Left)["properties"]["value"]


@dataclass
class Limit:
    most: Annotated[int, Field(alias="max")] = 2


class Twice(BaseModel):
    value: Limit = Limit()
    other: Limit = Limit()


def test_the_default_of_a_shared_type_has_json_names() -> None:
    assert structural_schema(Twice)["properties"]["value"]["default"] == {"max": 2}

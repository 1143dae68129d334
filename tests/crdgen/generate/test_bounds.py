"""Bounds that leave nothing between them are an error; no API server tells of them."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from crdgen import Duration, Int32, MaxItems, MinItems, SchemaError, structural_schema

BETWEEN = {"type": "integer", "minimum": 0.25, "maximum": 0.75}
EARLY, LATE = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)


def of(annotation: Any) -> type[BaseModel]:
    model: type[BaseModel] = create_model("Spec", value=(annotation, ...))
    return model


@pytest.mark.parametrize(
    "annotation, problem, fix",
    [
        (Annotated[int, Field(ge=5, le=3)], "it must be at least 5 and at most 3", "one of the two (`ge`, `le`)"),
        (Annotated[int, Field(gt=3, lt=3)], "it must be greater than 3 and less than 3", "take 3 itself"),
        (Annotated[int, Field(gt=3, lt=4)], "no integer is greater than 3 and less than 4", "widen"),
        (Annotated[int, WithJsonSchema(BETWEEN)], "no integer is at least 0.25 and at most 0.75", "widen"),
        (Annotated[int, Field(ge=4, le=6, multiple_of=7)], "no integer in steps of 7 is at least 4", "widen"),
        (Annotated[int, Int32(minimum=5, maximum=3)], "at least 5 and at most 3", "correct one"),
        (Annotated[int, Field(ge=2**63 - 1, le=2**63 - 2)], "at least 9223372036854775807", "correct one"),
        (Annotated[float, Field(ge=1.5, lt=1.5)], "at least 1.5 and less than 1.5", "take 1.5 itself"),
        (Annotated[Decimal, Field(gt=3, lt=2)], "greater than 3 and less than 2", "correct one"),
        (Annotated[Decimal, Field(ge=1000, max_digits=3, decimal_places=1)], "at least 1000 and less than 100", "one"),
        (Annotated[Decimal, Field(max_digits=0)], "a decimal of no digits", "raise `max_digits`"),
        (Annotated[str, Field(min_length=3, max_length=2)], "at least 3 characters and at most 2", "`min_length`"),
        (Annotated[list[int], Field(min_length=1, max_length=0)], "at least 1 item and at most 0", "`max_length`"),
        (Annotated[list[int], MinItems(3), MaxItems(2)], "at least 3 items and at most 2", "raise the second"),
        (Annotated[dict[str, int], Field(min_length=3, max_length=2)], "at least 3 entries and at most 2", "raise"),
        (Annotated[dict[Literal["a"], int], Field(min_length=2)], "at least 2 entries and at most 1", "lower"),
        (Annotated[set[Literal["a", "b"]], Field(min_length=3)], "3 items, each once, of 2 values", "use a list"),
        (Annotated[tuple[int, int], Field(min_length=3)], "at least 3 items and at most 2", "lower the first"),
        (Annotated[date, Field(ge=date(2026, 1, 1), lt=date(2025, 1, 1))], "2026-01-01 and less than 2025", "correct"),
        (Annotated[datetime, Field(gt=LATE, lt=EARLY)], "greater than 2026-01-01 00:00:00+00:00", "(`gt`, `lt`)"),
        (
            Annotated[Duration, Field(ge=timedelta(hours=2), le=timedelta(minutes=90))],
            "at least 2h and at most 1h30m",
            "(`ge`, `le`)",
        ),
    ],
)
def test_bounds_that_exclude_each_other_are_told(annotation: Any, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(of(annotation))
    assert raised.value.path == "Spec.value"
    assert (problem in raised.value.problem, fix in raised.value.fix) == (True, True), raised.value


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, Field(ge=3, le=3)],
        Annotated[int, Field(gt=2, lt=4)],
        Annotated[int, Field(ge=-7, le=-7, multiple_of=7)],
        Annotated[int, Field(ge=0, le=2**64 - 1)],
        Annotated[float, Field(gt=3, lt=4)],
        Annotated[float, Field(gt=float("-inf"), lt=float("inf"))],
        Annotated[str, Field(min_length=2, max_length=2)],
        Annotated[set[Literal["a", "b"]], Field(min_length=2)],
        Annotated[Decimal, Field(ge=2, le=2)],
        Annotated[date, Field(ge=date(2025, 1, 1), le=date(2025, 1, 1))],
        # Each type shuts out the others by bounds that nothing meets.
        bool | list[Annotated[int, Field(ge=1, le=1)]],
        Annotated[str, WithJsonSchema({"type": "string", "minLength": "many", "maxLength": 1})],
    ],
)
def test_bounds_that_leave_one_value_are_taken(annotation: Any) -> None:
    assert structural_schema(of(annotation))["properties"]["value"]


def test_all_such_fields_are_told_at_once() -> None:
    class Part(BaseModel):
        model_config = ConfigDict(str_min_length=5)

        name: Annotated[str, Field(max_length=3)]
        size: Annotated[int, Field(gt=1, lt=1)] = 1

    class Spec(BaseModel):
        parts: dict[str, Part]
        count: Annotated[int | None, Field(ge=2, le=1)] = None

    with pytest.raises(SchemaError) as raised:
        structural_schema(Spec)
    assert [fault.path for fault in raised.value.faults] == ["Spec.parts.*.name", "Spec.parts.*.size", "Spec.count"]

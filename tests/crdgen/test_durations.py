"""Durations in the format of Go."""

from datetime import timedelta
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from crdgen import Duration, structural_schema
from crdgen.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    "text, seconds, formatted",
    [
        ("30s", 30, "30s"),
        ("1h30m", 5400, "1h30m"),
        ("1.5h", 5400, "1h30m"),
        ("0", 0, "0s"),
        ("-2m", -120, "-2m"),
        ("+500ms", 0.5, "500ms"),
        ("1us", 1e-6, "1us"),
        ("1\u00b5s", 1e-6, "1us"),
        (".5s", 0.5, "500ms"),
        ("1500ns", 1e-6, "1us"),
        ("90m", 5400, "1h30m"),
    ],
)
def test_a_duration_is_parsed_and_formatted(text: str, seconds: float, formatted: str) -> None:
    duration = parse_duration(text)
    assert duration == timedelta(seconds=seconds)
    assert format_duration(duration) == formatted


@pytest.mark.parametrize(
    "text", ["", "30", "PT30S", "1d", "s", "1h 30m", "1H", ".s", "-", "30s\n", "3000000h", "9223372036854775808ns"]
)
def test_a_text_that_go_rejects_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|292 years"):
        parse_duration(text)


class Waiting(BaseModel):
    every: Annotated[Duration, Field(gt=timedelta(0))] = timedelta(minutes=90)


def test_a_duration_is_text_in_json_and_a_timedelta_in_python() -> None:
    waiting = Waiting.model_validate({"every": "45s"})
    assert waiting.every == timedelta(seconds=45)
    assert waiting.model_dump(mode="json") == {"every": "45s"}
    assert waiting.model_dump() == {"every": timedelta(seconds=45)}


@pytest.mark.parametrize("value", ["PT1S", 30, "0s", "-1s", None])
def test_a_field_rejects_other_formats_and_values_out_of_bounds(value: object) -> None:
    with pytest.raises(ValidationError):
        Waiting.model_validate({"every": value})


def test_bounds_are_rules() -> None:
    field = structural_schema(Waiting)["properties"]["every"]
    assert field["default"] == "1h30m"
    assert field["x-kubernetes-validations"] == [
        {"rule": "duration(self) > duration('0s')", "message": "must be more than 0s"}
    ]

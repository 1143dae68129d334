"""Models read Kubernetes JSON like the API server."""

from typing import Annotated, Any

import pytest
from pydantic import ValidationError

from crdgen import Int32, MapList, Model
from tests.differential.zoo import Bounds, Color, Enums, Inner, Kubernetes, Level, Scalars


class Job(Model):
    """A job."""

    min_replicas: Annotated[int | None, Int32(minimum=1)] = None
    parts: Annotated[list[Inner] | None, MapList("name")] = None


@pytest.mark.parametrize(
    "case, model, value, field, expected",
    [
        ("3.0 is 3", Bounds, {"small": 3.0}, "small", 3),
        ("an enum from its text", Enums, {"color": "green"}, "color", Color.GREEN),
        ("an enum from a whole number", Enums, {"level": 2.0}, "level", Level.HIGH),
        ("an integer for a number", Scalars, {"needed": "", "ratio": 1}, "ratio", 1.0),
        ("an unknown field is ignored", Job, {"other": 1}, "min_replicas", None),
        ("snake_case is an unknown field", Job, {"min_replicas": 5}, "min_replicas", None),
        ("camelCase is the field", Job, {"minReplicas": 5}, "min_replicas", 5),
        ("a port may be text", Kubernetes, {"port": "http"}, "port", "http"),
    ],
)
def test_a_value_is_read(case: str, model: type[Model], value: dict[str, Any], field: str, expected: Any) -> None:
    assert getattr(model.model_validate(value), field) == expected


@pytest.mark.parametrize(
    "case, model, value",
    [
        ("an integer in quotes", Scalars, {"needed": "", "count": "3"}),
        ("true for an integer", Scalars, {"needed": "", "count": True}),
        ("an integer of 65 bits", Scalars, {"needed": "", "count": 2**63}),
        ("an integer of 33 bits", Bounds, {"small": 2**32}),
        ("yes for a boolean", Scalars, {"needed": "", "flag": "yes"}),
        ("1 for a boolean", Scalars, {"needed": "", "flag": 1}),
        ("a number for text", Scalars, {"needed": 1}),
        ("a number in quotes", Scalars, {"needed": "", "ratio": "1.5"}),
        ("true for an enum of numbers", Enums, {"level": True}),
        ("an unknown member", Enums, {"color": "blue"}),
        ("below its bound", Job, {"minReplicas": 0}),
        ("two parts of one name", Job, {"parts": [{"name": "a"}, {"name": "a"}]}),
        ("a quantity that no client can decode", Kubernetes, {"memory": "1e1.5"}),
        ("a date for a time", Kubernetes, {"since": "2026-01-02"}),
    ],
)
def test_a_value_of_a_wrong_type_is_rejected(case: str, model: type[Model], value: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(value)


def test_a_model_writes_kubernetes_json() -> None:
    job = Job.model_validate({"minReplicas": 2, "parts": [{"name": "a"}]})
    assert job.to_json() == {"minReplicas": 2, "parts": [{"name": "a", "weight": 5}]}


def test_a_model_is_immutable() -> None:
    with pytest.raises(ValidationError):
        Job().min_replicas = 1  # type: ignore[misc]

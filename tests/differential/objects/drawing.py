"""Draws random objects with hypothesis outside of a test, from schemas and from models."""

import json
import warnings
from functools import cache
from typing import Any, Final, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, reject, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import PydanticJsonSchemaWarning

from tests.differential.objects.values import Schema, right

T = TypeVar("T")


def drawn(strategy: SearchStrategy[T], count: int, start: int) -> list[T]:
    """Return up to `count` values; the same seed gives the same values.

    Raises:
        hypothesis.errors.Unsatisfiable: the strategy gives no value.
    """
    values: list[T] = []

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(strategy)
    def keep(value: T) -> None:
        values.append(value)

    keep()
    return values


#: Usual arguments of `model_dump`.
_WAYS: Final[tuple[dict[str, Any], ...]] = ({}, {"exclude_none": True}, {"exclude_unset": True}, {"round_trip": True})


@st.composite
def dumped(draw: st.DrawFn, model: type[BaseModel]) -> Any:
    """Draw an instance of the model, as JSON; its values come from Pydantic's JSON schema, not from `crdgen`."""
    value = draw(right(_schema(model)))
    try:
        instance = model.model_validate_json(json.dumps(value))
    except ValidationError:
        reject()
    return instance.model_dump(mode="json", by_alias=True, **draw(st.sampled_from(_WAYS)))


@cache
def _schema(model: type[BaseModel]) -> Schema:
    with warnings.catch_warnings():
        # Defaults without a JSON form do not matter here.
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)
        return model.model_json_schema(by_alias=True, mode="validation")

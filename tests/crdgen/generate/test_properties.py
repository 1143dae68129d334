"""Model and schema agree, and evaluation is idempotent, for random objects."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from crdgen import Model, structural_schema
from crdgen.evaluate import Evaluator
from tests.differential.zoo import PLAIN

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1, 3.0, 2.5, -1, 2**31, 2**63, 1e19, "", "a", "3", "red", "1Gi", "1e1.5", [], {}, [1], [None]]
)
# Without whole floats of more than 53 bits: they are integers for a model, but not for the API server.
FLOATS = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: not (number.is_integer() and 2**53 <= abs(number) < 2**63)
)
JSON = st.recursive(
    ODD | st.text(max_size=4) | st.integers() | FLOATS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
TIMES = st.sampled_from(["2026-01-02T03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02", "2026-01-02t03:04:05.5+01:00"])


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return mostly valid values of a schema, and sometimes any JSON."""
    return st.one_of(_valid(schema), _valid(schema), _valid(schema), ODD, JSON)


SCALARS: dict[str | None, st.SearchStrategy[Any]] = {
    "string": TIMES | st.text(alphabet="ab", max_size=4),
    "integer": st.integers(-1, 12),
    "number": st.floats(-1, 12),
    "boolean": st.booleans(),
}


def _valid(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "properties" in schema:
        return _object(schema)
    match schema.get("type"):
        case "object":
            return st.dictionaries(st.text(max_size=2), values(schema.get("additionalProperties", {})), max_size=3)
        case "array":
            # A set in Python accepts duplicates, but a list of the type set does not.
            unique = repr if schema.get("x-kubernetes-list-type") == "set" else None
            return st.lists(values(schema["items"]), max_size=4, unique_by=unique)
        case kind:
            return SCALARS.get(kind, JSON)


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    fields = {name: values(child) for name, child in schema["properties"].items()}
    needed = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: field for name, field in fields.items() if name in needed},
        optional={name: field for name, field in fields.items() if name not in needed},
    )


@cache
def schema_of(model: type[Model]) -> dict[str, Any]:
    return structural_schema(model)


@cache
def evaluator_of(model: type[Model]) -> Evaluator:
    return Evaluator({"type": "object", "properties": {"spec": schema_of(model)}, "required": ["spec"]})


def accepts(model: type[Model], value: Any) -> bool:
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("model", PLAIN, ids=lambda model: model.__name__)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_model_and_schema_accept_the_same_values(model: type[Model], data: st.DataObject) -> None:
    evaluator = evaluator_of(model)
    stored = evaluator.default(evaluator.prune({"spec": data.draw(values(schema_of(model)))}))
    violations = evaluator.validate(stored)
    assert accepts(model, stored.get("spec")) == (not violations), violations


@pytest.mark.parametrize("model", PLAIN, ids=lambda model: model.__name__)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_pruning_and_defaulting_are_idempotent(model: type[Model], data: st.DataObject) -> None:
    evaluator = evaluator_of(model)
    once = evaluator.default(evaluator.prune({"spec": data.draw(values(schema_of(model)))}))
    assert evaluator.default(evaluator.prune(once)) == once


@pytest.mark.parametrize("model", PLAIN, ids=lambda model: model.__name__)
@settings(max_examples=30, deadline=None)
@given(value=JSON)
def test_no_json_raises_an_exception(model: type[Model], value: Any) -> None:
    evaluator = evaluator_of(model)
    for step in (evaluator.prune, evaluator.default, evaluator.validate):
        step(value)

"""Bounds that exclude all values are an error; the API server would not report them."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model

from crdgen import Int32, MaxItems, MinItems, SchemaError, crd, of, structural_schema
from crdgen.evaluate import Evaluator


def definition(annotation: Any) -> dict[str, Any]:
    model: type[BaseModel] = create_model("Spec", value=(annotation, ...))
    return crd(of(model, group="example.com", version="v1", kind="Kind"))


@pytest.mark.parametrize(
    "annotation, problem",
    [
        (Annotated[int, Field(ge=5, le=3)], "minimum 5 and maximum 3"),
        (Annotated[int, Field(gt=3, lt=3)], "minimum 3 and maximum 3"),
        (Annotated[int, Int32(minimum=5, maximum=3)], "minimum 5 and maximum 3"),
        (Annotated[float, Field(ge=1.5, lt=1.5)], "minimum 1.5 and maximum 1.5"),
        (Annotated[str, Field(min_length=3, max_length=2)], "minLength 3 and maxLength 2"),
        (Annotated[list[int], MinItems(3), MaxItems(2)], "minItems 3 and maxItems 2"),
        (Annotated[dict[str, int], Field(min_length=3, max_length=2)], "minProperties 3 and maxProperties 2"),
    ],
)
def test_bounds_that_exclude_each_other_are_an_error(annotation: Any, problem: str) -> None:
    with pytest.raises(SchemaError) as raised:
        definition(annotation)
    assert (raised.value.path, raised.value.problem) == ("Kind.spec.value", f"no value satisfies {problem}")


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, Field(ge=3, le=3)],
        Annotated[float, Field(gt=3, lt=4)],
        Annotated[str, Field(min_length=2, max_length=2)],
        # Other types are excluded by bounds that no value meets.
        bool | list[Annotated[int, Field(ge=1, le=1)]],
    ],
)
def test_bounds_that_allow_one_value_are_accepted(annotation: Any) -> None:
    assert definition(annotation)


Small, Large = Annotated[float, Field(gt=1, lt=3)], Annotated[float, Field(ge=1, lt=9)]


@pytest.mark.parametrize("annotation", [Small | Annotated[float, Field(gt=5, le=9)], Small | Large])
def test_variants_of_a_union_keep_their_exclusive_bounds(annotation: Any) -> None:
    adapter, schema = TypeAdapter(annotation), structural_schema(create_model("Spec", value=(annotation, ...)))
    for value in (1, 2, 3, 5, 6, 9):
        accepted = not Evaluator(schema).validate({"value": value})
        assert accepted == is_accepted(adapter, value), value


def is_accepted(adapter: TypeAdapter[Any], value: float) -> bool:
    try:
        return bool(adapter.validate_python(value) == value)
    except ValidationError:
        return False

"""Descriptions for `kubectl explain`: the author's text, accepted types, and a deprecation."""

from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model
from typing_extensions import deprecated

from crdgen import Doc, IntOrString, structural_schema


def description(annotation: Any, *, limit: int | None = None) -> str | None:
    model = create_model("Spec", value=(annotation, ...))
    text: str | None = structural_schema(model, limit=limit)["properties"]["value"].get("description")
    return text


class Box(BaseModel):
    """A box."""

    size: int


@pytest.mark.parametrize(
    "annotation, expected",
    [
        (bool | str, "Takes a boolean or a string."),
        (int | list[str] | dict[str, int], "Takes an integer, a list or an object."),
        (str | Box, "Takes a string or an object."),
        (Literal["auto"] | Annotated[float, Field(gt=0)], 'Takes "auto" or a number.'),
        (bool | str | None, "Takes a boolean, a string or null."),
        (Annotated[bool | str, Doc("Where to.")], "Where to.\nTakes a boolean or a string."),
        (Decimal, "Takes a number or a string."),
        (Decimal | bool, "Takes a number, a string or a boolean."),
        (int | str, None),
        (IntOrString, None),
        (Literal["a", 1], None),
        (Any, None),
    ],
)
def test_a_node_of_several_types_lists_them(annotation: Any, expected: str | None) -> None:
    assert description(annotation) == expected


def test_accepted_types_are_listed_once_wherever_a_type_is_used() -> None:
    class Spec(BaseModel):
        one: bool | str = True
        maybe: Annotated[bool | str | None, Doc("A switch.")] = None
        many: list[bool | str] = []

    properties = structural_schema(Spec)["properties"]
    assert properties["one"]["description"] == "Takes a boolean or a string."
    assert properties["maybe"]["description"] == "A switch.\nTakes a boolean or a string."
    assert properties["many"]["items"]["description"] == "Takes a boolean or a string."


@pytest.mark.parametrize(
    "limit, expected", [(0, None), (9, "Where to."), (60, "Where to.\nTakes a boolean or a string.")]
)
def test_accepted_types_are_shortened_like_descriptions(limit: int, expected: str | None) -> None:
    assert description(Annotated[bool | str, Doc("Where to.")], limit=limit) == expected


@pytest.mark.parametrize(
    "annotation, expected",
    [
        (Annotated[int, Field(deprecated=True)], "Deprecated."),
        (Annotated[int, Field(deprecated=True), Doc("A size.")], "A size.\nDeprecated."),
        (Annotated[bool | str, Field(deprecated=True)], "Takes a boolean or a string.\nDeprecated."),
        (Annotated[int, Field(deprecated="use `width`")], "Deprecated: use `width`"),
        (Annotated[int, deprecated("use `width`")], "Deprecated: use `width`"),
        (Annotated[int, Field(deprecated=False)], None),
    ],
)
def test_a_deprecation_is_in_the_description(annotation: Any, expected: str | None) -> None:
    assert description(annotation) == expected

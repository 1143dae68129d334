"""Models of a user, for tests of the command line."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from crdgen import CustomResource, Names, Version


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class OrderSpec(BaseModel):
    """What is wanted, and how much | of it."""

    item: Annotated[str, Field(min_length=1, description="What is ordered.")]
    count: Annotated[int, Field(ge=1, le=9)] = 1
    size: Size = Size.SMALL
    tags: list[str] = []


class OrderStatus(BaseModel):
    phase: Literal["Open", "Done"] = "Open"


class Order(BaseModel):
    """An order of a shop."""

    spec: OrderSpec
    status: OrderStatus | None = None


class Impossible(BaseModel):
    pair: tuple[int, str]


class Faulty(Impossible):
    places: dict[tuple[int, int], str]
    size: Size = Size.SMALL


@dataclass
class Parcel:
    weight: float = 1.0


ORDER = CustomResource(
    group="shop.example.com", names=Names(kind="Order"), versions=(Version("v1", spec=OrderSpec, status=OrderStatus),)
)
NUMBER = 3

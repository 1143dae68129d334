"""Integers of a size, with inclusive bounds."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic_core import PydanticCustomError, PydanticKnownError

from crdgen.generate.errors import SchemaError
from crdgen.integers import RANGES
from crdgen.markers.marker import Marker, require_type
from crdgen.schema import Schema


@dataclass(frozen=True)
class Integer(Marker):
    """An integer of 32 or 64 bits. Used as it is, `Int32`, or called for bounds, `Int32(minimum=1)`."""

    format: Literal["int32", "int64"]
    minimum: int | None = None
    maximum: int | None = None

    def __call__(self, *, minimum: int | None = None, maximum: int | None = None) -> "Integer":
        """Return the same integer with inclusive bounds."""
        return replace(self, minimum=minimum, maximum=maximum)

    def apply(self, schema: Schema, path: str) -> Schema:
        """Return the node with format and bounds."""
        name = self.format.capitalize()
        require_type(schema, "integer", name, path, "annotate an `int`")
        low, high = RANGES[self.format]
        for bound in (self.minimum, self.maximum):
            if bound is not None and not low <= bound <= high:
                raise SchemaError(path, f"{name} cannot hold its bound {bound}", f"use a bound from {low} to {high}")
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return schema | {"format": self.format} | {key: bound for key, bound in bounds.items() if bound is not None}

    def check(self, value: Any) -> Any:
        """Refuse an integer that the bounds or the size refuse."""
        if value is None:
            return None
        low, high = RANGES[self.format]
        if not low <= value <= high:
            raise PydanticCustomError("integer_size", "must fit into {bits} bits", {"bits": self.format[3:]})
        if self.minimum is not None and value < self.minimum:
            raise PydanticKnownError("greater_than_equal", {"ge": self.minimum})
        if self.maximum is not None and value > self.maximum:
            raise PydanticKnownError("less_than_equal", {"le": self.maximum})
        return value


Int32 = Integer("int32")
Int64 = Integer("int64")

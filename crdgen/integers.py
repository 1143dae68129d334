"""Integers as the API server reads them."""

from typing import Any, Final

from pydantic_core import PydanticCustomError

# https://spec.openapis.org/oas/v3.0.3#data-types: the two formats that the API server checks.
RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def integral(value: Any) -> Any:
    """Return 3 for 3.0, because the API server does; everything else as it is.

    Raises:
        PydanticCustomError: For a number beyond 64 bits, which no typed client could read.
    """
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int:
        low, high = RANGES["int64"]
        if not low <= value <= high:
            raise PydanticCustomError("int64", "must fit into 64 bits")
    return value

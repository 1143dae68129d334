"""Fast acceptance is one-sided: what it accepts, the evaluator accepts; and it accepts what people write."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from jobgate.kinds.common.fitting import surely


class Port(Struct, forbid_unknown_fields=True):
    number: Annotated[int, Meta(ge=1, le=65535)]
    protocol: Literal["TCP", "UDP"] = "TCP"
    name: Annotated[str, Meta(max_length=15, pattern=r"\A[a-z]+\Z")] = "a"
    version: Literal[4, 6] = 4
    inner: "Port | None" = None


DEEP: dict[str, Any] = {"number": 1}
for _ in range(20_000):
    DEEP = {"number": 1, "inner": DEEP}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"number": 80}, True),
        ({"number": 80, "protocol": "UDP", "name": "web"}, True),
        ({"number": 0}, False),
        ({"number": True}, False),
        ({"number": 80.0}, False),
        ({"number": 10**400}, False),
        ({"number": "80"}, False),
        ({"number": None}, False),
        ({"number": 80, "protocol": "\ud800"}, False),
        ({"number": 80, "name": "\ud800"}, False),
        ({"number": 80, "name": "web\n"}, False),
        ({"number": 80, "name": "a" * 1_000_000}, False),
        ({"number": 80, "\ud800": 1}, False),
        ({"number": 80, "other": 1}, False),
        ({"number": 80, "version": 10**5000}, False),
        ({"number": 80, "inner": {"number": 81}}, True),
        (DEEP, False),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_shape_accepts_what_surely_fits_and_nothing_raises(value: Any, fits: bool) -> None:
    assert surely(Port)(value) is fits

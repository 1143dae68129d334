"""Schemas and values for which the API server's verdict is unexpected."""

from collections.abc import Sequence
from typing import Any, Final

_PORT: Final = {"x-kubernetes-int-or-string": True}
_ANY: Final = {"x-kubernetes-preserve-unknown-fields": True}
_WHOLE: Final = {"type": "integer"}
_NUMBER: Final = {"type": "number"}
_HAIR: Final = 1.0000000001
_SPREAD: Final[tuple[Any, ...]] = (1, 1.0, True, None, "1", "x", [], ["x"], {}, {"a": 1})

EDGES: Final[dict[str, tuple[dict[str, Any], Sequence[Any]]]] = {
    "an integer but for a hair": (_WHOLE, (_HAIR, 0.9999999999, 1.0, -0.0, 1e-10, 2.0**53, 2**53 + 1)),
    "a small integer": (_WHOLE | {"format": "int32"}, (2**31 - 1, 2**31, -(2**31) - 1, 1.0)),
    "an integer of another format": (_WHOLE | {"format": "double"}, (_HAIR, 2**31, 2**63 - 1, 2**63, 1e19)),
    "a text or nearly an integer": (_PORT, (1.5, 2**53 + 1, 2**63 - 1, 2**63, 2.0**53)),
    "a text or a small integer": (_PORT | {"format": "int32"}, (2**31, 2**63, "a")),
    "a text or an integer with bounds": (
        _PORT | {"minimum": 0.5, "maximum": 3, "multipleOf": 2},
        (0, 1, 2, 4, 2.0, "a"),
    ),
    "a text or a date": (_PORT | {"format": "date"}, (1, "2026-01-02", "x", [])),
    "a small float": (_NUMBER | {"format": "float"}, (3.4e38, 3.5e38, 1e-300, -3.5e38, 1)),
    "a number of an integer's format": (_NUMBER | {"format": "int32"}, (1.5, 2**31)),
    "a bound between integers": (_WHOLE | {"minimum": 1.5}, (1, 2, 1.0, "a")),
    "a bound that is too large": (_WHOLE | {"format": "int32", "maximum": 2**31}, (1, 2**31 - 1)),
    "the largest bound of all": (_WHOLE | {"maximum": 2**63 - 1}, (1, 1.0)),
    "the least bound of all": (_WHOLE | {"minimum": -(2**63)}, (1, 1.0)),
    "a large bound": (_WHOLE | {"maximum": 2**62}, (1, 2**62, 2**62 + 1)),
    "a bound beyond small floats": (_NUMBER | {"format": "float", "maximum": 1e39}, (1, 1.5)),
    "multiples of a half": (_NUMBER | {"multipleOf": 0.5}, (1, 1.0, 1.5, 0.7, 0)),
    "integers that are multiples of a half": (_WHOLE | {"multipleOf": 0.5}, (1, 1.0, 0)),
    "numbers of a list": (_NUMBER | {"enum": [1, -1, 2.5]}, (1.0, 2, 2.5, 0.9999999999, 1e300)),
    "whole floats of a list": (_NUMBER | {"enum": [2.0, 1.5]}, (2, 1.5, 1)),
    "a text of a list, or an integer": (_PORT | {"enum": ["a", "1", 7]}, ("a", 1, "1", 7, 7.0, 98)),
    "a list of values of any type": (
        _ANY | {"enum": ["a", 1, [1], {"a": 1}, None]},
        ([1], {"a": 1}, None, "b"),
    ),
    "nothing but a date": (_ANY | {"format": "date"}, _SPREAD),
    "nothing but a password": (_ANY | {"format": "password"}, _SPREAD),
    "nothing but an unknown format": (_ANY | {"format": "nonsense"}, _SPREAD),
    "nothing but a small integer": (_ANY | {"format": "int32"}, (*_SPREAD, 2**31)),
    "nothing but bounds": (_ANY | {"minimum": 0.5, "maxLength": 1, "pattern": "^x"}, (0, 1, *_SPREAD, "xx")),
}
"""By name: the schema, and values of it."""

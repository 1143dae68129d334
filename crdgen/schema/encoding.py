"""Defaults as JSON: what the model itself would write, names as in JSON."""

from collections.abc import Iterator, Mapping
from enum import Enum
from math import isfinite
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from crdgen.schema.factories import is_pure

_MASK = "**********"


class NoJsonError(ValueError):
    """A default that JSON cannot carry, or should not: the message says why, `fix` what may be written."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


def written(model: type[BaseModel], field: str, default: Any) -> Any:
    """Return a field's default as its model writes it: with the field's own serializer, and the model's settings.

    Raises:
        NoJsonError: When JSON cannot carry it.
    """
    _refuse_chance(default)
    # No validator and no factory of another field may run; what the serializer reads is enough.
    instance = model.__new__(model)
    object.__setattr__(instance, "__dict__", {field: default})
    object.__setattr__(instance, "__pydantic_fields_set__", {field})
    object.__setattr__(instance, "__pydantic_extra__", None)
    object.__setattr__(instance, "__pydantic_private__", None)
    try:
        values = model.__pydantic_serializer__.to_python(
            instance, mode="json", by_alias=True, include={field}, round_trip=True, warnings=False
        )
    except Exception:  # noqa: BLE001 - a serializer of the model's own may want more than one field
        return json_of(default)
    if not isinstance(values, dict) or len(values) != 1:
        return json_of(default)
    return checked(next(iter(values.values())), default)


def json_of(default: Any) -> Any:
    """Return a default as JSON, whatever it is a default of: aliases, and the values of enums.

    Raises:
        NoJsonError: When JSON cannot carry it.
    """
    _refuse_chance(default)
    try:
        return checked(_plain(default), default)
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError) as error:
        raise NoJsonError(
            f"the default {default!r} cannot be written as JSON",
            "give a default of the field's type, or None",
        ) from error


def checked(value: Any, default: Any) -> Any:
    """Return the JSON of a default, or refuse what a CRD must not hold.

    Raises:
        NoJsonError: For a number that JSON has no word for, and for a secret.
    """
    if (isinstance(default, float) and not isfinite(default)) or any(
        isinstance(scalar, float) and not isfinite(scalar) for scalar in _scalars(value)
    ):
        raise NoJsonError("JSON has no infinity and no NaN", "make None the default, and read it as infinity")
    if any(scalar == _MASK for scalar in _scalars(value)):
        raise NoJsonError("the default is a secret, which everybody could read in the CRD", "drop the default")
    return value


def _refuse_chance(default: Any) -> None:
    """Refuse a model as a default whose own factories gave it what they give nobody else, such as a random id."""
    if not isinstance(default, BaseModel):
        return
    for name, field in type(default).model_fields.items():
        if name in default.model_fields_set:
            _refuse_chance(getattr(default, name, None))
        elif field.default_factory is not None and not is_pure(field.default_factory):
            raise NoJsonError(
                f"the default holds what a factory of {type(default).__name__}.{name} made, which is new each time",
                f"give {name} a value in the default",
            )


def _plain(default: Any) -> Any:
    if isinstance(default, BaseModel):
        return default.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    if isinstance(default, Enum):
        return _plain(default.value)
    if isinstance(default, Mapping):
        return {to_jsonable_python(key): _plain(value) for key, value in default.items()}
    if isinstance(default, list | tuple):
        return [_plain(value) for value in default]
    if isinstance(default, set | frozenset):
        return sorted((_plain(value) for value in default), key=repr)
    return to_jsonable_python(default, by_alias=True)


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for child in value.values():
            yield from _scalars(child)
    elif isinstance(value, list):
        for child in value:
            yield from _scalars(child)
    else:
        yield value

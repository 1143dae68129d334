"""Defaults as JSON, in the form that the model writes and reads."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, time
from math import isfinite
from typing import Any

from pydantic import BaseModel
from pydantic_core import (
    CoreSchema,
    PydanticSerializationError,
    SchemaValidator,
    to_json,
    to_jsonable_python,
)

_MASK = "**********"


class NotJsonError(ValueError):
    """A default that has no JSON form, or should not be in a CRD; `fix` is what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


def spelled(model: type[BaseModel], field: str, default: Any, core: CoreSchema, config: Any) -> tuple[Any, ...]:
    """Return the JSON that a field reads as its default: as its model writes it, and as its type alone is written.

    A serializer alone makes no other JSON readable: what it writes is a default only if the field reads it back.

    `core` is the core schema of the field, `config` that of the model.
    """
    forms = [written(model, field, default)]
    with suppress(NotJsonError):
        forms.append(json_of(default))
    return tuple(form for form in forms if _is_read(form, default, core, config)) or tuple(forms)


def _is_read(form: Any, default: Any, core: CoreSchema, config: Any) -> bool:
    """Return whether a field reads JSON as its default; False too if that cannot be found out."""
    try:
        return bool(SchemaValidator(core, config).validate_json(to_json(form)) == default)
    except Exception:  # noqa: BLE001 - whatever a validator of the author's own raises, or a comparison of arrays
        return False


def written(model: type[BaseModel], field: str, default: Any) -> Any:
    """Return a field's default as its model writes it: with the field's own serializer, and the model's settings."""
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
    """Return a default as JSON, whatever it is a default of: aliases, and the values of enums."""
    try:
        return checked(to_jsonable_python(default, by_alias=True), default)
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError) as error:
        raise NotJsonError(*_unwritable(default)) from error


def checked(value: Any, default: Any) -> Any:
    """Return the JSON of a default, or reject what a CRD must not hold."""
    scalars = list(_scalars(value))
    if any(isinstance(scalar, float) and not isfinite(scalar) for scalar in (default, *scalars)):
        raise NotJsonError("JSON has no infinity and no NaN", "make None the default, and read it as infinity")
    if _MASK in scalars:
        raise NotJsonError("the default is a secret, which everybody could read in the CRD", "drop the default")
    try:
        to_json(value)
    except PydanticSerializationError as error:  # half a character, as "\ud800"
        raise NotJsonError(*_unwritable(default)) from error
    return value


def is_constant(factory: Callable[..., Any]) -> bool:
    """Return whether a factory gives the same twice, and no date, which would be that of today."""
    try:
        one, other = factory(), factory()
        return bool(one == other) and not isinstance(one, date | time)
    except Exception:  # noqa: BLE001 - a factory that fails, or that takes other fields
        return False


def _unwritable(default: Any) -> tuple[str, str]:
    return f"the default {default!r} cannot be written as JSON", "give a default of the field's type, or None"


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for child in value.values():
            yield from _scalars(child)
    elif isinstance(value, list):
        for child in value:
            yield from _scalars(child)
    else:
        yield value

"""Defaults as JSON, in the form that the model writes and reads."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, time
from math import isfinite
from typing import Any

from pydantic_core import (
    CoreSchema,
    PydanticSerializationError,
    SchemaSerializer,
    SchemaValidator,
    to_json,
    to_jsonable_python,
)

_MASK = "**********"
SECRET = ("the default is a secret, which everybody could read in the CRD", "drop the default")


class NotJsonError(ValueError):
    """A default that has no JSON form, or should not be in a CRD; `fix` is what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


def spelled(default: Any, core: CoreSchema, config: Any) -> Any:
    """Return a default as JSON: as its type writes it, if it reads that again, and otherwise as Python does.

    Args:
        default: Any Python value.
        core: The core schema of its type.
        config: The settings of the model that the field is in.

    Raises:
        NotJsonError: When it has no JSON form.
    """
    with suppress(Exception):  # whatever a serializer or validator of the author's own raises, or a reference in `core`
        form = SchemaSerializer(core, config).to_python(
            default, mode="json", by_alias=True, round_trip=True, warnings=False
        )
        if SchemaValidator(core, config).validate_json(to_json(form)) == default:
            return checked(form, default)
    return json_of(default)


def json_of(default: Any) -> Any:
    """Return a default as JSON, whatever it is a default of: aliases, and the values of enums."""
    try:
        return checked(to_jsonable_python(default, by_alias=True, round_trip=True), default)
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError) as error:
        raise NotJsonError(*_unwritable(default)) from error


def checked(value: Any, default: Any) -> Any:
    """Return the JSON of a default, or reject what a CRD must not hold."""
    scalars = list(_scalars(value))
    if any(isinstance(scalar, float) and not isfinite(scalar) for scalar in (default, *scalars)):
        raise NotJsonError("JSON has no infinity and no NaN", "make None the default, and read it as infinity")
    if _MASK in scalars:
        raise NotJsonError(*SECRET)
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

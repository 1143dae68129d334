"""Convert defaults to JSON, in the form that the model writes and reads."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, time
from math import isfinite
from typing import Any

from pydantic import BaseModel
from pydantic_core import (
    CoreSchema,
    PydanticSerializationError,
    SchemaSerializer,
    SchemaValidator,
    to_json,
    to_jsonable_python,
)

from crdgen.schema.look import distinct

_MASK = "**********"
SECRET = ("the default is a secret, which everybody could read in the CRD", "drop the default")


class NotJsonError(ValueError):
    """A default that has no JSON form, or must not be in a CRD; `fix` says what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


def default_forms(default: Any, core: CoreSchema, config: Any) -> list[Any]:
    """Return the JSON forms of a field's default, best first: as the field writes it, and as Python does.

    Args:
        default: Any Python value.
        core: The core schema of the field.
        config: The settings of the field's model.

    Raises:
        NotJsonError: The default has no JSON form.
    """
    _reject_varying(default)
    forms = []
    with suppress(Exception):  # an author's own serializer may raise anything
        serializer = SchemaSerializer(core, config)
        forms += [serializer.to_python(default, mode="json", by_alias=True, round_trip=True, warnings=False)]
    try:
        forms.append(json_of(default))
    except NotJsonError:
        if not forms:
            raise
    readable, equal = [], []
    for form in distinct(require_json(form, default) for form in forms):
        with suppress(Exception):  # an author's own validator, or a comparison of arrays, may raise anything
            outcome = SchemaValidator(core, config).validate_json(to_json(form))
            readable.append(form)
            equal += [form] if outcome == default else []
    # Pydantic does not validate defaults, so perhaps no form is equal or readable; then the schema reports the error.
    return equal or readable or forms


def json_of(default: Any) -> Any:
    """Return any default as JSON, with aliases and the values of enums."""
    try:
        return require_json(to_jsonable_python(default, by_alias=True, round_trip=True), default)
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError) as error:
        raise NotJsonError(*_unwritable(default)) from error


def require_json(value: Any, default: Any) -> Any:
    """Return the value, or raise if a CRD cannot contain it as a default."""
    scalars = list(_scalars(value))
    if any(isinstance(scalar, float) and not isfinite(scalar) for scalar in (default, *scalars)):
        raise NotJsonError("JSON has no infinity and no NaN", "make None the default, and read it as infinity")
    if _MASK in scalars:
        raise NotJsonError(*SECRET)
    try:
        to_json(value)
    except PydanticSerializationError as error:  # a lone surrogate, as "\ud800"
        raise NotJsonError(*_unwritable(default)) from error
    return value


def is_constant(factory: Callable[..., Any]) -> bool:
    """Return whether a factory returns equal values in two calls. Dates do not count: they may be today's."""
    try:
        first, second = factory(), factory()
        return bool(first == second) and not isinstance(first, date | time)
    except Exception:  # noqa: BLE001 - a factory that fails, or that takes other fields
        return False


def _reject_varying(default: Any) -> None:
    """Raise if a default contains a model with a factory that returns another value each time, such as a random ID."""
    for item in default.values() if isinstance(default, dict) else default if isinstance(default, list) else ():
        _reject_varying(item)
    for name, field in type(default).model_fields.items() if isinstance(default, BaseModel) else ():
        if name in default.model_fields_set:
            _reject_varying(getattr(default, name, None))
        elif field.default_factory is not None and not is_constant(field.default_factory):
            problem = f"the default holds what a factory of {type(default).__name__}.{name} made, new each time"
            raise NotJsonError(problem, f"give {name} a value in the default")


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

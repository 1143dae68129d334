"""Defaults as JSON, in the form that the model writes and reads."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from math import isfinite
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic import BaseModel
from pydantic_core import (
    CoreSchema,
    PydanticSerializationError,
    SchemaError,
    SchemaValidator,
    to_json,
    to_jsonable_python,
)

from crdgen.generate.factories import is_pure

_MASK = "**********"
_UNREAD: Final = object()

Reader: TypeAlias = Callable[[Any], Any]
"""Returns what a field makes of JSON; any exception means that it does not take it."""


class NoJsonError(ValueError):
    """A default that has no JSON form, or should not be in a CRD; `fix` is what to write instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


class JsonSpelling(NamedTuple):
    """A default that a serializer of the author's own writes, or may write.

    Attributes:
        default: What it is in Python.
        forms: The JSON that the field reads as this default: the serializer's first, then that of the type.
        unread: That the field reads none of them, and the fix. It is to be told where the schema takes one; otherwise
            the schema says better what is wrong.
    """

    default: Any
    forms: tuple[Any, ...]
    unread: tuple[str, str] | None = None


def reader(core: CoreSchema, config: Any) -> Reader | None:
    """Return what reads JSON as a field does, None where that cannot be told apart from its model.

    Args:
        core: The core schema of the field.
        config: That of its model, for the core.
    """
    try:
        validator = SchemaValidator(core, config)
    except SchemaError:  # it refers to definitions outside
        return None
    return lambda value: validator.validate_json(to_json(value))


def spelled(model: type[BaseModel], field: str, default: Any, core: CoreSchema, config: Any) -> JsonSpelling:
    """Return a field's default as its model writes it, where the field reads that, and as its type is written.

    A serializer alone makes no other JSON readable: what it writes is a default only if the field reads it back.
    """
    own = written(model, field, default)
    written_forms: tuple[Any, ...]
    try:
        written_forms = (own, json_of(default))
    except NoJsonError:
        written_forms = (own,)
    try:
        is_plain = len(written_forms) > 1 and to_json(own) == to_json(written_forms[1])
    except PydanticSerializationError as error:  # half a character, as "\ud800"
        raise NoJsonError(*_unwritable(default)) from error
    read = None if is_plain else reader(core, config)
    if read is None:
        return JsonSpelling(default, (own,))
    outcomes = [(form, _outcome(read, form)) for form in written_forms]
    readable = [(form, outcome) for form, outcome in outcomes if outcome is not _UNREAD]
    # A default is not validated, so that none may be equal to it.
    forms = [form for form, outcome in readable if _equal(outcome, default)] or [form for form, _ in readable]
    if not forms:
        problem = f"its serializer writes the default {default!r} as {own!r}, which the field does not accept"
        fix = "let the field accept what it writes, or mark it with `ModelDefault`, so that only the model sets it"
        return JsonSpelling(default, written_forms, (problem, fix))
    return JsonSpelling(default, tuple(forms))


def _outcome(read: Reader, form: Any) -> Any:
    try:
        return read(form)
    except Exception:  # noqa: BLE001 - whatever a validator of the author's own raises
        return _UNREAD


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - as of arrays, whose comparison is no bool
        return False


def written(model: type[BaseModel], field: str, default: Any) -> Any:
    """Return a field's default as its model writes it: with the field's own serializer, and the model's settings."""
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
    """Return a default as JSON, whatever it is a default of: aliases, and the values of enums."""
    _refuse_chance(default)
    try:
        return checked(_plain(default), default)
    except (PydanticSerializationError, UnicodeDecodeError, RecursionError) as error:
        raise NoJsonError(*_unwritable(default)) from error


def checked(value: Any, default: Any) -> Any:
    """Return the JSON of a default, or refuse what a CRD must not hold."""
    if (isinstance(default, float) and not isfinite(default)) or any(
        isinstance(scalar, float) and not isfinite(scalar) for scalar in _scalars(value)
    ):
        raise NoJsonError("JSON has no infinity and no NaN", "make None the default, and read it as infinity")
    if any(scalar == _MASK for scalar in _scalars(value)):
        raise NoJsonError("the default is a secret, which everybody could read in the CRD", "drop the default")
    return value


def _refuse_chance(default: Any) -> None:
    """Reject a model as default if its own factories set values that differ each time, such as a random ID."""
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


def _unwritable(default: Any) -> tuple[str, str]:
    if callable(default):
        name = getattr(default, "__name__", type(default).__name__)
        return f"the default is the function {name} itself", f"write what it returns, or `default_factory={name}`"
    if isinstance(default, bytes):
        fix = 'let bytes be base64: `val_json_bytes="base64"` and `ser_json_bytes="base64"` in the model\'s config'
        return f"the default {default!r} cannot be written as JSON, in which bytes are text", fix
    return f"the default {default!r} cannot be written as JSON", "give a default of the field's type, or None"


def _plain(default: Any) -> Any:
    if isinstance(default, BaseModel):
        return _dumped(default)
    if isinstance(default, Enum):
        return _plain(default.value)
    if isinstance(default, Mapping):
        return {to_jsonable_python(key): _plain(value) for key, value in default.items()}
    if isinstance(default, list | tuple):
        return [_plain(value) for value in default]
    if isinstance(default, set | frozenset):
        return sorted((_plain(value) for value in default), key=repr)
    return to_jsonable_python(default, by_alias=True)


def _dumped(default: BaseModel) -> Any:
    dumped: Any = default.model_dump(mode="json", by_alias=True, round_trip=True, warnings=False)
    if isinstance(dumped, dict) or default.__pydantic_root_model__:
        return dumped
    # A serializer of its own makes something else of it; what it reads is an object.
    fields = type(default).model_fields
    return {field.alias or name: _plain(getattr(default, name)) for name, field in fields.items()}


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for child in value.values():
            yield from _scalars(child)
    elif isinstance(value, list):
        for child in value:
            yield from _scalars(child)
    else:
        yield value

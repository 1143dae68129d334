"""The arguments of a plugin: a model, read from flags as Volcano writes them, or from a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from jobgate.plugins.flags import FlagType, cause_of, choices, read
from webhook import Cause, Forbidden, Invalid, NotSupported, Path, TypeInvalid

A = TypeVar("A", bound="Arguments")


@dataclass(frozen=True, slots=True)
class Takes:
    """The description of an argument's value: `Annotated[int, Takes("a port, from 1 to 65535")]`."""

    what: str


@dataclass(frozen=True, slots=True)
class Unoffered:
    """Marks an argument that is read only to report what to use instead: no message offers it."""


class Arguments(BaseModel):
    """The arguments of a plugin. A field `key_path` is the flag `--key-path`, and the key `key-path` of a mapping."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        hide_input_in_errors=True,
    )


class NoArguments(Arguments):
    """The arguments of a plugin that takes none."""


def parse(model: type[A], plugin: str, written: Any, path: Path) -> tuple[A | None, list[Cause]]:
    """Read the arguments that a job gives to a plugin. Messages have no values: one of them may be a key.

    Args:
        model: arguments of the plugin.
        plugin: name of the plugin.
        written: a list of flags, a mapping, or null for none.
        path: where they are in the job.

    Returns:
        The arguments, or None and what is wrong with them.
    """
    values: dict[str, Any] = {}
    places: dict[str, Path] = {}
    causes: list[Cause] = []
    if isinstance(written, Mapping):
        values = dict(written)
    elif isinstance(written, list):
        values, places, causes = _of_flags(model, plugin, written, path)
    elif written is not None:
        example = f"[{choices(_flags(model), _hidden(model))}]"
        text = f"must be a list of flags, such as {example}, or a mapping"
        return None, [TypeInvalid(path, type(written).__name__, text)]
    try:
        parsed = model.model_validate(values)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        # One for each argument, the first.
        first = {str(one["loc"][0]) if one["loc"] else "": one for one in reversed(errors)}
        return None, causes + [_cause(model, plugin, name, one, path, places) for name, one in reversed(first.items())]
    return (None if causes else parsed), causes


@cache
def _flags(model: type[Arguments]) -> Mapping[str, FlagType]:
    return {
        field.alias or name: FlagType.SWITCH if field.annotation is bool else FlagType.TEXT
        for name, field in model.model_fields.items()
    }


def _of_flags(
    model: type[Arguments], plugin: str, written: list[Any], path: Path
) -> tuple[dict[str, Any], dict[str, Path], list[Cause]]:
    """Return the values by flag, the path of each, and what is wrong with the flags."""
    values: dict[str, Any] = {}
    places: dict[str, Path] = {}
    causes: list[Cause] = []
    flags, hidden = _flags(model), _hidden(model)
    if wrong := [place for place, one in enumerate(written) if not isinstance(one, str)]:
        return {}, {}, [TypeInvalid(path / place, type(written[place]).__name__, "must be a string") for place in wrong]
    for argument in read(written, flags):
        place = path / argument.place
        if argument.fault is not None:
            what = _takes(model, argument.name)
            causes.append(cause_of(place, plugin, argument, flags, hidden=hidden, what=what))
        else:
            values[argument.name] = True if argument.value is None else argument.value
            places[argument.name] = place
    return values, places, causes


def _cause(
    model: type[Arguments],
    plugin: str,
    name: str,
    error: Mapping[str, Any],
    path: Path,
    places: Mapping[str, Path],
) -> Cause:
    place = places.get(name, path / name if name else path)
    if error["type"] == "extra_forbidden":
        flags = [flag for flag in _flags(model) if flag not in _hidden(model)]
        return (
            NotSupported(place, name, flags) if flags else Forbidden(place, f"{plugin} takes no arguments: remove it")
        )
    if not name:
        return Invalid(place, plugin, str(error["msg"]).removeprefix("Value error, "))
    return Invalid(place, f"--{name}" if name in places else name, f"its value must be {_takes(model, name)}")


def _takes(model: type[Arguments], flag: str) -> str:
    for name, field in model.model_fields.items():
        if (field.alias or name) == flag:
            said = next((one.what for one in field.metadata if isinstance(one, Takes)), "")
            return said or ("true or false" if field.annotation is bool else "a string")
    return "a string"


@cache
def _hidden(model: type[Arguments]) -> frozenset[str]:
    return frozenset(
        field.alias or name
        for name, field in model.model_fields.items()
        if any(isinstance(one, Unoffered) for one in field.metadata)
    )

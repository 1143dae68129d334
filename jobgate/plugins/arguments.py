"""The arguments of a plugin: a model, read from flags as Volcano writes them, or from a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from jobgate.plugins.flags import Flag, Flags, FlagType, cause_of, choices, read
from webhook import Cause, Forbidden, Invalid, NotSupported, Path, TypeInvalid

A = TypeVar("A", bound="Arguments")


@dataclass(frozen=True, slots=True)
class Takes:
    """The description of an argument's value: `Annotated[int, Takes("a port, from 1 to 65535")]`.

    An argument that is not offered is read only to report what to use instead.
    """

    what: str = ""
    offered: bool = True


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
    flags = _flags(model)
    values: dict[str, Any] = {}
    places: dict[str, Path] = {}
    causes: list[Cause] = []
    if isinstance(written, Mapping):
        values = dict(written)
    elif isinstance(written, list):
        causes = [
            TypeInvalid(path / place, type(one).__name__, "must be a string")
            for place, one in enumerate(written)
            if not isinstance(one, str)
        ]
        for argument in () if causes else read(written, flags):
            if argument.fault is not None:
                causes.append(cause_of(path / argument.place, plugin, argument, flags))
            else:
                values[argument.name] = True if argument.value is None else argument.value
                places[argument.name] = path / argument.place
    elif written is not None:
        text = f"must be a list of flags, such as [{choices(flags)}], or a mapping"
        return None, [TypeInvalid(path, type(written).__name__, text)]
    try:
        parsed = model.model_validate(values)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        # One for each argument, the first.
        first = {str(one["loc"][0]) if one["loc"] else "": one for one in reversed(errors)}
        return None, causes + [_cause(flags, plugin, name, one, path, places) for name, one in reversed(first.items())]
    return (None if causes else parsed), causes


@cache
def _flags(model: type[Arguments]) -> Flags:
    flags = {}
    for name, field in model.model_fields.items():
        type_ = FlagType.SWITCH if field.annotation is bool else FlagType.TEXT
        takes = next((one for one in field.metadata if isinstance(one, Takes)), Takes())
        flags[field.alias or name] = Flag(type_, takes.what or type_.value, takes.offered)
    return flags


def _cause(
    flags: Flags, plugin: str, name: str, error: Mapping[str, Any], path: Path, places: Mapping[str, Path]
) -> Cause:
    place = places.get(name, path / name if name else path)
    if error["type"] == "extra_forbidden":
        offered = [flag for flag in flags if flags[flag].offered]
        if offered:
            return NotSupported(place, name, offered)
        return Forbidden(place, f"{plugin} takes no arguments: remove it")
    if not name:
        return Invalid(place, plugin, str(error["msg"]).removeprefix("Value error, "))
    what = flags[name].what if name in flags else FlagType.TEXT.value  # a field may be read by another alias
    return Invalid(place, f"--{name}" if name in places else name, f"its value must be {what}")

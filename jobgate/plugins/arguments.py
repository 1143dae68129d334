"""The arguments of a plugin: a model, read from flags as Volcano writes them, or from a mapping.

Flags are read as Go's package `flag` reads them: `-x`, `--x`, `-x=v`, `-x v`. At the first unknown flag Volcano logs a
line, and ignores all flags after it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, ValidationError

from webhook import Cause, Forbidden, Invalid, NotSupported, Path, Required, TypeInvalid
from webhook.explain import ENOUGH

A = TypeVar("A", bound="Arguments")

#: An argument that is a flag; Go treats one dash like two.
_FLAG = re.compile(r"--?([^-=][^=]*)(?:=(.*))?\Z", re.DOTALL)
#: The values that Go's `strconv.ParseBool` accepts.
_BOOLEANS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})


class Takes(Struct, frozen=True):
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
        defer_build=True,
    )


class NoArguments(Arguments):
    """The arguments of a plugin that takes none."""


def parse(model: type[A], plugin: str, written: Any, path: Path) -> tuple[A | None, list[Cause]]:
    """Read the arguments that a job gives to a plugin. Messages contain no values: a value may be a private key.

    Args:
        model: arguments of the plugin.
        plugin: name of the plugin.
        written: a list of flags, a mapping, or null for none.
        path: their path in the job.

    Returns:
        The arguments, or None and the faults.
    """
    flags = _flags(model)
    values: dict[str, Any] = {}
    places: dict[str, Path] = {}
    causes: list[Cause] = []
    if isinstance(written, Mapping):
        values = dict(written)
    elif isinstance(written, list):
        causes = [
            TypeInvalid(path / place, type(argument).__name__, "must be a string")
            for place, argument in enumerate(written)
            if not isinstance(argument, str)
        ]
        for place, name, value in () if causes else _read(written, flags):
            if len(causes) >= ENOUGH:
                break
            if cause := _fault(path / place, plugin, name, value, flags):
                causes.append(cause)
                continue
            if name in values:  # the last value applies, but every value must be valid
                _, wrong = _validated(model, plugin, {name: values[name]}, path, places)
                causes += [cause for cause in wrong if cause.path == places[name]]
            values[name] = True if value is None else value
            places[name] = path / place
    elif written is not None:
        text = f"must be a list of flags, such as [{_choices(flags)}], or a mapping"
        return None, [TypeInvalid(path, type(written).__name__, text)]
    parsed, wrong = _validated(model, plugin, values, path, places)
    causes += wrong
    return (None if causes else parsed), causes


def _validated(
    model: type[A], plugin: str, values: Mapping[str, Any], path: Path, places: Mapping[str, Path]
) -> tuple[A | None, list[Cause]]:
    try:
        return model.model_validate(values), []
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        # Only the first error of each argument.
        first = {str(each["loc"][0]) if each["loc"] else "": each for each in reversed(errors)}
        flags = _flags(model)
        return None, [_cause(flags, plugin, name, each, path, places) for name, each in reversed(first.items())]


class _Flag(Struct, frozen=True):
    """A flag: how messages describe its value, whether the value is optional, and whether messages offer it."""

    value: str
    switch: bool
    offered: bool


#: By name, without dashes.
_Flags: TypeAlias = Mapping[str, _Flag]


@cache
def _flags(model: type[Arguments]) -> _Flags:
    flags = {}
    for name, field in model.model_fields.items():
        switch = field.annotation is bool
        takes = next((marker for marker in field.metadata if isinstance(marker, Takes)), Takes())
        value = takes.what or ("true or false" if switch else "a string")
        flags[field.alias or name] = _Flag(value, switch, takes.offered)
    return flags


def _read(arguments: Sequence[str], flags: _Flags) -> Iterator[tuple[int, str, str | None]]:
    """Yield the place, name and value of each flag; an empty name for an argument that is not a flag."""
    places = iter(enumerate(arguments))
    for place, argument in places:
        if argument == "--":
            return  # Go stops parsing flags here
        match = _FLAG.match(argument)
        name, value = match.groups() if match else ("", None)
        following = arguments[place + 1 : place + 2]
        if name and value is None and following:
            takes_next = not flags[name].switch if name in flags else not following[0].startswith("-")
            value = next(places)[1] if takes_next else None
        yield place, name, value


def _fault(path: Path, plugin: str, name: str, value: str | None, flags: _Flags) -> Cause | None:
    """Return the fault of an argument, without its value, which may be a private key."""
    if not flags:
        return Forbidden(path, f"{plugin} takes no arguments: remove it")
    if not name:
        return Forbidden(path, f"{plugin} takes only flags: use {_choices(flags)}")
    if name not in flags:
        return NotSupported(path, f"--{name}", [f"--{known}" for known, flag in flags.items() if flag.offered])
    if value is None:
        text = f"--{name} takes {flags[name].value}: use --{name}=<value>"
        return None if flags[name].switch else Required(path, text)
    wrong = flags[name].switch and value not in _BOOLEANS
    return Invalid(path, f"--{name}", f"its value must be {flags[name].value}") if wrong else None


def _choices(flags: _Flags) -> str:
    """Return the flags as a user writes them."""
    return ", ".join(f"--{name}" + ("" if flag.switch else "=<value>") for name, flag in flags.items() if flag.offered)


def _cause(
    flags: _Flags, plugin: str, name: str, error: Mapping[str, Any], path: Path, places: Mapping[str, Path]
) -> Cause:
    place = places.get(name, path / name if name else path)
    if error["type"] == "extra_forbidden":
        offered = [flag for flag in flags if flags[flag].offered]
        if offered:
            return NotSupported(place, name, offered)
        return Forbidden(place, f"{plugin} takes no arguments: remove it")
    if not name:
        return Invalid(place, plugin, str(error["msg"]).removeprefix("Value error, "))
    value = flags[name].value if name in flags else "a string"  # a field may be read by another alias
    return Invalid(place, f"--{name}" if name in places else name, f"its value must be {value}")

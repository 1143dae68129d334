"""The arguments of a plugin: a model, read from flags as Volcano writes them, or from a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from jobgate.plugins.flags import Fault, Sort, read
from webhook import Cause, Forbidden, Invalid, NotSupported, Path, Required, TypeInvalid

A = TypeVar("A", bound="Arguments")


@dataclass(frozen=True, slots=True)
class Takes:
    """What the value of an argument is, said to the user: `Annotated[int, Takes("a port, from 1 to 65535")]`."""

    what: str


@dataclass(frozen=True, slots=True)
class Unoffered:
    """Marks an argument that is read to say what is right instead: no message offers it."""


class Arguments(BaseModel):
    """What a plugin can be told. A field `key_path` is the flag `--key-path`, and the key `key-path` of a mapping."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=lambda name: name.replace("_", "-"),
        hide_input_in_errors=True,
    )


def parse(model: type[A], plugin: str, written: Any, path: Path) -> tuple[A | None, list[Cause]]:
    """Read the arguments that a job gives to a plugin.

    Values are never told: one of them may be a key.

    Args:
        model: what the plugin can be told.
        plugin: what it is called.
        written: a list of flags, a mapping, or null for none.
        path: where they stand in the job.

    Returns:
        The arguments, or None where something is wrong with them, and what is.
    """
    if written is None or written in ([], {}):
        written = {}
    values: dict[str, Any]
    places: dict[str, Path] = {}
    causes: list[Cause] = []
    if isinstance(written, Mapping):
        values = dict(written)
    elif isinstance(written, list):
        values, places, causes = _of_flags(model, plugin, written, path)
    else:
        example = f"[{_choices(model)}]"
        return None, [
            TypeInvalid(path, type(written).__name__, f"must be a list of flags, such as {example}, or a mapping")
        ]
    try:
        parsed = model.model_validate(values)
    except ValidationError as error:
        causes += [_cause(model, plugin, one, path, places) for one in _told_once(error)]
        return None, causes
    return (None if causes else parsed), causes


def flags_of(model: type[Arguments]) -> dict[str, Sort]:
    """Return the flags of a model, as the reader of flags knows them."""
    return {
        field.alias or name: Sort.SWITCH if field.annotation is bool else Sort.TEXT
        for name, field in model.model_fields.items()
    }


def _of_flags(
    model: type[Arguments], plugin: str, written: list[Any], path: Path
) -> tuple[dict[str, Any], dict[str, Path], list[Cause]]:
    """Return the values by flag, where each stands, and what is wrong with the flags."""
    values: dict[str, Any] = {}
    places: dict[str, Path] = {}
    causes: list[Cause] = []
    flags = flags_of(model)
    if wrong := [place for place, one in enumerate(written) if not isinstance(one, str)]:
        return {}, {}, [TypeInvalid(path / place, type(written[place]).__name__, "must be a string") for place in wrong]
    for argument in read(written, flags):
        place = path / argument.place
        if argument.fault in {Fault.NO_FLAG, Fault.UNKNOWN} and not flags:
            causes.append(Forbidden(place, f"{plugin} takes no arguments: remove it"))
        elif argument.fault is Fault.NO_FLAG:
            causes.append(Forbidden(place, f"{plugin} takes only flags: use {_choices(model)}"))
        elif argument.fault is Fault.UNKNOWN:
            causes.append(NotSupported(place, f"--{argument.name}", [f"--{flag}" for flag in _offered(model)]))
        elif argument.fault is Fault.NO_VALUE:
            text = f"--{argument.name} takes {_takes(model, argument.name)}: use --{argument.name}=<value>"
            causes.append(Required(place, text))
        elif argument.fault is Fault.WRONG_VALUE:
            causes.append(Invalid(place, f"--{argument.name}", f"its value must be {_takes(model, argument.name)}"))
        else:
            values[argument.name] = True if argument.value is None else argument.value
            places[argument.name] = place
    return values, places, causes


def _told_once(error: ValidationError) -> Iterator[Mapping[str, Any]]:
    """Yield one error for each argument."""
    seen = set()
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        if (name := one["loc"][0] if one["loc"] else "") not in seen:
            seen.add(name)
            yield {**one, "name": name}


def _cause(
    model: type[Arguments], plugin: str, error: Mapping[str, Any], path: Path, places: Mapping[str, Path]
) -> Cause:
    name = str(error["name"])
    place = places.get(name, path / name if name else path)
    if error["type"] == "extra_forbidden":
        flags = list(_offered(model))
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


def _choices(model: type[Arguments]) -> str:
    return ", ".join(
        f"--{flag}" + ("" if sort is Sort.SWITCH else "=<value>") for flag, sort in _offered(model).items()
    )


def _offered(model: type[Arguments]) -> dict[str, Sort]:
    hidden = {
        field.alias or name
        for name, field in model.model_fields.items()
        if any(isinstance(one, Unoffered) for one in field.metadata)
    }
    return {flag: sort for flag, sort in flags_of(model).items() if flag not in hidden}

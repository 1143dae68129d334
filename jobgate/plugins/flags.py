"""The flags of Volcano's plugins, read as Go's package `flag` reads them: `-x`, `--x`, `-x=v`, `-x v`.

Volcano reads them when the job runs. At the first unknown one it logs a line, and ignores all that follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from webhook import Cause, Forbidden, Invalid, NotSupported, Path, Required

#: An argument that is a flag; Go takes one dash for two.
_FLAG = re.compile(r"--?([^-=][^=]*)(?:=(.*))?\Z", re.DOTALL)

#: What Go's `strconv.ParseBool` takes.
_BOOLEANS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})

#: What Go's `strconv.ParseInt` takes for any base, up to the size.
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)\Z")


class FlagType(Enum):
    """The type of a flag's value, as messages name it."""

    TEXT = "a string"
    SWITCH = "true or false"
    PORT = "a port number between 1 and 65535"
    SECONDS = "an integer number of seconds"


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of a plugin: the type of its value, what messages call the value, and whether messages offer the flag."""

    type: FlagType
    what: str
    offered: bool = True
    default: str = ""


#: By name, without dashes.
Flags: TypeAlias = Mapping[str, Flag]


class FlagFault(Enum):
    """What is wrong with an argument."""

    UNKNOWN = "unknown flag"
    NO_FLAG = "not a flag"
    NO_VALUE = "missing value"
    WRONG_VALUE = "invalid value for the flag"


@dataclass(frozen=True, slots=True)
class Argument:
    """One of a plugin's arguments.

    Attributes:
        place: its index.
        name: name of the flag without dashes; empty if it is no flag.
        value: its value, which may be a secret; None if it has none.
        fault: what is wrong with it.
    """

    place: int
    name: str = ""
    value: str | None = None
    fault: FlagFault | None = None


def read(arguments: Sequence[str], flags: Flags) -> Iterator[Argument]:
    """Yield a plugin's arguments with their faults, also those after a fault."""
    place = 0
    while place < len(arguments):
        match = _FLAG.match(arguments[place])
        if not match:
            if arguments[place] == "--":
                return  # so Go marks the end of the flags, and Volcano reads nothing else
            yield Argument(place, fault=FlagFault.NO_FLAG)
            place += 1
            continue
        name, value = match.groups()
        follows = place + 1 < len(arguments)
        takes_next = (
            value is None
            and follows
            and (flags[name].type is not FlagType.SWITCH if name in flags else not arguments[place + 1].startswith("-"))
        )
        if takes_next:
            value = arguments[place + 1]
        yield Argument(place, name, value, _fault(name, value, flags))
        place += 2 if takes_next else 1


def cause_of(path: Path, plugin: str, argument: Argument, flags: Flags) -> Cause:
    """Return the cause of an argument's fault, without its value, which may be a key."""
    name = argument.name
    if not flags:
        return Forbidden(path, f"{plugin} takes no arguments: remove it")
    if argument.fault is FlagFault.NO_FLAG:
        return Forbidden(path, f"{plugin} takes only flags: use {choices(flags)}")
    if argument.fault is FlagFault.UNKNOWN:
        return NotSupported(path, f"--{name}", [f"--{other}" for other, flag in flags.items() if flag.offered])
    if argument.fault is FlagFault.NO_VALUE:
        return Required(path, f"--{name} takes {flags[name].what}: use --{name}=<value>")
    return Invalid(path, f"--{name}", f"its value must be {flags[name].what}")


def choices(flags: Flags) -> str:
    """Return the flags as a user writes them."""
    return ", ".join(
        f"--{name}" + ("" if flag.type is FlagType.SWITCH else "=<value>")
        for name, flag in flags.items()
        if flag.offered
    )


def value_of(arguments: Sequence[str], flags: Flags, name: str) -> str:
    """Return the value that Volcano takes for a flag: the last before the first fault, or the default.

    A number is in base ten, whatever base it is written in.
    """
    value = flags[name].default
    for argument in read(arguments, flags):
        if argument.fault:
            break
        if argument.name == name:
            value = "true" if argument.value is None else argument.value  # only a switch has none
    return str(_integer(value)) if flags[name].type in {FlagType.PORT, FlagType.SECONDS} else value


def _fault(name: str, value: str | None, flags: Flags) -> FlagFault | None:
    if name not in flags:
        return FlagFault.UNKNOWN
    type_ = flags[name].type
    if value is None:
        return None if type_ is FlagType.SWITCH else FlagFault.NO_VALUE
    number = _integer(value)
    fits = {
        FlagType.TEXT: True,
        FlagType.SWITCH: value in _BOOLEANS,
        FlagType.PORT: number is not None and 1 <= number <= 65535,
        FlagType.SECONDS: number is not None,
    }
    return None if fits[type_] else FlagFault.WRONG_VALUE


def _integer(text: str) -> int | None:
    """Return the number that a text says; a leading 0 means base eight, as in C. None where Go's int cannot hold it."""
    if len(text) > 70 or not _INTEGER.match(text):
        return None
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    number = sign * (int(digits, 8) if octal else int(digits, 0))
    return number if -(2**63) <= number < 2**63 else None

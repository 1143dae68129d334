"""The arguments of Volcano's plugins, read as Go's package `flag` reads them: `-x`, `--x`, `-x=v`, `-x v`.

Volcano reads a plugin's arguments when the job runs. At the first that it does not know it writes a line to its log,
passes over all that follow, and goes on with its defaults: the user learns nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

#: What is written at the beginning of an argument that is a flag; Go takes one dash for two.
_FLAG = re.compile(r"--?([^-=][^=]*)(?:=(.*))?\Z", re.DOTALL)

#: What Go's `strconv.ParseBool` takes.
_BOOLEANS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})

#: What Go's `strconv.ParseInt` takes for any base, up to the size.
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)\Z")


class Sort(Enum):
    """What the value of a flag is; the value says it to the user."""

    TEXT = "a string"
    SWITCH = "true or false"
    PORT = "a port number between 1 and 65535"
    SECONDS = "an integer number of seconds"


Flags: TypeAlias = Mapping[str, Sort]


class Fault(Enum):
    """What is wrong with an argument."""

    UNKNOWN = "unknown flag"
    NO_FLAG = "not a flag"
    NO_VALUE = "missing value"
    WRONG_VALUE = "invalid value for the flag"


@dataclass(frozen=True, slots=True)
class Argument:
    """One flag among a plugin's arguments, or what stands in the place of one.

    Attributes:
        place: which of the arguments it is.
        name: what the flag is called, without dashes; empty of what is no flag.
        value: its value, which may be a secret; None where it has none.
        fault: what is wrong with it.
    """

    place: int
    name: str = ""
    value: str | None = None
    fault: Fault | None = None


def read(arguments: Sequence[str], flags: Flags) -> Iterator[Argument]:
    """Yield a plugin's arguments, those behind a fault too, each with what is wrong with it."""
    place = 0
    while place < len(arguments):
        match = _FLAG.match(arguments[place])
        if not match:
            if arguments[place] == "--":
                return  # so Go marks the end of the flags, and Volcano reads nothing else
            yield Argument(place, fault=Fault.NO_FLAG)
            place += 1
            continue
        name, value = match.groups()
        follows = place + 1 < len(arguments)
        takes_next = (
            value is None
            and follows
            and (flags[name] is not Sort.SWITCH if name in flags else not arguments[place + 1].startswith("-"))
        )
        if takes_next:
            value = arguments[place + 1]
        yield Argument(place, name, value, _fault(name, value, flags))
        place += 2 if takes_next else 1


def value_of(arguments: Sequence[str], flags: Flags, name: str, default: str) -> str:
    """Return the value that Volcano takes for a flag: the last before the first fault, or the default."""
    value = default
    for argument in read(arguments, flags):
        if argument.fault:
            break
        if argument.name == name and argument.value is not None:
            value = argument.value
    return value


def _fault(name: str, value: str | None, flags: Flags) -> Fault | None:
    sort = flags.get(name)
    if sort is None:
        return Fault.UNKNOWN
    if value is None:
        return None if sort is Sort.SWITCH else Fault.NO_VALUE
    if sort is Sort.SWITCH:
        return None if value in _BOOLEANS else Fault.WRONG_VALUE
    if sort is Sort.TEXT:
        return None
    number = _integer(value)
    if number is None or (sort is Sort.PORT and not 1 <= number <= 65535):
        return Fault.WRONG_VALUE
    return None


def _integer(text: str) -> int | None:
    """Return the number that a text says; a leading 0 means base eight, as in C. None where Go's int cannot hold it."""
    if len(text) > 70 or not _INTEGER.match(text):
        return None
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    number = sign * (int(digits, 8) if octal else int(digits, 0))
    return number if -(2**63) <= number < 2**63 else None

"""What a pattern is made of. Flags are applied to each part where it is read: none is left in the tree."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias


class Anchor(StrEnum):
    """Where in the text something must be."""

    TEXT_BEGINS = "A"
    TEXT_ENDS = "z"
    LINE_BEGINS = "^"
    LINE_ENDS = "$"
    WORD = "b"
    NO_WORD = "B"


class Literal(NamedTuple):
    """A character; `folded` where its case does not count."""

    character: str
    folded: bool = False


class Dot(NamedTuple):
    """Any character; a line's end too where it is `all`."""

    all: bool


class Named(NamedTuple):
    r"""The characters of a class with a name: `\d`, `[:alpha:]`, `\pL`; or all others.

    Attributes:
        name: `d`, `s` or `w`; of POSIX, as `alpha`; of Unicode, as it is written in braces.
        unicode: whether the name is one of Unicode.
        negated: whether all others are meant.
    """

    name: str
    unicode: bool = False
    negated: bool = False


Range: TypeAlias = tuple[int, int]
"""The numbers of the first character and of the last one."""


class Set(NamedTuple):
    """One character of several, or of all others."""

    members: tuple[Range | Named, ...]
    negated: bool = False
    folded: bool = False


class Repeat(NamedTuple):
    """A part as often as between two numbers; without a second one, as often as may be."""

    part: Node
    least: int
    most: int | None
    greedy: bool = True


class Either(NamedTuple):
    """One of several sequences; a group in parentheses, and the whole pattern, are one of a single sequence or more."""

    branches: tuple[tuple[Node, ...], ...]


Node: TypeAlias = Literal | Dot | Set | Anchor | Repeat | Either

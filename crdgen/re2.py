r"""Patterns as the API server reads them: Go's regexp, whose syntax and linear time are those of RE2.

The library is RE2 itself, of which Go's regexp is a port. Where the two differ: docs/reference/crdgen-fidelity.md.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

import re2

from crdgen.schema.look import utf8_as_read


class PatternProblem(NamedTuple):
    """What a pattern has that it may not have, as words that follow `it has`, and what to do about it."""

    what: str
    fix: str


class InvalidPattern(ValueError):
    """A pattern that Go does not compile."""

    def __init__(self, problem: PatternProblem) -> None:
        super().__init__(problem.what)
        self.problem = problem


class LargePattern(ValueError):
    """A pattern that Go compiles, and that takes more memory than a pattern gets here."""


def problem(pattern: str) -> PatternProblem | None:
    """Return why Go does not compile the pattern, or None where it does."""
    try:
        compiled(pattern)
    except (InvalidPattern, LargePattern) as error:
        return error.problem if isinstance(error, InvalidPattern) else None
    return None


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return whether the pattern is found in a text, in a time that is linear in the text, whatever the pattern is.

    Raises:
        InvalidPattern: Go does not compile it.
        LargePattern: it is too large to be tried here.
    """
    search = compiled(pattern).search
    return lambda text: search(utf8_as_read(text)) is not None


@lru_cache(maxsize=4096)
def compiled(pattern: str, memory: int = 0) -> Any:
    """Return the pattern compiled by RE2, which has the methods of Python's `re.Pattern`; its groups are not captured.

    It may take so many bytes of memory; 0 is what RE2 gives, 8 MiB. Some patterns of 500 characters take a minute to
    fill that.

    Raises:
        InvalidPattern: Go does not compile it.
        LargePattern: it is too large to be tried here.
    """
    if len(pattern) > _LONGEST:
        raise LargePattern(f"more than {_LONGEST} characters")
    for part in _PARTS.finditer(pattern):
        if part[0] == "\\C" or part[2]:
            raise InvalidPattern(PatternProblem(f"`{part[0]}`, which Go does not read", "leave it out"))
    try:
        return re2.compile(utf8_as_read(pattern).decode(), _options(memory))
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace")
    kind, _, part = said.partition(": ")
    if kind == _TOO_LARGE:
        raise LargePattern(said)
    raise InvalidPattern(_problem(kind, part))


def _problem(kind: str, part: str) -> PatternProblem:
    """Return what is wrong, from the kind of mistake and the part of the pattern that RE2 names."""
    for start, what, fix in _OTHER_LANGUAGES:
        if part.startswith(start) and kind in {"invalid perl operator", "invalid escape sequence"}:
            return PatternProblem(what, fix)
    return PatternProblem(f"an error, {kind}: `{part}`", "see https://github.com/google/re2/wiki/Syntax")


@lru_cache
def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    # Whether a pattern is found, and where, is all that is asked; without groups RE2 need not use its slower matchers.
    options.never_capture = True
    if memory:
        options.max_mem = memory
    return options


#: RE2 reads some patterns in quadratic time: of so many characters, in less than a second.
_LONGEST: Final = 2**16
_TOO_LARGE: Final = "pattern too large - compile failed"
#: An escape, what is in a class, a count that Go does not read and RE2 takes for plain text, one without a lower bound.
_PARTS: Final = re.compile(
    r"\\.|\[(\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*)(?:\]|\Z)|(\{[0-9]{9,}(?:,[0-9]*)?\})|\{,[0-9]+\}",
    re.ASCII | re.DOTALL,
)
_OUT: Final = ("a back-reference", "write the part out, or a rule")
#: What other languages have: how it begins, what it is, what may be written instead.
_OTHER_LANGUAGES: Final = (
    ("(?=", "look-ahead", "write two patterns, or a rule"),
    ("(?!", "look-ahead", "write the excluded form as a rule"),
    ("(?<=", "look-behind", "match the whole text instead"),
    ("(?<!", "look-behind", "write the excluded form as a rule"),
    ("(?>", "an atomic group", "use `(?:…)`"),
    ("(?P", *_OUT),
    *((f"\\{sign}", *_OUT) for sign in "123456789kg"),
    ("\\Z", "`\\Z`", "use `$`, which in RE2 is the end of the text"),
    ("\\u", "`\\u`", "use `\\x{…}`"),
)

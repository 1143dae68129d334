r"""Compile patterns like the API server: Go's regexp has the syntax and the linear time of RE2.

The library is RE2 itself; Go's regexp is a port of it. docs/reference/crdgen-fidelity.md lists the differences.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import re2
from msgspec import Struct

from crdgen.schema.look import utf8_as_read


class PatternProblem(Struct, frozen=True):
    """An unsupported part of a pattern, as words after `it has`, and the fix."""

    what: str
    fix: str


class InvalidPattern(ValueError):
    """A pattern that Go rejects."""

    def __init__(self, problem: PatternProblem) -> None:
        super().__init__(problem.what)
        self.problem = problem


class LargePattern(ValueError):
    """A pattern that Go accepts, but needs more memory than is allowed here."""


def problem(pattern: str) -> PatternProblem | None:
    """Return why Go rejects the pattern, or None if it accepts it."""
    try:
        compiled(pattern)
    except (InvalidPattern, LargePattern) as error:
        return error.problem if isinstance(error, InvalidPattern) else None
    return None


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that says whether a text contains the pattern, in linear time for any pattern.

    Raises:
        InvalidPattern: Go rejects it.
        LargePattern: it is too large.
    """
    search = compiled(pattern).search
    return lambda text: search(utf8_as_read(text)) is not None


@lru_cache(maxsize=4096)
def compiled(pattern: str, memory: int = 0) -> Any:
    """Compile a pattern with RE2. The result has the methods of Python's `re.Pattern`, but no groups.

    `memory` is a limit in bytes; 0 is RE2's default, 8 MiB. Some patterns of 500 characters need a minute to fill it.

    Raises:
        InvalidPattern: Go rejects it.
        LargePattern: it is too large.
    """
    if len(pattern) > _LONGEST:
        raise LargePattern(f"more than {_LONGEST} characters")
    for part in _PARTS.finditer(pattern):
        if part[0] == "\\C" or part[2]:
            raise InvalidPattern(PatternProblem(f"`{part[0]}`, which Go does not read", "leave it out"))
    try:
        return re2.compile(utf8_as_read(pattern).decode(), _options(memory))
    except re2.error as error:
        message = error.args[0].decode("utf-8", "replace")
    kind, _, part = message.partition(": ")
    if kind == _TOO_LARGE:
        raise LargePattern(message)
    raise InvalidPattern(_problem(kind, part))


def _problem(kind: str, part: str) -> PatternProblem:
    """Return the problem for RE2's kind of error and part of the pattern."""
    for start, what, fix in _OTHER_LANGUAGES:
        if part.startswith(start) and kind in {"invalid perl operator", "invalid escape sequence"}:
            return PatternProblem(what, fix)
    return PatternProblem(f"an error, {kind}: `{part}`", "see https://github.com/google/re2/wiki/Syntax")


@lru_cache
def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    # Callers only need whether and where a pattern matches: without groups, RE2 can use its faster matchers.
    options.never_capture = True
    if memory:
        options.max_mem = memory
    return options


#: Longest pattern in characters. RE2 parses some patterns in quadratic time, these in less than a second.
_LONGEST: Final = 2**16
_TOO_LARGE: Final = "pattern too large - compile failed"
#: An escape; the content of a class; a count that Go rejects and RE2 reads as text; a count without a lower bound.
_PARTS: Final = re.compile(
    r"\\.|\[(\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*)(?:\]|\Z)|(\{[0-9]{9,}(?:,[0-9]*)?\})|\{,[0-9]+\}",
    re.ASCII | re.DOTALL,
)
_OUT: Final = ("a back-reference", "write the part out, or a rule")
#: Syntax of other languages: how it begins, its name, the fix.
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

"""The valid values of template variables. A value becomes part of a shell command: it is checked, not escaped.

Correct escaping would depend on the quotes around a placeholder, which cannot be determined reliably.
"""

from __future__ import annotations

import re
from typing import Final

from crdgen import re2
from crdgen.schema.look import utf8_as_read
from jobgate.prerequisites.models import VALUE_LIMIT

#: The characters that no POSIX shell interprets in any position.
_SAFE: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
#: Memory limit of a pattern, in bytes: then it compiles in some milliseconds, and matches a value as fast.
_MEMORY: Final = 64 * 1024
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def fault_of_value(value: str, pattern: str | None) -> str | None:
    """Return the fault of a variable's value, or None."""
    if len(value) > VALUE_LIMIT:
        return f"must be no more than {VALUE_LIMIT} characters"
    if _CONTROL.search(value):
        return "must not hold line breaks, NUL or other control characters"
    if pattern is not None:
        return None if matches(pattern, value) else f"must match {pattern} as a whole"
    return _fault_of_plain(value)


def _fault_of_plain(value: str) -> str | None:
    if not _SAFE.match(value):
        return "must be one or more letters, digits and the characters _@%+=:,./-"
    if value.startswith("-"):
        return "must not begin with '-': a command would take it for an option"
    return "must not hold the path segment '..'" if ".." in value.split("/") else None


def fault_of_pattern(pattern: str) -> str | None:
    """Return the fault of a variable's pattern, or None."""
    # First without the group around it, which an invalid pattern might close.
    for text in (pattern, _whole(pattern)):
        try:
            re2.compiled(text, _MEMORY)
        except re2.InvalidPattern as error:
            return f"is no regular expression: it has {error.problem.what}; {error.problem.fix}"
        except re2.LargePattern:
            return "is a regular expression that is too large: use `*` or `+` instead of a count"
    return None


def matches(pattern: str, value: str) -> bool:
    """Return whether a whole value matches, in linear time; False for an invalid pattern."""
    if fault_of_pattern(pattern) is not None:
        return False
    return re2.compiled(_whole(pattern), _MEMORY).search(utf8_as_read(value)) is not None


def work_of(pattern: str, value: str) -> int:
    """Return the number of steps to match a value; a millisecond is about a million steps."""
    try:
        return int(re2.compiled(_whole(pattern), _MEMORY).programsize) * len(value)
    except (re2.InvalidPattern, re2.LargePattern):
        return 0


def _whole(pattern: str) -> str:
    return rf"\A(?:{pattern})\z"

"""What a template variable may hold. A value becomes part of a shell command as it is: so it is checked, not escaped.

Escaping cannot be right: it depends on whether a placeholder stands in single quotes, in double quotes or in none, and
the text around it does not say so reliably.
"""

from __future__ import annotations

import re
from typing import Final

from crdgen import re2
from jobgate.prerequisites.models import VALUE_LIMIT

#: The characters that no POSIX shell interprets, wherever they stand.
_SAFE: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]+\Z")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def fault_of_value(value: str, pattern: str | None) -> str | None:
    """Return what is wrong with a value of a variable, or None."""
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
    """Return what is wrong with the pattern of a variable, or None."""
    # By itself first: what closes the group around it would be no whole pattern.
    for text in (pattern, _whole(pattern)):
        try:
            if found := re2.problem(text):
                return f"is no regular expression: it has {found.what}; {found.fix}"
            re2.compiled(text)
        except re2.LargePattern:
            return "is a regular expression that is too large"
    return None


def matches(pattern: str, value: str) -> bool:
    """Tell whether a whole value matches, in time linear in its length; nothing matches what is no pattern."""
    return fault_of_pattern(pattern) is None and re2.matcher(_whole(pattern))(value)


def _whole(pattern: str) -> str:
    return rf"\A(?:{pattern})\z"

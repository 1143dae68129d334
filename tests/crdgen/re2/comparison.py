"""Compares our regular expressions with Go's."""

from collections.abc import Iterable, Mapping
from typing import Any

from crdgen import re2

#: Intended differences (docs/reference/crdgen-fidelity.md): names that are new in Go 1.25, and counts as plain text.
_LISTED = ("\\p{Letter}", "\\pc", "{99999999999}")


def differences(answers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the differences between us and Go, except the documented differences."""
    unlisted = [answer for answer in answers if not any(part in answer["pattern"] for part in _LISTED)]
    return [f"{answer['pattern']!r}: {difference}" for answer in unlisted if (difference := _difference(answer))]


def _difference(answer: Mapping[str, Any]) -> str:
    pattern, error = answer["pattern"], answer.get("error")
    problem = re2.problem(pattern)
    if (problem is None) is not (error is None):
        return f"Go reports {error or 'no error'}, and we report {problem.what if problem else 'no error'}"
    if problem:
        return ""
    try:
        search = re2.compiled(pattern).search
    except re2.LargePattern:
        return ""
    for text, expected in zip(answer["texts"], answer["found"], strict=True):
        match = search(text)
        if (match and match[0]) != expected:
            return f"in {text!r} Go finds {expected!r}, and we find {match and match[0]!r}"
    return ""

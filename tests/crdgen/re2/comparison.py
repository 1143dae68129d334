"""What we make of patterns, beside what Go makes of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from crdgen import re2

#: Where we differ on purpose (docs/reference/crdgen-fidelity.md): names that Go knows since 1.25, counts that are plain text.
_LISTED = ("\\p{Letter}", "\\pc", "{99999999999}")


def differences(asked: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return each pattern of which we say something else than Go, unless the documentation lists it."""
    plain = [one for one in asked if not any(part in one["pattern"] for part in _LISTED)]
    return [f"{one['pattern']!r}: {found}" for one in plain if (found := _found(one))]


def _found(one: Mapping[str, Any]) -> str:
    pattern, error = one["pattern"], one.get("error")
    problem = re2.problem(pattern)
    if (problem is None) is not (error is None):
        return f"Go says {error or 'nothing'}, and we {problem and problem.what}"
    if problem:
        return ""
    try:
        search = re2.compiled(pattern).search
    except re2.LargePattern:
        return ""
    for text, wanted in zip(one["texts"], one["found"], strict=True):
        match = search(text)
        if (match and match[0]) != wanted:
            return f"of {text!r} Go finds {wanted!r}, and we {match and match[0]!r}"
    return ""

"""What we make of patterns, beside what Go makes of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from crdgen import re2


def differences(asked: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return each pattern of which we say something else than Go. What Python cannot say is no difference."""
    return [f"{one['pattern']!r}: {found}" for one in asked if (found := _difference(one))]


def _difference(one: Mapping[str, Any]) -> str:
    pattern, error = one["pattern"], one.get("error")
    problem = re2.problem(pattern)
    if (problem is None) is not (error is None):
        return f"Go says {error or 'nothing'}, and we {problem and problem.what}"
    if problem:
        return ""
    try:
        search = re2.compiled(pattern).search
    except re2.UnknownPattern as unknown:
        return "" if "script" in str(unknown) else f"unknown: {unknown}"
    for text, wanted in zip(one["texts"], one["found"], strict=True):
        match = search(text)
        if (match and match[0]) != wanted:
            return f"of {text!r} Go finds {wanted!r}, and we {match and match[0]!r}"
    return ""

"""Running one family of pod rules over a pod, and reading what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from webhook.cause import Notice
from webhook.path import Path

Check = Callable[[Mapping[str, Any], Path], Iterable[Notice]]

#: A case: what holds, the pod, and how each finding begins, in order.
Case = tuple[str, dict[str, Any], list[str]]


def pod(spec: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    """Return a pod of one container, with what the case is about."""
    container = {"name": "main", "image": "busybox"}
    return {"metadata": {"name": "pod", **metadata}, "spec": {"containers": [container], **(spec or {})}}


def findings(check: Check, of: Mapping[str, Any]) -> list[str]:
    """Return the findings of a family of rules in a pod; its template is at `template`."""
    return [str(finding).removeprefix("template.") for finding in check(of, Path("template"))]


def judged(check: Check, cases: Iterable[Case]) -> Callable[[Case], None]:
    """Return the test that a family says what each case expects, no more and no less."""

    @pytest.mark.parametrize("case", cases, ids=lambda case: case[0])
    def test(case: Case) -> None:
        _, of, expected = case
        result = findings(check, of)
        assert len(result) == len(expected), result
        for says, begins in zip(result, expected, strict=True):
            assert says.startswith(begins), f"{says!r} does not begin with {begins!r}"

    return test

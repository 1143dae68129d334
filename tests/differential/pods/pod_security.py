"""Valid Pods for Pod Security levels; each has one difference from a Pod that all levels allow."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from tests.differential import tables
from tests.differential.pods.case import Pod

_PLAIN: Pod = {"metadata": {"name": "judged"}, "spec": {"containers": [{"name": "main", "image": "image"}]}}

PODS: dict[str, Pod] = dict(tables.cases(Path(__file__).with_suffix(".yaml"), _PLAIN))


def restricted() -> Pod:
    """Return a Pod that every level allows."""
    return deepcopy(PODS["sound"])


def plain() -> Pod:
    """Return a Pod without security settings."""
    return deepcopy(_PLAIN)

"""What becomes of tests on a machine that lacks what they need."""

import os
from typing import NoReturn

import pytest

#: Set to 1 by those who cannot have it: the tests that need it are skipped, and nothing is installed.
ALLOW_MISSING = "ALLOW_MISSING"


def allows_missing() -> bool:
    """Whether tests may be skipped for lack of programs."""
    return os.environ.get(ALLOW_MISSING) == "1"


def lacking(what: str) -> NoReturn:
    """Fail a test, with what to do; skip it if the user accepts that."""
    if allows_missing():
        pytest.skip(f"{ALLOW_MISSING}=1: {what}")
    pytest.fail(f"{what}, or set {ALLOW_MISSING}=1 to skip the tests that need it", pytrace=False)

"""Fails or skips tests if the machine lacks the programs that they need."""

import os
from typing import NoReturn

import pytest

#: If set to 1, tests with missing programs are skipped, and nothing is installed.
ALLOW_MISSING = "ALLOW_MISSING"


def allows_missing() -> bool:
    """Whether tests are skipped if programs are missing."""
    return os.environ.get(ALLOW_MISSING) == "1"


def lacking(what: str) -> NoReturn:
    """Fail a test with a remedy, or skip it if the user allows that."""
    if allows_missing():
        pytest.skip(f"{ALLOW_MISSING}=1: {what}")
    pytest.fail(f"{what}, or set {ALLOW_MISSING}=1 to skip the tests that need it", pytrace=False)

"""Broken Python installations: missing extras, broken entry points."""

from __future__ import annotations

import click

#: Packages of extras (pyproject.toml), by the names under which they are imported.
_OPTIONAL = frozenset({"aiohttp", "cryptography", "kubernetes", "opentelemetry", "orjson", "prometheus_client"})


class BrokenInstallation(click.ClickException):
    """A package is missing or broken. Exit status 2, because nothing was checked."""

    exit_code = 2


def not_installed(package: str, extras: str) -> BrokenInstallation:
    """Return the error for a missing package; `extras` are those that the command needs."""
    return BrokenInstallation(f"{package} is not installed: pip install 'jobgate[{extras}]'")


def import_fault(error: ImportError, extras: str) -> BrokenInstallation | None:
    """Return the error to report for a failed import; None if it is a bug in jobgate."""
    package = (error.name or "").partition(".")[0]
    if package not in _OPTIONAL:
        return None
    return not_installed(package, "traces" if package == "opentelemetry" else extras)

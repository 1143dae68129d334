"""Broken Python installations: missing extras, overwritten packages, broken entry points."""

from __future__ import annotations

from importlib.metadata import packages_distributions

import click

#: Packages of extras (pyproject.toml), by the names under which they are imported.
_OPTIONAL = frozenset({"aiohttp", "cryptography", "kubernetes", "opentelemetry", "orjson", "prometheus_client"})


#: Top-level packages of jobgate whose names others may use, too: PyPI has a project `certs`.
_OURS = frozenset({"crdgen", "webhook", "certs"})


class NotInstalled(click.ClickException):
    """A command needs a package that is not installed; exit status 2, because nothing was checked."""

    exit_code = 2

    def __init__(self, package: str, extras: str) -> None:
        """Name the package, and the extras of jobgate that install all that the command needs."""
        super().__init__(f"{package} is not installed: pip install 'jobgate[{extras}]'")


class Overwritten(click.ClickException):
    """Another distribution has installed a package of the same name as one of ours; exit status 2."""

    exit_code = 2

    def __init__(self, package: str, path: str | None) -> None:
        """Name the package, where it is, and the distributions that claim it."""
        others = sorted(set(packages_distributions().get(package, ())) - {"jobgate"})
        by = f" by {', '.join(others)}" if others else ""
        again = f"pip uninstall {' '.join(others)}, then " if others else ""
        super().__init__(
            f"the package {package!r} of jobgate has been overwritten{by} (in {path or 'an unknown place'}): "
            f"{again}pip install --force-reinstall --no-deps jobgate"
        )


class BrokenPackage(click.ClickException):
    """An entry point of an installed package is broken; exit status 2."""

    exit_code = 2


def import_fault(error: ImportError, extras: str) -> click.ClickException | None:
    """Return the error to report for a failed import; None if it is a bug in jobgate.

    Args:
        error: the failed import.
        extras: those of the command that was called.
    """
    package = (error.name or "").partition(".")[0]
    if package in _OURS:
        return Overwritten(package, error.path)
    if package not in _OPTIONAL:
        return None
    return NotInstalled(package, "traces" if package == "opentelemetry" else extras)

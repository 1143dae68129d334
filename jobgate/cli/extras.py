"""Broken Python installations: missing extras, overwritten packages, broken entry points."""

from __future__ import annotations

import click

#: The extras (pyproject.toml) of each optional package, by the name under which it is imported.
_OPTIONAL = {
    "aiohttp": ("server", "cluster"),
    "cryptography": ("certs",),
    "kubernetes": ("cluster",),
    "opentelemetry": ("traces",),
    "orjson": ("server", "cluster"),
    "prometheus_client": ("server",),
}


#: Our top-level packages, with their distributions. Other projects may have packages of the same names.
_OURS = {"crdgen": "jobgate-crdgen", "webhook": "jobgate", "certs": "jobgate"}


class BrokenInstallation(click.ClickException):
    """A package is missing, overwritten or broken. Exit status 2, because nothing was checked."""

    exit_code = 2


def not_installed(package: str, extras: str) -> BrokenInstallation:
    """Return the error for a missing package; `extras` are those that the command needs."""
    return BrokenInstallation(f"{package} is not installed: pip install 'jobgate[{extras}]'")


def import_fault(error: ImportError, extras: str) -> BrokenInstallation | None:
    """Return the error to report for a failed import; None if it is a bug in jobgate."""
    package = (error.name or "").partition(".")[0]
    if package in _OURS:
        return _overwritten(package, error.path)
    if package not in _OPTIONAL:
        return None
    # Of the extras that the command needs, those that have the package.
    needed = [extra for extra in _OPTIONAL[package] if extra in extras.split(",")]
    return not_installed(package, ",".join(needed or _OPTIONAL[package][:1]))


def _overwritten(package: str, path: str | None) -> BrokenInstallation:
    from importlib.metadata import packages_distributions

    owners = sorted(set(packages_distributions().get(package, ())) - {_OURS[package]})
    by = f" by {', '.join(owners)}" if owners else ""
    uninstall = f"pip uninstall {' '.join(owners)}, then " if owners else ""
    return BrokenInstallation(
        f"the package {package!r} of jobgate has been overwritten{by} (in {path or 'an unknown place'}): "
        f"{uninstall}pip install --force-reinstall --no-deps {_OURS[package]}"
    )

"""Paths in containers."""

from __future__ import annotations

import posixpath


def is_inside(path: str, folder: str) -> bool:
    """Tell whether an absolute path is a folder, or below it. `//etc` and `/x/../etc` are `/etc` to a container."""
    return f"{_normal(path)}/".startswith(f"{_normal(folder)}/")


def _normal(path: str) -> str:
    # POSIX lets two slashes at the beginning mean something of their own; Linux does not.
    return posixpath.normpath("/" + path.lstrip("/"))

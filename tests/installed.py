"""Installs packages for a test: a folder on the path with modules and the metadata of their entry points."""

from pathlib import Path

import pytest

from jobgate import plugins


def install(folder: Path, name: str, entries: dict[str, str], module: str = "") -> None:
    """Install a package `name` 1.2 with a module of this name, and entry points `group:name` → `module:object`."""
    info = folder / f"{name}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    lines = [f"[{key.partition(':')[0]}]\n{key.partition(':')[2]} = {target}\n" for key, target in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (folder / f"{name}.py").write_text(module)


def on_path(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let this process find the packages."""
    patch.syspath_prepend(str(folder))
    forget()


def forget() -> None:
    """Read the plugins of packages again."""
    for cached in (plugins.installed, plugins.of_packages):
        cached.cache_clear()

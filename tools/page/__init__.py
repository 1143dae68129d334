"""Bundles the editor of the console's page, and checks the page's types.

`python -m tools.page` writes `jobgate/console/page/vendor/`, which is committed, so that neither an installation nor
a wheel needs Node.js; with `--check` it fails when the bundle is not what the lock file gives, or when the page has a
type error. To update a package: change its version in `package.json`, then run `make console-page LOCK=1`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
PAGE: Final = ROOT / "jobgate" / "console" / "page"
#: Where npm installs, outside the sources.
BUILD: Final = ROOT / "build" / "page"
#: What `npm ci` reads.
_LOCKED: Final = ("package.json", "package-lock.json", ".npmrc")
#: A hung registry ends the build, and not the day.
_TIMEOUT: Final = 300


class Failed(RuntimeError):
    """A program failed; the message is its output."""


def modules() -> Path:
    """Return the folder of the locked npm packages, installed if they are missing or others."""
    installed = BUILD / "node_modules"
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in _LOCKED)).hexdigest()
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests in several processes
        stamp = BUILD / "installed"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
            for name in _LOCKED:
                shutil.copyfile(HERE / name, BUILD / name)
            _run(["npm", "ci"])
            stamp.write_text(digest, encoding="utf-8")
    return installed


def lock() -> None:
    """Update the lock file from `package.json`.

    Raises:
        Failed: npm found no packages that fit.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in _LOCKED:
        shutil.copyfile(HERE / name, BUILD / name)
    _run(["npm", "install", "--package-lock-only"])
    shutil.copyfile(BUILD / "package-lock.json", HERE / "package-lock.json")


def vendored() -> Mapping[str, bytes]:
    """Return the files of `vendor/`: the editor's bundle, and the licences of what is in it."""
    entry, packages = BUILD / "editor.js", modules()
    shutil.copyfile(HERE / "editor.js", entry)
    options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none"]
    _run([str(packages / ".bin" / "esbuild"), "editor.js", *options, "--outfile=bundle.js", "--metafile=meta.json"])
    inputs = json.loads((BUILD / "meta.json").read_bytes())["inputs"]
    return {
        "editor.js": (BUILD / "bundle.js").read_bytes(),
        "LICENSES.txt": _licences(
            packages, sorted({_package(path) for path in inputs if "node_modules/" in path})
        ).encode(),
    }


def type_errors() -> str:
    """Return what the type checker of TypeScript finds in the page; empty if all types are right."""
    compiler = modules() / ".bin" / "tsc"
    result = subprocess.run(
        [str(compiler), "--project", str(HERE)], check=False, capture_output=True, text=True, timeout=_TIMEOUT
    )
    return result.stdout + result.stderr if result.returncode else ""


def _package(path: str) -> str:
    parts = path.rpartition("node_modules/")[2].split("/")
    return "/".join(parts[: 2 if parts[0].startswith("@") else 1])


def _licences(packages: Path, names: Sequence[str]) -> str:
    """Return the licences, each once, below the packages that have it."""
    packages_of: dict[str, list[str]] = {}
    for name in names:
        version = json.loads((packages / name / "package.json").read_bytes())["version"]
        text = (packages / name / "LICENSE").read_text(encoding="utf-8").strip()
        packages_of.setdefault(text, []).append(f"{name} {version}")
    return "\n\n".join(f"{', '.join(having)}\n\n{text}" for text, having in packages_of.items()) + "\n"


def _run(command: list[str]) -> None:
    try:
        result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=BUILD, timeout=_TIMEOUT)
    except FileNotFoundError as error:
        raise Failed(f"{command[0]} is missing; install the Debian packages nodejs and npm") from error
    if result.returncode:
        raise Failed(f"{' '.join(command)}: {result.stderr.strip() or result.stdout.strip()}")

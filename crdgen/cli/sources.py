"""Read objects from files, directories and standard input like `kubectl`, and write files and JSON."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from crdgen.reading import Manifest, UnreadableManifest, read
from crdgen.schema.look import mapping


class UsageError(Exception):
    """Unusable input. The message is one line: the place, the problem and the fix."""


KIND: Final = "CustomResourceDefinition"
VERSION: Final = "apiextensions.k8s.io/v1"
#: Limit of a file in bytes, enough for thousands of objects. Parsed, it needs many times the memory.
LARGEST: Final = 64 << 20
SUFFIXES: Final = (".yaml", ".yml", ".json")
_TEMPLATE: Final = "; if this is a Helm template, render it first: helm template CHART"


def objects(file: str) -> list[Manifest]:
    """Return the objects in a file, or from standard input for `-`."""
    return parsed(content(file), "<stdin>" if file == "-" else file)


def content(file: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`."""
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            text = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{file}: {reason}") from error
    if len(text) > LARGEST:
        raise UsageError(f"{file}: has more than {LARGEST >> 20} MiB: split it")
    return text


def parsed(text: bytes, file: str) -> list[Manifest]:
    """Return the objects in a text; errors name the file."""
    try:
        return read(text, file)
    except UnreadableManifest as error:
        raise UsageError(f"{error}{_TEMPLATE if b'{{' in text else ''}") from error


def definitions(path: str, *, some: bool = True) -> list[Manifest]:
    """Return the CRDs in a file, below a directory, or from standard input; with `some`, there must be at least one."""
    manifests = [manifest for file in files(path) for manifest in objects(file) if manifest.object.get("kind") == KIND]
    if some and not manifests:
        raise UsageError(f"{path}: contains no {KIND}")
    return manifests


def require_v1(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the CRDs, or raise if a CRD has another version than v1, which is compared and documented."""
    for manifest in manifests:
        if (version := manifest.object.get("apiVersion")) != VERSION:
            raise UsageError(f"{manifest.file}:{manifest.line}: apiVersion is {version}: must be {VERSION}")
    return list(manifests)


def one_definition(path: str) -> Manifest:
    """Return the only CRD in a file."""
    manifests = definitions(path)
    if len(manifests) > 1:
        names = ", ".join(name_of(manifest) for manifest in manifests)
        raise UsageError(f"{path}: contains {len(manifests)} CRDs ({names}): must contain one")
    return manifests[0]


def files(path: str) -> list[str]:
    """Return the file itself, or the files below a directory that mention CRDs, since not all YAML files are manifests.

    The list includes files that cannot be read, so that they are reported.
    """
    folder = Path(path)
    try:
        if path == "-" or not folder.is_dir():
            return [path]
        return [str(file) for file in in_folder(folder, "**/*") if _mentions_definitions(file)]
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def in_folder(folder: Path, pattern: str) -> list[Path]:
    """Return the YAML and JSON files that match a pattern, and broken symbolic links, so that they are reported."""
    next(folder.iterdir(), None)  # raises an error if the directory cannot be read; for glob() it would be empty
    matches = (file for file in sorted(folder.glob(pattern)) if file.suffix in SUFFIXES)
    return [file for file in matches if file.is_file() or not file.exists()]


def name_of(manifest: Manifest) -> str:
    """Return the name of an object, or its file and line if it has none."""
    name = mapping(manifest.object, "metadata").get("name")
    return name if isinstance(name, str) and name else f"{manifest.file}:{manifest.line}"


def _mentions_definitions(file: Path) -> bool:
    try:
        return KIND.encode() in file.read_bytes()
    except OSError:
        return True


def write(file: Path, text: str) -> None:
    """Write a file, and create its directories."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from error


def write_json(entries: Any) -> None:
    """Print entries as indented JSON."""
    sys.stdout.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")


def output_argument(parser: ArgumentParser, *formats: str) -> None:
    """Add the flag for the output format, text by default."""
    parser.add_argument(
        "--output", "-o", choices=["text", *formats], default="text", help="output format (default: text)"
    )

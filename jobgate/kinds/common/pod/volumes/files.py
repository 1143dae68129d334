"""The files that a volume shows: their paths within it, and their modes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from msgspec import Meta

from jobgate.kinds.common.pod.reading import whole
from jobgate.kinds.common.pod.shapes import Plain, RelativePath, Text
from jobgate.kinds.common.pod.volumes.fields import Fields, each, required, text
from webhook.cause import Cause, Invalid, Required
from webhook.path import Path

#: The highest mode of a file: nine permission bits, no set-user-ID, set-group-ID or sticky bit.
HIGHEST_MODE = 0o777


PlainMode: TypeAlias = Annotated[int, Meta(ge=0, le=HIGHEST_MODE)]


class PlainKeyToPath(Plain):
    """The plain shape of an item that maps a key to a file."""

    key: Text
    path: RelativePath
    mode: PlainMode = 0


def without_backsteps(value: str, path: Path) -> Iterator[Cause]:
    """A path has no `..` among its steps: it must not lead out of where it begins (`core/v1`, hostPath and others)."""
    if ".." in value and ".." in value.split("/"):
        yield Invalid(path, value, "must not contain '..'")


def relative(value: str, path: Path) -> Iterator[Cause]:
    """A path within a volume is relative to the volume's root, and stays below it (`core/v1`, subPath and others)."""
    if value.startswith("/"):
        yield Invalid(path, value, "must be a relative path")
    yield from without_backsteps(value, path)


def file_path(value: str, path: Path) -> Iterator[Cause]:
    """A file's path is relative, and not of the names `..*`, which kubelet keeps for itself (`core/v1`, KeyToPath)."""
    yield from relative(value, path)
    if value.startswith("..") and value != ".." and not value.startswith("../"):
        yield Invalid(path, value, "must not begin with '..'")


def named_file(fields: Fields, path: Path) -> Iterator[Cause]:
    """A file of a volume has a path (`core/v1`, `path` of KeyToPath and of the sources of a projected volume)."""
    value = text(fields, "path")
    if value:
        yield from file_path(value, path / "path")
    elif not fields.get("path"):
        yield Required(path / "path", "must be the path of the file in the volume")


def mode(fields: Fields, name: str, path: Path) -> Iterator[Cause]:
    """A file's mode has permission bits only (`core/v1`, `mode` and `defaultMode`); JSON writes it in decimal."""
    value = whole(fields[name]) if name in fields else None
    if value is not None and not 0 <= value <= HIGHEST_MODE:
        yield Invalid(path / name, value, "must be between 0 and 511 (octal 0777)")


def key_to_paths(source: Fields, path: Path) -> Iterator[Cause]:
    """Each item maps a key to a file (`core/v1`, `items` of configMap and secret)."""
    for index, item in enumerate(each(source, "items")):
        here = path / "items" / index
        yield from required(item, here, {"key": "the key to project"})
        yield from named_file(item, here)
        yield from mode(item, "mode", here)

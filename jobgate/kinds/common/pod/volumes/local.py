"""Volumes on the node: emptyDir, hostPath, gitRepo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import UNSET, Meta, UnsetType

from jobgate.kinds.common import quantity
from jobgate.kinds.common.pod.shapes import AbsolutePath, Plain, whole_text
from jobgate.kinds.common.pod.volumes.fields import Fields, required, text
from jobgate.kinds.common.pod.volumes.files import relative, without_backsteps
from webhook.cause import Cause, Invalid, Notice, NotSupported
from webhook.path import Path

#: `core/v1` HostPathType.
HostPathType: TypeAlias = Literal[
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
]
HOST_PATH_TYPES = get_args(HostPathType)

_MEDIUM = re.compile(r"(Memory|HugePages(-.+)?)?\Z")


#: An amount of memory as people write it.
_Size: TypeAlias = Annotated[str, Meta(pattern=whole_text("[0-9]{1,12}(?:[kMGT]|[KMGT]i)?"))]


class PlainEmptyDir(Plain):
    """The plain shape of an emptyDir."""

    medium: Literal["", "Memory"] = ""
    size_limit: _Size | UnsetType = UNSET


class PlainHostPath(Plain):
    """The plain shape of a hostPath."""

    path: AbsolutePath
    type: HostPathType = ""


def empty_dir(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """The size limit of an emptyDir is a quantity and not negative; its medium is not judged before a node mounts it.

    `core/v1` validation, EmptyDirVolumeSource.
    """
    limit = source.get("sizeLimit")
    if limit is not None:
        try:
            negative = quantity.parse(limit) < 0
        except ValueError as error:
            yield Invalid(path / "sizeLimit", limit, str(error))
        else:
            if negative:
                yield Invalid(path / "sizeLimit", limit, "must not be negative")
    medium = text(source, "medium")
    if medium and not _MEDIUM.match(medium):
        yield Notice(
            path / "medium", 'unknown medium, the pod would not start: use "Memory" or "HugePages", or remove the field'
        )


def host_path(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A hostPath has a path without `..`, and one of the types (`core/v1` validation, HostPathVolumeSource)."""
    yield from required(source, path, {"path": "the path of a file or directory on the node"})
    yield from without_backsteps(text(source, "path"), path / "path")
    kind = text(source, "type")
    if kind not in HOST_PATH_TYPES:
        yield NotSupported(path / "type", kind, HOST_PATH_TYPES)


def git_repo(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A gitRepo has a repository and a directory within the volume (`core/v1` validation, GitRepoVolumeSource)."""
    yield from required(source, path, {"repository": "the URL of the repository"})
    yield from relative(text(source, "directory"), path / "directory")
    yield Notice(path, "not supported since Kubernetes 1.33: clone the repository in an init container")

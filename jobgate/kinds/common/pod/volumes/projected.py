"""Projected volumes: several sources in one directory."""

from __future__ import annotations

from collections.abc import Iterator

from jobgate.kinds.common.pod.volumes.downward import downward_file
from jobgate.kinds.common.pod.volumes.fields import Fields, each, mapping, required, text, within
from jobgate.kinds.common.pod.volumes.files import key_to_paths, mode, named_file
from webhook.cause import Cause, Duplicate, Forbidden, Notice
from webhook.path import Path

#: `core/v1`: how long a token of a service account may hold, in seconds: ten minutes to 2^32; absent is an hour.
SHORTEST_TOKEN = 600
LONGEST_TOKEN = 2**32

#: Sources that the API server keeps only with a feature that is off by default, and drops unread without it.
GATED = {"clusterTrustBundle": "ClusterTrustBundleProjection", "podCertificate": "PodCertificateRequest"}

_SOURCES = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
_LISTS = ("secret", "configMap", "downwardAPI")


def projected(volume: Fields, path: Path) -> Iterator[Cause | Notice]:
    """A projected volume shows the files of several sources (`core/v1` validation, ProjectedVolumeSource)."""
    yield from mode(volume, "defaultMode", path)
    for index, source in enumerate(each(volume, "sources")):
        yield from _source(source, path / "sources" / index)
    yield from _files_are_apart(volume, path)


def _source(source: Fields, path: Path) -> Iterator[Cause | Notice]:
    """Each entry of `sources` is of one kind (`core/v1` validation, VolumeProjection)."""
    present = [name for name in _SOURCES if source.get(name) is not None]
    for extra in present[1:]:
        yield Forbidden(path / extra, f"may not be set together with {present[0]}: use one entry per source")
    for name in present:
        yield from _projection(name, mapping(source, name), path / name)
    for name, feature in GATED.items():
        if source.get(name) is not None:
            yield Notice(path / name, f"ignored unless the cluster enables the feature gate {feature}")


def _projection(name: str, source: Fields, path: Path) -> Iterator[Cause]:
    if name == "serviceAccountToken":
        yield from _token(source, path)
    elif name == "downwardAPI":
        for index, item in enumerate(each(source, "items")):
            yield from downward_file(item, path / "items" / index)
    else:
        yield from required(source, path, {"name": f"the name of the {name[0].upper()}{name[1:]}"})
        yield from key_to_paths(source, path)


def _token(source: Fields, path: Path) -> Iterator[Cause]:
    """A token is a file, and holds for a bounded time (`core/v1` validation, ServiceAccountTokenProjection)."""
    yield from named_file(source, path)
    yield from within(source, "expirationSeconds", path, SHORTEST_TOKEN, LONGEST_TOKEN)


def _files_are_apart(volume: Fields, path: Path) -> Iterator[Cause]:
    """No two listed files have one path; a token's is not compared (`core/v1` validation, VolumeProjection)."""
    taken: dict[str, tuple[int, str, int]] = {}
    for index, source in enumerate(each(volume, "sources")):
        for name in _LISTS:
            for number, item in enumerate(each(mapping(source, name), "items")):
                file, here = text(item, "path"), (index, name, number)
                if file and taken.setdefault(file, here) != here:
                    detail = f"same path as {_file(path, *taken[file])}"
                    yield Duplicate(_file(path, *here), file, detail)


def _file(path: Path, index: int, name: str, number: int) -> Path:
    return path / "sources" / index / name / "items" / number / "path"

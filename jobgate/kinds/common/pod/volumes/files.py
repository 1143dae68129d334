"""Volumes whose files Kubernetes writes: configMap, secret, downwardAPI and projected, and paths within volumes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jobgate.kinds.common.pod.downward import field_reference, resource_reference
from jobgate.kinds.common.pod.reading import mapping, objects, text
from jobgate.kinds.common.pod.shapes import RelativePath, Text
from jobgate.kinds.common.pod.values import (
    Finding,
    Rules,
    ValueRule,
    anything,
    fields,
    listed,
    need,
    number,
    one_source,
)
from webhook.cause import Cause, Duplicate, Invalid, Notice, Required
from webhook.path import Path

#: The highest mode of a file: nine permission bits, no set-user-ID, set-group-ID or sticky bit.
MODE: Final = number(0, 0o777, "must be between 0 and 511 (octal 0777)")

#: `core/v1`: how long a token of a service account may hold, in seconds: ten minutes to 2^32; absent is an hour.
SHORTEST_TOKEN, LONGEST_TOKEN = 600, 2**32

#: Sources that the API server keeps only with a feature that is off by default, and drops unread without it.
GATED: Final = {"clusterTrustBundle": "ClusterTrustBundleProjection", "podCertificate": "PodCertificateRequest"}


def without_backsteps(value: Any, path: Path) -> Iterator[Cause]:
    """A path has no `..` among its steps: it must not lead out of where it begins (`core/v1`, hostPath and others)."""
    if isinstance(value, str) and ".." in value.split("/"):
        yield Invalid(path, value, "must not contain '..'")


def relative(value: Any, path: Path) -> Iterator[Cause]:
    """A path within a volume is relative to the volume's root, and stays below it (`core/v1`, subPath and others)."""
    if isinstance(value, str) and value.startswith("/"):
        yield Invalid(path, value, "must be a relative path")
    yield from without_backsteps(value, path)


def _file_path(value: Any, path: Path) -> Iterator[Cause]:
    """A file's path is relative, and not of the names `..*`, which kubelet keeps for itself (`core/v1`, KeyToPath)."""
    yield from relative(value, path)
    if isinstance(value, str) and value.startswith("..") and value != ".." and not value.startswith("../"):
        yield Invalid(path, value, "must not begin with '..'")


def _one_reference(item: Any, path: Path) -> Iterator[Finding]:
    """A file shows one thing, a field or a resource (`core/v1` validation, DownwardAPIVolumeFile)."""
    present = [name for name in _REFERENCES if item.get(name) is not None]
    if len(present) > 1:
        yield Invalid(path, "fieldRef and resourceFieldRef", "must have only one of them")
    if not present:
        yield Required(path, "must set fieldRef or resourceFieldRef")
    for name in present[:1]:
        yield from _REFERENCES[name].check(item[name], path / name)


#: The fields that a file may hold; labels and annotations one by one, beside these.
_FILE_FIELDS: Final = tuple(f"metadata.{field}" for field in ("annotations", "labels", "name", "namespace", "uid"))
_REFERENCES: Final[Rules] = {
    "fieldRef": field_reference(_FILE_FIELDS),
    "resourceFieldRef": resource_reference(of_container=False),
}
_FILE_PATH: Final = need(ValueRule(_file_path, RelativePath), "must be the path of the file in the volume")
_KEY: Final = need(anything(Text), "must be the key to project")
_KEYS: Final = listed(fields(key=_KEY, path=_FILE_PATH, mode=MODE))
_DOWNWARD: Final = listed(fields(_one_reference, path=_FILE_PATH, mode=MODE))


def _object(what: str) -> ValueRule:
    return need(anything(Text), f"must be the name of the {what}")


CONFIG_MAP: Final = fields(name=_object("ConfigMap"), defaultMode=MODE, items=_KEYS, optional=anything(bool))
SECRET: Final = fields(secretName=_object("Secret"), defaultMode=MODE, items=_KEYS, optional=anything(bool))
DOWNWARD_API: Final = fields(defaultMode=MODE, items=_DOWNWARD)

_PROJECTIONS: Final[Rules] = {
    "secret": fields(name=_object("Secret"), items=_KEYS),
    "configMap": fields(name=_object("ConfigMap"), items=_KEYS),
    "downwardAPI": fields(items=_DOWNWARD),
    "serviceAccountToken": fields(path=_FILE_PATH, expirationSeconds=number(SHORTEST_TOKEN, LONGEST_TOKEN)),
}
_one_projection = one_source(_PROJECTIONS)


def _projection(source: Any, path: Path) -> Iterator[Finding]:
    yield from _one_projection(source, path)
    for name, feature in GATED.items():
        if source.get(name) is not None:
            yield Notice(path / name, f"ignored unless the cluster enables the feature gate {feature}")


def _files_are_apart(sources: Any, path: Path) -> Iterator[Cause]:
    """No two listed files have one path; a token's is not compared (`core/v1` validation, VolumeProjection)."""
    taken: dict[str, Path] = {}
    for index, source in objects(sources):
        for name in ("secret", "configMap", "downwardAPI"):
            for number_, item in objects(mapping(source.get(name)).get("items")):
                file, here = text(item.get("path")), path / index / name / "items" / number_ / "path"
                if file and taken.setdefault(file, here) is not here:
                    yield Duplicate(here, file, f"same path as {taken[file]}")


PROJECTED: Final = fields(defaultMode=MODE, sources=listed(fields(_projection), _files_are_apart))

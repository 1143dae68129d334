"""Whether a pod can be read: of what is wired, every part has the shape that Pods have.

The API server sends nothing else. So this is no courtesy to users: it lets what follows read without asking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from jobgate.kinds.common.pod.reading import objects
from webhook import Cause, Path, TypeInvalid

#: So many faults are looked for: an answer holds no more.
ENOUGH: Final = 200
_SPEC = Path("spec")
#: The lists of what has a name, in a pod's spec and in a container.
_OF_SPEC, _OF_CONTAINER = (
    ("containers", "initContainers", "volumes", "schedulingGates"),
    ("env", "envFrom", "volumeMounts", "ports"),
)
#: What names an item of a list.
_NAMES = ("name", "mountPath", "subPath")


def faults(pod: Mapping[str, Any]) -> list[Cause]:
    """Return what keeps a pod from being read, up to so many faults."""
    return list(islice(_faults(pod), ENOUGH))


def _faults(pod: Mapping[str, Any]) -> Iterator[Cause]:
    yield from _metadata(pod.get("metadata"))
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        yield TypeInvalid(_SPEC, spec, "must be an object")
        return
    security = spec.get("securityContext")
    if not isinstance(security, dict | None):
        yield TypeInvalid(_SPEC / "securityContext", security, "must be an object")
    for key in _OF_SPEC:
        yield from _items(spec.get(key), _SPEC / key)
    for key in ("containers", "initContainers"):
        for place, container in objects(spec.get(key)):
            path = _SPEC / key / place
            for inner in _OF_CONTAINER:
                yield from _items(container.get(inner), path / inner)
            yield from _words(container, path)
    yield from _claims(spec)


def _words(container: Mapping[str, Any], path: Path) -> Iterator[Cause]:
    for field in ("command", "args"):
        words = container.get(field)
        if not isinstance(words, list | None):
            yield TypeInvalid(path / field, words, "must be a list")
        elif not all(isinstance(word, str) for word in words or ()):
            yield TypeInvalid(path / field, words, "must contain strings only")


def _claims(spec: Mapping[str, Any]) -> Iterator[Cause]:
    for place, volume in objects(spec.get("volumes")):
        claim = volume.get("persistentVolumeClaim")
        if not isinstance(claim, dict | None):
            yield TypeInvalid(_SPEC / "volumes" / place / "persistentVolumeClaim", claim, "must be an object")


def _metadata(metadata: Any) -> Iterator[Cause]:
    if not isinstance(metadata, dict | None):
        yield TypeInvalid("metadata", metadata, "must be an object")
    elif metadata:
        for key in ("labels", "annotations"):
            if not isinstance(metadata.get(key), dict | None):
                yield TypeInvalid(f"metadata.{key}", metadata[key], "must be an object")


def _items(found: Any, path: Path) -> Iterator[Cause]:
    if found is None:
        return
    if not isinstance(found, list):
        yield TypeInvalid(path, found, "must be a list")
        return
    for place, item in enumerate(found):
        if not isinstance(item, dict):
            yield TypeInvalid(path / place, item, "must be an object")
            continue
        for key in _NAMES:
            if not isinstance(item.get(key), str | None):
                yield TypeInvalid(path / place / key, item[key], "must be a string")

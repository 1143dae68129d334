"""Reading a pod that may be any JSON: what is null or of another shape reads as if it were not there.

The schema reports wrong types; a rule checks what it can read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from webhook.path import Path

_NOTHING: Final[Mapping[str, Any]] = {}

#: The lists of containers of a pod's spec.
CONTAINER_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def items(value: Any) -> Sequence[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: Any) -> str:
    """Return the value if it is a text, else the empty text, which is what Kubernetes reads for null."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """Return the value if it is a whole number, else None. `true` is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def spec_of(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod's spec."""
    return mapping(mapping(pod).get("spec"))


def metadata_of(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the pod's metadata."""
    return mapping(mapping(pod).get("metadata"))


def objects(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects in a list, each with its place."""
    for index, item in enumerate(items(value)):
        if isinstance(item, dict):
            yield index, item


def containers(spec: Mapping[str, Any], path: Path) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """Yield every container of a pod's spec, of each sort, with the path that it has when the spec's is `path`."""
    for field in CONTAINER_LISTS:
        if spec.get(field):
            for index, container in objects(spec[field]):
                yield container, path / field / index

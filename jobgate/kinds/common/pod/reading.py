"""Reading a pod that may be any JSON: what is null or of another type reads as absent; the schema reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from webhook.path import Path

Json: TypeAlias = Mapping[str, Any]

#: What `strings.TrimSpace` of Go takes for white space: not quite what Python does.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)

#: The lists of containers that a new pod may have, and all lists.
NEW_CONTAINERS: Final = ("containers", "initContainers")
ALL_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")

_NOTHING: Final[Mapping[str, Any]] = {}


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


class PodContainer(NamedTuple):
    """A container of a pod: its JSON, its path, and whether it is an init container."""

    json: Json
    path: Path
    init: bool

    @property
    def sidecar(self) -> bool:
        """Whether it is an init container that runs beside the others: `restartPolicy: Always`."""
        return self.init and self.json.get("restartPolicy") == "Always"


def containers(pod: Json, path: Path, lists: Sequence[str] = NEW_CONTAINERS) -> Iterator[PodContainer]:
    """Yield the containers of a pod whose template is at `path`, list by list."""
    spec = spec_of(pod)
    for field in lists:
        if spec.get(field):
            for index, container in objects(spec[field]):
                yield PodContainer(container, path / "spec" / field / index, field == "initContainers")


def named_containers(name: str, pod: Json, path: Path) -> Iterator[PodContainer]:
    """Yield the container of a name, of a pod whose template is at `path`; a broken list may have several."""
    return (container for container in containers(pod, path, ("containers",)) if container.json.get("name") == name)


def unset(value: Any) -> bool:
    """Return whether an optional text is not given: absent, null and "" are the same to Kubernetes."""
    return value is None or value == ""

"""Reads the containers of a pod that may be any JSON: values of a wrong type count as absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from webhook.path import Path
from webhook.values import objects, spec_of

Json: TypeAlias = Mapping[str, Any]

#: The white space of Go's `strings.TrimSpace`, which differs from Python's.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)

#: The lists of containers that a new pod may have, and all lists.
NEW_CONTAINERS: Final = ("containers", "initContainers")
ALL_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


class PodContainer(Struct, frozen=True):
    """A container of a pod: its JSON, its path, and whether it is an init container."""

    json: Json
    path: Path
    init: bool

    @property
    def sidecar(self) -> bool:
        """Whether it is an init container that runs beside the others: `restartPolicy: Always`."""
        return self.init and self.json.get("restartPolicy") == "Always"


def containers(pod: Json, path: Path, lists: Sequence[str] = NEW_CONTAINERS) -> Iterator[PodContainer]:
    """Yield the containers of a pod, list by list; `path` is the path of its template."""
    spec = spec_of(pod)
    for field in lists:
        if spec.get(field):
            for index, container in objects(spec[field]):
                yield PodContainer(container, path / "spec" / field / index, field == "initContainers")


def named_containers(name: str, pod: Json, path: Path) -> Iterator[PodContainer]:
    """Yield the container with a name; an invalid list may have several. `path` is the path of the template."""
    return (container for container in containers(pod, path, ("containers",)) if container.json.get("name") == name)

"""The containers of a pod, of either list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from jobgate.kinds.common.pod.reading import objects, spec_of
from webhook.path import Path

Json: TypeAlias = Mapping[str, Any]

#: What `strings.TrimSpace` of Go takes for white space: not quite what Python does.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)


class Container(NamedTuple):
    """A container of a pod: its JSON, where it stands, and whether it is an init container."""

    json: Json
    path: Path
    init: bool

    @property
    def sidecar(self) -> bool:
        """Return whether it is an init container that runs beside the others: `restartPolicy: Always`."""
        return self.init and self.json.get("restartPolicy") == "Always"


def containers(pod: Json, path: Path) -> Iterator[Container]:
    """Yield the containers of a pod, and then its init containers.

    Ephemeral containers are left out: a pod cannot be created with any.
    """
    spec = spec_of(pod)
    for field in ("containers", "initContainers"):
        listed = spec.get(field)
        if listed:
            here = path / "spec" / field
            init = field == "initContainers"
            for index, item in objects(listed):
                yield Container(item, here / index, init)


def unset(value: Any) -> bool:
    """Return whether an optional text is not given: absent, null and "" are the same to Kubernetes."""
    return value is None or value == ""

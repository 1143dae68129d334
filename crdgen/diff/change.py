"""A change between two CRDs, and what it breaks."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Break(StrEnum):
    """What a change may break.

    - `stored`: objects in etcd are refused at their next write, lose data, or cannot be read
    - `clients`: a manifest, typed client or controller that worked before is refused, or gets what it does not expect
    - `apply`: server-side apply loses track of who owns what, or merges otherwise
    """

    STORED = "stored"
    CLIENTS = "clients"
    APPLY = "apply"


#: What refuses a value that was taken before: objects that hold it, and clients that send it.
REFUSES = (Break.STORED, Break.CLIENTS)
EVERYTHING = (Break.STORED, Break.CLIENTS, Break.APPLY)


@dataclass(frozen=True)
class Change:
    """A change in the new CRD.

    Attributes:
        path: the field of an object of that version, as `spec.tasks[].replicas`; without a version, the CRD's own.
        what: what changed, with both values.
        breaks: what it may break; empty for a compatible change.
        fix: how to avoid the break; empty for a compatible change.
        version: the version whose schema it is in; `v1 → v2` where two versions are compared; empty for the CRD.
        text: whether it is in words for people only, such as a description.
    """

    path: str
    what: str
    breaks: tuple[Break, ...] = ()
    fix: str = ""
    version: str = ""
    text: bool = False

    @property
    def place(self) -> str:
        """Return version and path, as `v1 spec.replicas`."""
        return f"{self.version} {self.path}".strip()

    def of(self, version: str) -> "Change":
        """Return the same change as one of a version's schema."""
        return replace(self, version=version)

"""References as they are written: in a list of a spec, or in an annotation."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from jobgate.names import dns_subdomain
from jobgate.prerequisites.models import CLUSTER, ENTRIES, NAMESPACED, RESOURCES, ReferenceSpec

#: On a pod, a pod template or a job whose spec has no `prerequisites`: which ones it has.
ANNOTATION: Final = "jobgate.dev/prerequisites"
#: On a pod or a pod template: the container that gets them.
CONTAINER_ANNOTATION: Final = "jobgate.dev/prerequisites-container"

#: Longest annotation that is read, in characters: that of 32 references with many values.
ANNOTATION_LIMIT: Final = 64 * 1024
#: A name that is a DNS subdomain surely.
_SIMPLE: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?").fullmatch
_FORM = f"write names as `mnist, {CLUSTER}/wget`, or a JSON list of objects with kind, name and templateVariables"


class InvalidReference(Exception):
    """A text or list that names no prerequisites; the message says why, and what would be right."""


class Reference(NamedTuple):
    """One item, with the values of its template variables, sorted by name."""

    kind: str
    name: str
    values: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The item, as messages name it."""
        return f"{self.kind} {self.name}"


#: Numbers as the schema bounds them: to 64 bits.
_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Float = Annotated[float, msgspec.Meta(ge=-(2.0**63), lt=2.0**63)]


class _Listed(msgspec.Struct, rename="camel"):
    """A `ReferenceSpec` in a list; read so in a thirtieth of Pydantic's time."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
    kind: Literal["Prerequisite", "ClusterPrerequisite"] | None = None
    template_variables: dict[str, str | _Integer | _Float] | None = None


def reference(written: ReferenceSpec | _Listed, kind: str = NAMESPACED) -> Reference:
    """Return what a reference names; `kind` is the default."""
    values = sorted((name, _text(value)) for name, value in (written.template_variables or {}).items())
    return Reference(str(written.kind or kind), written.name, tuple(values))


def listed(value: Any) -> tuple[Reference, ...]:
    """Return the references of a JSON list, each an object or a text `[Kind/]name`.

    Raises:
        InvalidReference: it is something else.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidReference(f"must be a list; {_FORM}")
    if len(value) > ENTRIES:
        raise InvalidReference(f"has {len(value)} entries; at most {ENTRIES} are allowed")
    try:
        items = msgspec.convert([_named(one) if isinstance(one, str) else one for one in value], list[_Listed])
        found = tuple(map(reference, items))
    except msgspec.ValidationError as error:
        raise InvalidReference(f"{str(error)[:300]!a}; {_FORM}") from None
    for one in found:
        if not _SIMPLE(one.name) and (fault := dns_subdomain(one.name)):
            raise InvalidReference(f"{one.name[:300]!r} is no name of an item: it {fault}")
    return found


def annotated(text: Any) -> tuple[Reference, ...]:
    """Return the references of an annotation.

    Raises:
        InvalidReference: it holds none.
    """
    if not isinstance(text, str) or len(text) > ANNOTATION_LIMIT:
        raise InvalidReference(f"must be a string of at most {ANNOTATION_LIMIT} characters; {_FORM}")
    if not text.strip().startswith("["):
        return listed([name.strip() for name in text.replace("\n", ",").split(",") if name.strip()])
    try:
        return listed(json.loads(text))
    except (ValueError, RecursionError):
        raise InvalidReference(f"is not JSON; {_FORM}") from None


def _text(value: str | float) -> str:
    if isinstance(value, float):
        if not value.is_integer():
            raise InvalidReference(f"has the value {value}, which is neither an integer nor a string; {_FORM}")
        value = int(value)
    return str(value)


def _named(text: str) -> dict[str, str]:
    kind, slash, name = text.rpartition("/")
    if slash and kind not in RESOURCES:
        raise InvalidReference(f"{text[:300]!r} names no kind that there is; {_FORM}")
    return {"name": name, **({"kind": kind} if slash else {})}

"""References as they are written: in a list of a spec, or in an annotation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

import msgspec
from pydantic import ValidationError

from jobgate.names import dns_subdomain
from jobgate.prerequisites.models import CLUSTER, ENTRIES, NAMESPACED, RESOURCES
from jobgate.prerequisites.models import Reference as Written

#: On a pod, a pod template or a job whose spec has no `prerequisites`: which ones it has.
ANNOTATION: Final = "jobgate.dev/prerequisites"
#: On a pod or a pod template: the container that gets them.
CONTAINER_ANNOTATION: Final = "jobgate.dev/prerequisites-container"

#: Longest annotation that is read, in characters: that of 32 references with many values.
ANNOTATION_LIMIT: Final = 64 * 1024
#: A name that is a DNS subdomain surely.
_SIMPLE: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?").fullmatch
_FORM = f"write names as `mnist, {CLUSTER}/wget`, or a JSON list of objects with kind, name and templateVariables"


class Unreadable(Exception):
    """What is written names no prerequisites; the text says why, and what would be right."""


class Reference(NamedTuple):
    """One item, with values.

    Attributes:
        kind: Prerequisite or ClusterPrerequisite.
        name: of the item.
        values: of its template variables, by name, sorted.
    """

    kind: str
    name: str
    values: tuple[tuple[str, str], ...] = ()

    @property
    def shown(self) -> str:
        """The item, as messages name it."""
        return f"{self.kind} {self.name}"


class _Plain(msgspec.Struct, rename="camel"):
    """What `Written` takes, as nearly all of it is written: read in a thirtieth of the time."""

    name: str
    kind: Literal["Prerequisite", "ClusterPrerequisite"] = "Prerequisite"
    template_variables: dict[str, str] = {}

    def reference(self) -> Reference:
        return Reference(self.kind, self.name, tuple(sorted(self.template_variables.items())))


def reference(written: Written, kind: str = NAMESPACED) -> Reference:
    """Return what a reference names; `kind` is that of references which say none."""
    values = sorted((name, str(value)) for name, value in (written.template_variables or {}).items())
    return Reference(str(written.kind or kind), written.name, tuple(values))


def listed(value: Any) -> tuple[Reference, ...]:
    """Return the references of a JSON list, each an object or a text `[Kind/]name`.

    Raises:
        Unreadable: it is nothing of the kind.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise Unreadable(f"must be a list; {_FORM}")
    if len(value) > ENTRIES:
        raise Unreadable(f"has {len(value)} entries; at most {ENTRIES} are allowed")
    try:
        found = tuple([one.reference() for one in msgspec.convert(value, list[_Plain])])
    except msgspec.ValidationError:
        return tuple(_one(item) for item in value)
    if all(_SIMPLE(one.name) and all(map(str.isascii, chain(*one.values))) for one in found):
        return found
    return tuple(_one(item) for item in value)


def annotated(text: Any) -> tuple[Reference, ...]:
    """Return the references of an annotation.

    Raises:
        Unreadable: it holds none.
    """
    if not isinstance(text, str) or len(text) > ANNOTATION_LIMIT:
        raise Unreadable(f"must be a string of at most {ANNOTATION_LIMIT} characters; {_FORM}")
    if not text.strip().startswith("["):
        return listed([name.strip() for name in text.replace("\n", ",").split(",") if name.strip()])
    try:
        return listed(json.loads(text))
    except (ValueError, RecursionError):
        raise Unreadable(f"is not JSON; {_FORM}") from None


def _one(item: Any) -> Reference:
    if isinstance(item, str):
        kind, slash, name = item.rpartition("/")
        if slash and kind not in RESOURCES:
            raise Unreadable(f"{item[:300]!r} names no kind that there is; {_FORM}")
        item = {"name": name, **({"kind": kind} if slash else {})}
    if isinstance(item, Mapping):
        try:
            found = reference(Written.model_validate(item))
        except ValidationError as error:
            fault = error.errors(include_input=False, include_url=False)[0]
            raise Unreadable(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}; {_FORM}") from None
        if fault_of_name := dns_subdomain(found.name):
            raise Unreadable(f"{found.name[:300]!r} is no name of an item: it {fault_of_name}")
        return found
    raise Unreadable(f"has an entry that is neither a text nor an object; {_FORM}")

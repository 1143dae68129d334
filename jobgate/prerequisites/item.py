"""One stored item: its parts, its hash, and what is wrong with it whatever else there is."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, Final, cast
from weakref import ref

from pydantic import ValidationError

from jobgate.names import dns_subdomain, environment_name
from jobgate.prerequisites.models import (
    CLUSTER,
    NAMESPACED,
    PATTERNS_LIMIT,
    RESOURCES,
    PrerequisiteSpec,
    TemplateVariable,
)
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import Reference, reference
from jobgate.prerequisites.script import PLACEHOLDER
from jobgate.prerequisites.stored import DROPPED, ITEM_LIMIT, StoredItem
from jobgate.prerequisites.values import fault_of_pattern, fault_of_value
from jobgate.room import weight_of
from webhook import Cause

#: Digits of a hash that are shown and recorded: enough that no two generations of one item share them.
_DIGITS: Final = 16
#: Most items of a cache that stay read: many small values take more memory so than `stored` counts.
_KEPT: Final = 256
#: Most faults of one item that are reported: a text of a mebibyte may have a hundred thousand.
FAULTS: Final = 32


@dataclass(frozen=True, slots=True)
class Item:
    """A Prerequisite or a ClusterPrerequisite, with the hash of its spec, and its own faults as reason and text."""

    kind: str
    name: str
    generation: int
    spec: PrerequisiteSpec
    hash: str
    faults: tuple[tuple[ProblemReason, str], ...] = ()

    @property
    def shown(self) -> str:
        """The item, as messages name it."""
        return f"{self.kind} {self.name}"

    @property
    def resource(self) -> str:
        """The resource that it is one of."""
        return RESOURCES[self.kind]

    @property
    def source(self) -> str:
        """The item, as comments in commands and annotations name it."""
        return f"{self.kind}/{self.name}"


_read_last: deque[ref[StoredItem]] = deque()


def item_of(document: Mapping[str, Any], kind: str) -> Item:
    """Return a stored object as an item; one that does not fit its schema is empty and has a fault.

    The objects of a list have no kind, so it is an argument. What a cache keeps stays read for a while: many
    tasks may name it.
    """
    if not isinstance(document, StoredItem):
        return _read(document, kind)
    found = cast("Item | None", document.item)
    if found is None:
        found = document.item = _read(document, kind)
        _read_last.append(ref(document))
        if len(_read_last) > _KEPT and (oldest := _read_last.popleft()()) is not None:
            oldest.item = None
    return found


def _read(document: Mapping[str, Any], kind: str) -> Item:
    metadata, spec = document.get("metadata") or {}, document.get("spec") or {}
    dropped = document.get(DROPPED)
    try:
        read = PrerequisiteSpec.model_validate(spec)
        found = [(reason, f"spec.{field}: {detail}") for reason, field, detail in islice(faults(kind, read), FAULTS)]
    except ValidationError:
        read = PrerequisiteSpec()
        found = [
            (ProblemReason.MALFORMED, "the spec does not fit the schema of its kind: correct it, and apply it again")
        ]
    if dropped:
        found = [(ProblemReason.TOO_LARGE, f"the item cannot be used: {dropped}")]
    generation = metadata.get("generation")
    return Item(
        kind=kind,
        name=str(metadata.get("name")),
        generation=generation if isinstance(generation, int) else 0,
        spec=read,
        hash=hash_of(spec),
        faults=tuple(found),
    )


def hash_of(value: Any) -> str:
    """Return the hash of a JSON value, whatever the order of its keys."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:_DIGITS]


def faults(kind: str, spec: PrerequisiteSpec) -> Iterator[tuple[ProblemReason, str, str]]:
    """Yield the faults of an item: reason, field below `spec`, and what would be right."""
    yield from _variables(spec)
    for place, one in enumerate(spec.require or ()):
        yield from _required(kind, reference(one, kind), f"require[{place}]")
    declared = {one.name for one in spec.template_variables or ()}
    known = f"declared are {', '.join(sorted(declared))}" if declared else "none is declared"
    for field, text in leaves(spec):
        for name in dict.fromkeys(PLACEHOLDER.findall(text)):
            if name not in declared:
                yield ProblemReason.UNDECLARED_PLACEHOLDER, field, f"{name} is not in templateVariables; {known}"
        if "\r" in text or "\0" in text:
            yield ProblemReason.MALFORMED, field, "must not hold carriage returns or NUL: no shell takes them"
    for place, variable in enumerate(spec.env or ()):
        name = variable.get("name")
        if fault := environment_name(name) if isinstance(name, str) else "must be the name of a variable":
            yield ProblemReason.MALFORMED, f"env[{place}].name", fault


def causes(kind: str, spec: Any, read: PrerequisiteSpec) -> list[Cause]:
    """Return why an item is denied: its size and its faults. `spec` is as it is written, `read` as it was read."""
    found = [
        Cause(f"spec.{field}", f"{reason}: {detail}") for reason, field, detail in islice(faults(kind, read), FAULTS)
    ]
    if weight_of(spec) > ITEM_LIMIT:
        detail = f"must take no more than {ITEM_LIMIT // 1024} KiB of memory: make several items of it"
        found.insert(0, Cause("spec", f"{ProblemReason.TOO_LARGE}: {detail}"))
    return found


def _required(kind: str, wanted: Reference, field: str) -> Iterator[tuple[ProblemReason, str, str]]:
    if fault := dns_subdomain(wanted.name):
        yield ProblemReason.UNKNOWN_REFERENCE, f"{field}.name", fault
    if kind == CLUSTER and wanted.kind == NAMESPACED:
        detail = "a ClusterPrerequisite can require only ClusterPrerequisites: it means the same in all namespaces"
        yield ProblemReason.UNKNOWN_REFERENCE, f"{field}.kind", detail
    for name, value in wanted.values:
        if PLACEHOLDER.search(value):
            detail = "values are literals: no placeholder is replaced here"
            yield ProblemReason.UNDECLARED_PLACEHOLDER, f"{field}.templateVariables[{name}]", detail


def _variables(spec: PrerequisiteSpec) -> Iterator[tuple[ProblemReason, str, str]]:
    if sum(len(one.pattern or "") for one in spec.template_variables or ()) > PATTERNS_LIMIT:
        yield (
            ProblemReason.TOO_LARGE,
            "templateVariables",
            f"all patterns have more than {PATTERNS_LIMIT} characters together",
        )
        return
    for place, one in enumerate(spec.template_variables or ()):
        field = f"templateVariables[{place}]"
        if one.pattern is not None and (fault := fault_of_pattern(one.pattern)):
            yield ProblemReason.INVALID_VALUE, f"{field}.pattern", fault
        elif one.default is not None and (fault := fault_of_value(str(one.default), one.pattern)):
            yield ProblemReason.INVALID_VALUE, f"{field}.default", fault


def leaves(spec: PrerequisiteSpec) -> Iterator[tuple[str, str]]:
    """Yield the texts of the plugin blocks, in which placeholders are replaced, with their fields."""
    for outer, callback in enumerate(spec.cmd.callbacks if spec.cmd else ()):
        for inner, command in enumerate(callback.commands):
            yield f"cmd.callbacks[{outer}].commands[{inner}]", command
    if spec.pvc_storage:
        for field, text in spec.pvc_storage.to_json().items():
            if isinstance(text, str):
                yield f"pvcStorage.{field}", text
    for place, variable in enumerate(spec.env or ()):
        yield from _texts(variable, f"env[{place}]")
    if spec.plugin:
        yield from _texts(spec.plugin.arguments, "plugin.arguments")


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, f"{field}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{field}[{place}]")


def variables_shown(variables: list[TemplateVariable] | None) -> str:
    """Return the variables of an item as one line: `dataPath, minutes=30`."""
    return ", ".join(one.name if one.default is None else f"{one.name}={one.default}" for one in variables or ())


#: On a job: what it was checked with. On a pod: what it got.
RECORD: Final = "jobgate.dev/prerequisites-recorded"


def recorded(items: Iterable[Item], known: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return the annotation's text; an item that is `known` keeps what was recorded of it."""
    entries = [
        (known or {}).get(one.source) or {"name": one.source, "generation": one.generation, "hash": one.hash}
        for one in items
    ]
    return json.dumps(entries, separators=(",", ":"))


def read_record(text: Any) -> dict[str, Mapping[str, Any]]:
    """Return what an annotation says, by item; nothing of what says nothing."""
    try:
        entries = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return {}
    listed = entries if isinstance(entries, list) else []
    return {
        one["name"]: {key: one[key] for key in ("name", "generation", "hash")}
        for one in listed
        if isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("generation"), int)
        and isinstance(one.get("hash"), str)
    }

"""A stored item: its content, its hash, and its own faults."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any, Final, cast
from weakref import ref

from pydantic import ValidationError

from jobgate.names import dns_subdomain, environment_name
from jobgate.prerequisites.models import PATTERNS_LIMIT, PrerequisiteSpec, TemplateVariable
from jobgate.prerequisites.problem import ProblemReason
from jobgate.prerequisites.reference import CLUSTER, NAMESPACED, RESOURCES, Reference, reference
from jobgate.prerequisites.script import PLACEHOLDER
from jobgate.prerequisites.stored import DROPPED, ITEM_LIMIT, StoredItem
from jobgate.prerequisites.values import fault_of_pattern, fault_of_value
from jobgate.room import weight_of
from webhook import Cause

#: Number of digits of a hash that are shown and recorded: enough to tell generations of an item apart.
_DIGITS: Final = 16
#: Maximum number of parsed items in a cache: parsed, many small values take more memory than `stored` counts.
_KEPT: Final = 256
#: Maximum number of reported faults of an item: a text of a mebibyte may have a hundred thousand.
FAULTS: Final = 32


@dataclass(frozen=True, slots=True)
class Item:
    """A Prerequisite or a ClusterPrerequisite, with the hash of its spec, and its own faults as reasons and texts."""

    kind: str
    name: str
    generation: int
    spec: PrerequisiteSpec
    hash: str
    faults: tuple[tuple[ProblemReason, str], ...] = ()

    @property
    def shown(self) -> str:
        """The kind and name for messages."""
        return f"{self.kind} {self.name}"

    @property
    def resource(self) -> str:
        """The resource of its kind."""
        return RESOURCES[self.kind]

    @property
    def source(self) -> str:
        """The kind and name for annotations, and for comments in commands."""
        return f"{self.kind}/{self.name}"


_read_last: deque[ref[StoredItem]] = deque()


def item_of(document: Mapping[str, Any], kind: str) -> Item:
    """Return a stored object as an item; an object that does not fit its schema is an empty item with a fault.

    The objects of a list have no kind, so it is an argument. The parsed form of a cached object is kept for a while,
    because many tasks may name it.
    """
    if not isinstance(document, StoredItem):
        return _read(document, kind)
    item = cast("Item | None", document.item)
    if item is None:
        item = document.item = _read(document, kind)
        _read_last.append(ref(document))
        if len(_read_last) > _KEPT and (oldest := _read_last.popleft()()) is not None:
            oldest.item = None
    return item


def _read(document: Mapping[str, Any], kind: str) -> Item:
    metadata, spec = document.get("metadata") or {}, document.get("spec") or {}
    try:
        parsed = PrerequisiteSpec.model_validate(spec)
        own = [(reason, f"spec.{field}: {detail}") for reason, field, detail in islice(faults(kind, parsed), FAULTS)]
    except ValidationError:
        parsed = PrerequisiteSpec()
        own = [
            (ProblemReason.MALFORMED, "the spec does not fit the schema of its kind: correct it, and apply it again")
        ]
    if dropped := document.get(DROPPED):
        own = [(ProblemReason.TOO_LARGE, f"the item cannot be used: {dropped}")]
    generation = metadata.get("generation")
    return Item(
        kind=kind,
        name=str(metadata.get("name")),
        generation=generation if isinstance(generation, int) else 0,
        spec=parsed,
        hash=hash_of(spec),
        faults=tuple(own),
    )


def hash_of(value: Any) -> str:
    """Return the hash of a JSON value; it does not depend on the order of keys."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:_DIGITS]


def faults(kind: str, spec: PrerequisiteSpec) -> Iterator[tuple[ProblemReason, str, str]]:
    """Yield the faults of an item: reason, field below `spec`, and detail."""
    yield from _variables(spec)
    for place, entry in enumerate(spec.require or ()):
        yield from _required(kind, reference(entry, kind), f"require[{place}]")
    declared = {variable.name for variable in spec.template_variables or ()}
    known = f"declared are {', '.join(sorted(declared))}" if declared else "none is declared"
    for field, text in leaves(spec):
        for name in dict.fromkeys(PLACEHOLDER.findall(text)):
            if name not in declared:
                yield ProblemReason.UNDECLARED_PLACEHOLDER, field, f"{name} is not in templateVariables; {known}"
        if "\r" in text or "\0" in text:
            yield ProblemReason.MALFORMED, field, "must not hold carriage returns or NUL: no shell takes them"
    yield from _fetch(spec)
    for place, variable in enumerate(spec.env or ()):
        name = variable.get("name")
        if fault := environment_name(name) if isinstance(name, str) else "must be the name of a variable":
            yield ProblemReason.MALFORMED, f"env[{place}].name", fault


def causes(kind: str, spec: Any, parsed: PrerequisiteSpec) -> list[Cause]:
    """Return why an item is denied: its size and its faults. `spec` is the JSON, `parsed` its model."""
    denied = [
        Cause(f"spec.{field}", f"{reason}: {detail}") for reason, field, detail in islice(faults(kind, parsed), FAULTS)
    ]
    if weight_of(spec) > ITEM_LIMIT:
        detail = f"must take no more than {ITEM_LIMIT // 1024} KiB of memory: make several items of it"
        denied.insert(0, Cause("spec", f"{ProblemReason.TOO_LARGE}: {detail}"))
    return denied


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


def _fetch(spec: PrerequisiteSpec) -> Iterator[tuple[ProblemReason, str, str]]:
    if spec.fetch is None:
        return
    if spec.pvc_storage is None:
        yield ProblemReason.MALFORMED, "fetch", "needs pvcStorage: the claim that keeps the data"
    elif spec.pvc_storage.read_only:
        detail = "must be false: with fetch, a pod writes data to the claim"
        yield ProblemReason.MALFORMED, "pvcStorage.readOnly", detail
    for place, variable in enumerate(spec.env or ()):
        if variable.get("name") == spec.fetch.path_variable:
            yield ProblemReason.ENV_CONFLICT, f"env[{place}].name", "is fetch.pathVariable, too"


def _variables(spec: PrerequisiteSpec) -> Iterator[tuple[ProblemReason, str, str]]:
    variables = spec.template_variables or ()
    if sum(len(variable.pattern or "") for variable in variables) > PATTERNS_LIMIT:
        detail = f"all patterns have more than {PATTERNS_LIMIT} characters together"
        yield ProblemReason.TOO_LARGE, "templateVariables", detail
        return
    for place, variable in enumerate(variables):
        field, pattern, default = f"templateVariables[{place}]", variable.pattern, variable.default
        if pattern is not None and (fault := fault_of_pattern(pattern)):
            yield ProblemReason.INVALID_VALUE, f"{field}.pattern", fault
        elif default is not None and (fault := fault_of_value(str(default), pattern)):
            yield ProblemReason.INVALID_VALUE, f"{field}.default", fault


def leaves(spec: PrerequisiteSpec) -> Iterator[tuple[str, str]]:
    """Yield the texts of the plugin blocks, which may contain placeholders, with their fields."""
    for outer, callback in enumerate(spec.cmd.callbacks if spec.cmd else ()):
        for inner, command in enumerate(callback.commands):
            yield f"cmd.callbacks[{outer}].commands[{inner}]", command
    for place, command in enumerate(spec.fetch.commands if spec.fetch else ()):
        yield f"fetch.commands[{place}]", command
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
    return ", ".join(
        variable.name if variable.default is None else f"{variable.name}={variable.default}"
        for variable in variables or ()
    )

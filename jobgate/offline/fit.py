"""Checks whether a CRD of another chart is compatible with a kind: which fields it would drop or reject.

The CRD is compared with the CRD that is generated from the models of the kind: fields, and their constant defaults.
Values that the webhook sets by default are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from crdgen.evaluate import Evaluator
from jobgate.jobs.kind import CustomKind
from jobgate.jobs.schema import shape_of
from webhook.text import shown
from webhook.values import mapping

Schema = Mapping[str, Any]

PRESERVE: Final = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING: Final = "x-kubernetes-int-or-string"

#: Path of pod templates, whose defaults are those of pods.
_TEMPLATE: Final = ".template."
#: Fields of a template without effect: the API server sets them.
_UNREAD: Final = (".template.metadata.creationTimestamp", ".template.metadata.generateName")

#: All types of values that a type accepts, if it accepts more than its own.
_TAKES: Final = {"number": {"integer", "number"}}


class MisfitOutcome(StrEnum):
    """The effect of a misfit on a job."""

    UNSERVED = "not served"
    DROPPED = "dropped"
    REJECTED = "rejected"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Misfit:
    """An incompatibility of a CRD.

    Attributes:
        path: the field of the job, with `[]` for any item and `[*]` for any entry, or the field of the CRD.
        outcome: the effect on jobs. With DIFFERS, no value is lost.
        message: what is wrong.
    """

    path: str
    outcome: MisfitOutcome
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.outcome}: {self.message}"


def misfits(stored: Mapping[str, Any], kind: CustomKind) -> list[Misfit]:
    """Return the incompatibilities of a CRD with a kind that was created by `bind`."""
    spec = mapping(stored.get("spec"))
    faults = list(_names(spec, kind))
    versions = [version for version in spec.get("versions") or () if isinstance(version, Mapping)]
    version = next((version for version in versions if version.get("name") == kind.version), None)
    if version is None or not version.get("served"):
        fault = "is not served" if version is not None else "does not exist"
        served = ", ".join(str(version.get("name")) for version in versions if version.get("served")) or "none"
        message = f"version {kind.version} {fault}; served versions: {served}"
        return [*faults, Misfit("spec.versions", MisfitOutcome.UNSERVED, message)]
    theirs = mapping(mapping(version.get("schema")).get("openAPIV3Schema"))
    ours = shape_of(kind).node
    return [*faults, *_member(mapping(ours.get("properties")).get("spec", {}), theirs, "spec", "spec")]


def _names(spec: Mapping[str, Any], kind: CustomKind) -> Iterator[Misfit]:
    """Compare names and scope."""
    names = mapping(spec.get("names"))
    for path, theirs, ours in (
        ("spec.group", spec.get("group"), kind.group),
        ("spec.names.kind", names.get("kind"), kind.kind),
        ("spec.names.plural", names.get("plural"), kind.plural),
        ("spec.scope", spec.get("scope"), "Namespaced"),
    ):
        if theirs != ours:
            yield Misfit(path, MisfitOutcome.UNSERVED, f"is {shown(theirs)}, must be {shown(ours)}")


def _member(ours: Schema, theirs: Schema, name: str, path: str) -> Iterator[Misfit]:
    """Compare a field with the field of the same name in the CRD."""
    properties, entries = mapping(theirs.get("properties")), theirs.get("additionalProperties")
    if name in properties:
        yield from _node(ours, mapping(properties[name]), path)
    elif isinstance(entries, Mapping):
        yield from _node(ours, entries, path)
    elif not theirs.get(PRESERVE) and entries is not True and not path.endswith(_UNREAD):
        yield Misfit(path, MisfitOutcome.DROPPED, "the schema has no such field")


def _node(ours: Schema, theirs: Schema, path: str) -> Iterator[Misfit]:
    """Compare the schemas of a value."""
    mine, accepted = _types(ours), _types(theirs)
    rejected = (
        {type_ for type_ in mine if not any(type_ in _TAKES.get(name, {name}) for name in accepted)}
        if accepted
        else set()
    )
    if rejected:
        fault = f"a value of type {' or '.join(sorted(rejected))} is rejected, must be {' or '.join(sorted(accepted))}"
        yield Misfit(path, MisfitOutcome.REJECTED, fault)
        return
    if ours.get("nullable") and accepted and not theirs.get("nullable"):
        yield Misfit(path, MisfitOutcome.REJECTED, "null is rejected")
    yield from _values(ours, theirs, path)
    for name, child in mapping(ours.get("properties")).items():
        yield from _member(child, theirs, name, f"{path}.{name}")
    yield from _items(ours, theirs, path)


def _values(ours: Schema, theirs: Schema, path: str) -> Iterator[Misfit]:
    """Compare the allowed values, and the defaults."""
    allowed = theirs.get("enum")
    if allowed and (lacking := [value for value in ours.get("enum") or () if value not in allowed]):
        rejected, known = ", ".join(map(shown, lacking)), ", ".join(map(shown, allowed))
        yield Misfit(path, MisfitOutcome.REJECTED, f"{rejected} is none of the schema's values: {known}")
    elif "default" in ours and (violations := Evaluator(dict(theirs)).validate(ours["default"])):
        message = f"the default {shown(ours['default'])} is rejected: {violations[0].message}"
        yield Misfit(path, MisfitOutcome.REJECTED, message)
    if "default" in theirs and theirs["default"] != ours.get("default") and _TEMPLATE not in path:
        mine = f"{shown(ours['default'])} was meant" if "default" in ours else "none was meant"
        yield Misfit(path, MisfitOutcome.DIFFERS, f"the default is {shown(theirs['default'])}, {mine}")


def _items(ours: Schema, theirs: Schema, path: str) -> Iterator[Misfit]:
    """Compare the items of lists and the entries of maps."""
    for keyword, mark in (("items", "[]"), ("additionalProperties", "[*]")):
        our_child, their_child = ours.get(keyword), theirs.get(keyword)
        if isinstance(our_child, Mapping) and isinstance(their_child, Mapping):
            yield from _node(our_child, their_child, f"{path}{mark}")
        elif isinstance(our_child, Mapping) and keyword == "additionalProperties" and _drops(theirs):
            yield Misfit(path, MisfitOutcome.DROPPED, "the schema knows no entries but those that it names")


def _drops(theirs: Schema) -> bool:
    """Return whether the API server drops unknown fields of an object."""
    return (
        theirs.get("type") == "object" and not theirs.get(PRESERVE) and theirs.get("additionalProperties") is not True
    )


def _types(schema: Schema) -> set[str]:
    """Return the JSON types that a schema accepts; none if it accepts any."""
    if schema.get(_INT_OR_STRING):
        return {"integer", "string"}
    name = schema.get("type")
    return {name} if isinstance(name, str) else set()

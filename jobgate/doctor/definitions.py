"""Compares the CustomResourceDefinitions with those of this version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jobgate.cluster.bundles import CRDS, clients
from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import ClusterSnapshot, labels_of, place
from jobgate.installation.installation import LABELS
from jobgate.offline.fit import MisfitOutcome, misfits
from webhook import Kind

_OUTCOMES = {
    MisfitOutcome.DROPPED: "crd-schema-lacks-fields",
    MisfitOutcome.REJECTED: "crd-refuses",
    MisfitOutcome.DIFFERS: "crd-defaults-differ",
}

#: Most places that are listed.
_NAMED = 5
#: Keywords that change nothing of what is stored.
_DOCUMENTATION = frozenset({"description", "example", "externalDocs", "title"})
_INNER = {"items": "[]", "additionalProperties": "{}"}


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the CRDs of enabled kinds."""
    for shipped in expected.definitions:
        name = shipped["metadata"]["name"]
        where = place(CRDS, name)
        if observed.missing(CRDS, name):
            yield fault_at("crd-missing", where, "not found")
        elif (found := observed.get(CRDS, name)) is not None:
            yield from _whole(found, shipped, where)
            yield from _versions(found, shipped, where)
            yield from _conversion(observed, found, where)
            if not _is_ours(found):
                of_it = [kind for kind in expected.kinds if kind.qualified_plural == name]
                yield from _fits(found, of_it, where)


def _whole(found: Mapping[str, Any], shipped: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    conditions = {one["type"]: one for one in (found.get("status") or {}).get("conditions") or ()}
    established = conditions.get("Established") or {}
    if established.get("status") != "True":
        names = conditions.get("NamesAccepted") or {}
        why = (names if names.get("status") == "False" else established).get("message") or "no condition has a message"
        yield fault_at("crd-not-established", where, f"not Established: {why}")
    if found["spec"]["scope"] != shipped["spec"]["scope"]:
        yield fault_at(
            "crd-scope-differs", where, f"scope is {found['spec']['scope']}, must be {shipped['spec']['scope']}"
        )


def _versions(found: Mapping[str, Any], shipped: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    there = {one["name"]: one for one in found["spec"]["versions"]}
    for version in shipped["spec"]["versions"]:
        name = version["name"]
        if name not in there:
            yield fault_at("crd-version-missing", where, f"has no version {name}, only {', '.join(there)}")
        elif not there[name]["served"]:
            yield fault_at("crd-version-missing", where, f"version {name} is not served")
        else:
            if version["storage"] and not there[name]["storage"]:
                stored = next((one for one in there if there[one]["storage"]), "none")
                yield fault_at("crd-version-not-stored", where, f"stores {stored}, must store {name}")
            yield from _version(there[name], version, where, ours=_is_ours(found))


def _version(found: Mapping[str, Any], shipped: Mapping[str, Any], where: str, *, ours: bool) -> Iterator[FoundFault]:
    mine, stored = _schema(shipped), _schema(found)
    if ours and mine != stored:  # mostly they are equal, and large
        changes = list(schema_changes(mine, stored))
        if lacks := [path for path, what in changes if not what]:
            yield fault_at("crd-schema-lacks-fields", f"{where}, version {shipped['name']}", f"missing: {_some(lacks)}")
        if others := [f"{path}: {what}" for path, what in changes if what]:
            yield fault_at("crd-schema-differs", f"{where}, version {shipped['name']}", f"differs in {_some(others)}")
    if "status" in (shipped.get("subresources") or {}) and "status" not in (found.get("subresources") or {}):
        yield fault_at("crd-lacks-status", f"{where}, version {shipped['name']}", "has no status subresource")


def schema_changes(shipped: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the places at which a stored schema differs, with what differs; empty for a field that it lacks.

    The API server drops fields that a schema lacks, unless it preserves unknown fields.
    """
    keywords = {**shipped, **found}.keys() - _DOCUMENTATION - {"properties", *_INNER}
    yield from ((path, key) for key in sorted(keywords) if shipped.get(key) != found.get(key))
    mine, stored = shipped.get("properties") or {}, found.get("properties") or {}
    for name in {**mine, **stored}:
        inner = f"{path}.{name}".removeprefix(".")
        if name not in mine:
            yield inner, "not in this version"
        elif name in stored:
            yield from schema_changes(mine[name], stored[name], inner)
        elif not found.get("x-kubernetes-preserve-unknown-fields"):
            yield inner, ""
    for keyword, mark in _INNER.items():
        one, other = shipped.get(keyword), found.get(keyword)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from schema_changes(one, other, path + mark)
        elif one != other:
            yield path, keyword


def _fits(found: Mapping[str, Any], kinds: Iterable[Kind], where: str) -> Iterator[FoundFault]:
    """Yield incompatibilities of a CRD of another chart, which need not equal ours."""
    for kind in kinds:
        by_fault: dict[str, list[str]] = {}
        for one in misfits(found, kind):
            if one.outcome in _OUTCOMES:  # a version that is not served is reported separately
                by_fault.setdefault(_OUTCOMES[one.outcome], []).append(f"{one.path} ({one.message})")
        for fault, places in by_fault.items():
            yield fault_at(fault, f"{where}, version {kind.version}", _some(places))


def _conversion(observed: ClusterSnapshot, found: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    for _, client in clients(CRDS, found):
        service = client.get("service")
        if service and observed.missing(SERVICES, service["name"], service["namespace"]):
            there = place(SERVICES, service["name"], service["namespace"])
            yield fault_at("conversion-points-nowhere", where, f"its conversion calls {there}, which does not exist")


def _is_ours(found: Mapping[str, Any]) -> bool:
    """Return whether the CRD was installed by jobgate, not by another chart."""
    return LABELS.items() <= labels_of(found).items()


def _schema(version: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def _some(places: Sequence[str]) -> str:
    named = ", ".join(places[:_NAMED])
    return named if len(places) <= _NAMED else f"{named} and {len(places) - _NAMED} more"

"""Compares the CustomResourceDefinitions with those of this version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crdgen.diff.versions import schemas
from crdgen.schema.look import schema_of
from jobgate.cluster.bundles import CRDS, clients
from jobgate.cluster.endpoints import SERVICES
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import ClusterSnapshot, labels_of, place
from jobgate.installation.installation import LABELS
from jobgate.jobs.kind import CustomKind
from jobgate.offline.fit import MisfitOutcome, misfits
from jobgate.ownership import HOME_LABEL
from webhook.text import first_of

_OUTCOMES = {
    MisfitOutcome.DROPPED: "crd-schema-lacks-fields",
    MisfitOutcome.REJECTED: "crd-refuses",
    MisfitOutcome.DIFFERS: "crd-defaults-differ",
}

#: Maximum number of listed places.
_NAMED = 5


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield faults of the CRDs of enabled kinds."""
    for shipped in expected.definitions:
        name = shipped["metadata"]["name"]
        where = place(CRDS, name)
        if observed.missing(CRDS, name):
            yield fault_at("crd-missing", where, "not found")
        elif (crd := observed.get(CRDS, name)) is not None:
            yield from _whole(crd, shipped, where)
            yield from _conversion(observed, expected, crd, where)
            yield from _versions(crd, shipped, where)
            of_it = [kind for kind in expected.kinds if kind.qualified_plural == name]
            yield from _schemas(crd, shipped, of_it, where)


def _whole(crd: Mapping[str, Any], shipped: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    conditions = {condition["type"]: condition for condition in (crd.get("status") or {}).get("conditions") or ()}
    established = conditions.get("Established") or {}
    if established.get("status") != "True":
        names = conditions.get("NamesAccepted") or {}
        why = (names if names.get("status") == "False" else established).get("message") or "no condition"
        yield fault_at("crd-not-established", where, f"not Established: {why}")
    if (scope := crd["spec"]["scope"]) != shipped["spec"]["scope"]:
        yield fault_at("crd-scope-differs", where, f"scope is {scope}, must be {shipped['spec']['scope']}")


def _conversion(
    observed: ClusterSnapshot, expected: Expected, crd: Mapping[str, Any], where: str
) -> Iterator[FoundFault]:
    home = labels_of(crd).get(HOME_LABEL, expected.namespace)
    if home != expected.namespace:
        yield fault_at("crd-of-another-installation", where, f"belongs to the installation in namespace {home}")
    for _, client in clients(CRDS, crd):
        service = client.get("service")
        if service and observed.missing(SERVICES, service["name"], service["namespace"]):
            missing = place(SERVICES, service["name"], service["namespace"])
            yield fault_at("conversion-points-nowhere", where, f"its conversion calls {missing}, which does not exist")


def _versions(crd: Mapping[str, Any], shipped: Mapping[str, Any], where: str) -> Iterator[FoundFault]:
    versions = {version["name"]: version for version in crd["spec"]["versions"]}
    for version in shipped["spec"]["versions"]:
        name = version["name"]
        if name not in versions:
            yield fault_at("crd-version-missing", where, f"has no version {name}, only {', '.join(versions)}")
        elif not versions[name]["served"]:
            yield fault_at("crd-version-missing", where, f"version {name} is not served")
        else:
            if version["storage"] and not versions[name]["storage"]:
                stored = next((other for other in versions if versions[other]["storage"]), "none")
                yield fault_at("crd-version-not-stored", where, f"stores {stored}, must store {name}")
            if _has_status(version) and not _has_status(versions[name]):
                yield fault_at("crd-lacks-status", f"{where}, version {name}", "has no status subresource")


def _has_status(version: Mapping[str, Any]) -> bool:
    return "status" in (version.get("subresources") or {})


def _schemas(
    crd: Mapping[str, Any], shipped: Mapping[str, Any], kinds: Iterable[CustomKind], where: str
) -> Iterator[FoundFault]:
    """Yield how the schemas of a CRD harm jobs; if they do not, how jobgate's own CRD differs from this version."""
    ours = LABELS.items() <= labels_of(crd).items()
    faults: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        for misfit in misfits(crd, kind):
            # A version that is not served is reported separately.
            if misfit.outcome in _OUTCOMES and not (ours and misfit.outcome is MisfitOutcome.DIFFERS):
                faults.setdefault((_OUTCOMES[misfit.outcome], kind.version), []).append(
                    f"{misfit.path} ({misfit.message})"
                )
    if ours and not faults:
        own = {version["name"]: schema_of(version) for version in crd["spec"]["versions"]}
        for version in shipped["spec"]["versions"]:
            for change in schemas(schema_of(version), own.get(version["name"], schema_of(version))):
                if not change.text:
                    changes = faults.setdefault(("crd-schema-differs", version["name"]), [])
                    changes.append(f"{change.path} ({change.what})")
    for (fault, name), places in faults.items():
        yield fault_at(fault, f"{where}, version {name}", first_of(places, _NAMED))

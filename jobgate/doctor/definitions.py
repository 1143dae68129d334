"""The CustomResourceDefinitions, against those that this version ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import APPLY, Fault, Finding, error, notice, warning
from jobgate.doctor.observed import CRDS, SERVICES, Observed, place
from jobgate.doctor.schemas import differing, lacking
from jobgate.doctor.targets import conversion_client
from jobgate.offline.fit import Outcome, misfits
from jobgate.render.installation import LABELS
from webhook import Kind

_OWNER = "apply our CRD (`jobgate manifests`, `manifests/crds`), or bring the chart that owns it to a version that fits"

MISSING = error("crd-missing", "The CRD of a kind is not there: no job of it can be made.", APPLY)
NOT_ESTABLISHED = error(
    "crd-not-established",
    "The API server does not serve a CRD: its names are another's, or its conversion has no valid bundle.",
    "read its conditions: `kubectl describe crd NAME`",
)
SCOPE = error(
    "crd-scope-differs", "A CRD is for the whole cluster, and the entries are for what is in namespaces.", _OWNER
)
VERSION_MISSING = error(
    "crd-version-missing",
    "A CRD has no such version as the server judges, or does not serve it: jobs of it cannot be made, or go unchecked.",
    _OWNER,
)
NOT_STORED = warning(
    "crd-version-not-stored",
    "A CRD stores another version than the one that the server judges: what is stored need not be what was judged.",
    _OWNER,
)
LACKS_FIELDS = error(
    "crd-schema-lacks-fields",
    "A CRD's schema lacks fields that this version knows: the API server drops them from what users write.",
    _OWNER,
)
DIFFERS = warning(
    "crd-schema-differs",
    "A CRD of ours says something else than this version ships: it is of another version, or somebody changed it.",
    "apply the CRDs of this version: `kubectl apply --server-side -k manifests/crds`",
)
REFUSES = error(
    "crd-refuses",
    "A CRD of another chart refuses what this version admits, or what its defaults write.",
    _OWNER,
)
DEFAULTS = notice(
    "crd-defaults-differ",
    "A CRD of another chart has another default than was meant: a job says more, or something else, than it should.",
    "see whether that is wanted; what a job says itself is not touched",
)
STATUS = error(
    "crd-lacks-status",
    "A CRD has no subresource `status`: what operators write there changes the whole job, and is judged.",
    _OWNER,
)
NOWHERE = error(
    "conversion-points-nowhere",
    "A CRD is converted by a webhook whose Service is not there: nothing of the kind can be read in another version "
    "than it is stored in, or listed.",
    "install the software that converts it, or set `spec.conversion.strategy` to `None`",
)

FAULTS = (
    MISSING,
    NOT_ESTABLISHED,
    SCOPE,
    VERSION_MISSING,
    NOT_STORED,
    LACKS_FIELDS,
    DIFFERS,
    REFUSES,
    DEFAULTS,
    STATUS,
    NOWHERE,
)

_OUTCOMES = {Outcome.DROPPED: LACKS_FIELDS, Outcome.REFUSED: REFUSES, Outcome.DIFFERS: DEFAULTS}

#: So many places are named; whoever needs all compares the CRDs.
_NAMED = 5


def check(observed: Observed, expected: Expected) -> Iterator[Finding]:
    """Yield what is wrong with the CRDs of the kinds that are on."""
    for shipped in expected.definitions:
        name = shipped["metadata"]["name"]
        where = place(CRDS, name)
        if observed.missing(CRDS, name):
            yield MISSING.at(where, "it is not there")
        elif (found := observed.get(CRDS, name)) is not None:
            yield from _whole(found, shipped, where)
            yield from _versions(found, shipped, where)
            yield from _conversion(observed, found, where)
            if not _is_ours(found):
                of_it = [kind for kind in expected.kinds if kind.qualified_plural == name]
                yield from _fits(found, of_it, where)


def _whole(found: Mapping[str, Any], shipped: Mapping[str, Any], where: str) -> Iterator[Finding]:
    conditions = {one["type"]: one for one in (found.get("status") or {}).get("conditions") or ()}
    established = conditions.get("Established") or {}
    if established.get("status") != "True":
        names = conditions.get("NamesAccepted") or {}
        said = (names if names.get("status") == "False" else established).get("message") or "no condition says why"
        yield NOT_ESTABLISHED.at(where, f"it is not Established: {said}")
    if found["spec"]["scope"] != shipped["spec"]["scope"]:
        yield SCOPE.at(where, f"its scope is {found['spec']['scope']}, and must be {shipped['spec']['scope']}")


def _versions(found: Mapping[str, Any], shipped: Mapping[str, Any], where: str) -> Iterator[Finding]:
    there = {one["name"]: one for one in found["spec"]["versions"]}
    for version in shipped["spec"]["versions"]:
        name = version["name"]
        if name not in there:
            yield VERSION_MISSING.at(where, f"it has no version {name}, but {', '.join(there)}")
        elif not there[name]["served"]:
            yield VERSION_MISSING.at(where, f"version {name} is not served")
        else:
            if version["storage"] and not there[name]["storage"]:
                stored = next((one for one in there if there[one]["storage"]), "none")
                yield NOT_STORED.at(where, f"it stores {stored}, and not {name}")
            yield from _version(there[name], version, where, ours=_is_ours(found))


def _version(found: Mapping[str, Any], shipped: Mapping[str, Any], where: str, *, ours: bool) -> Iterator[Finding]:
    mine, stored = _schema(shipped), _schema(found)
    if ours and mine != stored:  # mostly they are alike, and large
        if lacks := list(lacking(mine, stored)):
            yield LACKS_FIELDS.at(f"{where}, version {shipped['name']}", f"it lacks {_some(lacks)}")
        if others := list(differing(mine, stored)):
            yield DIFFERS.at(f"{where}, version {shipped['name']}", f"it differs in {_some(others)}")
    if "status" in (shipped.get("subresources") or {}) and "status" not in (found.get("subresources") or {}):
        yield STATUS.at(f"{where}, version {shipped['name']}", "it has no subresource status")


def _fits(found: Mapping[str, Any], kinds: Iterable[Kind], where: str) -> Iterator[Finding]:
    """Yield in what a CRD of another chart does not fit: it need not be ours, word by word."""
    for kind in kinds:
        by_fault: dict[Fault, list[str]] = {}
        for one in misfits(found, kind):
            if one.outcome in _OUTCOMES:  # that it is not served is told by itself
                by_fault.setdefault(_OUTCOMES[one.outcome], []).append(f"{one.path} ({one.message})")
        for fault, places in by_fault.items():
            yield fault.at(f"{where}, version {kind.version}", _some(places))


def _conversion(observed: Observed, found: Mapping[str, Any], where: str) -> Iterator[Finding]:
    client = conversion_client(found)
    service = (client or {}).get("service")
    if service and observed.missing(SERVICES, service["name"], service["namespace"]):
        there = place(SERVICES, service["name"], service["namespace"])
        yield NOWHERE.at(where, f"its conversion calls {there}, which is not there")


def _is_ours(found: Mapping[str, Any]) -> bool:
    """Tell whether we installed a CRD, and no other chart."""
    labels = found["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in LABELS.items())


def _schema(version: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def _some(places: Sequence[str]) -> str:
    named = ", ".join(places[:_NAMED])
    return named if len(places) <= _NAMED else f"{named} and {len(places) - _NAMED} more"

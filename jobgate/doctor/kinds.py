"""Checks the configured kinds: the files with their descriptions, and their CRDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdgen.reading.entries import InvalidEntries
from crdgen.schema.look import named
from jobgate.cluster.bundles import CRDS
from jobgate.configured.catalogue import installable, kinds_of, named_in_catalogue
from jobgate.configured.entry import Entry
from jobgate.configured.file import read_entries
from jobgate.doctor.choices import flags_of
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import CONFIG_MAPS, DEPLOYMENTS, ClusterSnapshot, NotChecked, Ref, place
from jobgate.installation.workload import ACCOUNT, KINDS_VOLUME
from jobgate.jobs.kind import JobKind


def config_map(observed: ClusterSnapshot, namespace: str) -> Ref | None:
    """Return the ConfigMap with the files of configured kinds, which the Deployment of the server names."""
    spec: Mapping[str, Any] = (observed.get(DEPLOYMENTS, ACCOUNT, namespace) or {}).get("spec", {})
    volumes = spec["template"]["spec"].get("volumes") or () if spec else ()
    names = (volume["configMap"]["name"] for volume in volumes if volume["name"] == KINDS_VOLUME)
    return next((Ref(CONFIG_MAPS, name, namespace) for name in names), None)


def _read(observed: ClusterSnapshot, namespace: str) -> Iterator[tuple[str, list[Entry] | str]]:
    """Yield each value of the server's flag `--kinds`, with its entries, or with what is wrong."""
    ref = config_map(observed, namespace)
    files = (observed.get(*ref) or {}).get("data") or {} if ref else {}
    for value in flags_of(observed, ACCOUNT, namespace).get("kinds", ()):
        name = value.rpartition("/")[2]
        if entries := named_in_catalogue(value):
            yield value, [*entries]
        elif ref and isinstance(observed.objects[ref], NotChecked):
            continue
        elif name not in files:
            yield value, "is neither in the catalogue nor in the ConfigMap of the server"
        else:
            try:
                yield value, read_entries(files[name].encode(), name)
            except InvalidEntries as error:
                yield value, str(error)


def are_known(observed: ClusterSnapshot, namespace: str) -> bool:
    """Return whether the descriptions of all configured kinds could be read."""
    server, files = Ref(DEPLOYMENTS, ACCOUNT, namespace), config_map(observed, namespace)
    read = [observed.objects.get(ref) for ref in (server, files) if ref]
    return read[0] is not None and not any(isinstance(each, NotChecked) for each in read)


def configured_kinds(observed: ClusterSnapshot, namespace: str, wanted: Mapping[str, bool]) -> list[JobKind]:
    """Return the configured kinds of the server with valid descriptions, and `wanted` kinds of the catalogue.

    The ConfigMap must have been read.
    """
    read = [entries for _, entries in _read(observed, namespace) if not isinstance(entries, str)]
    read += [[*named_in_catalogue(name)] for name, on in wanted.items() if on]
    return installable(kinds_of(entry for entries in read for entry in entries))


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield invalid descriptions of kinds, and kinds whose CRD is missing or does not serve the described version."""
    for value, entries in _read(observed, expected.namespace):
        if isinstance(entries, str):
            where = place(DEPLOYMENTS, ACCOUNT, expected.namespace)
            yield fault_at("kind-description-invalid", f"{where}: --kinds={value}", entries)
    for kind in expected.kinds:
        name = kind.qualified_plural
        if kind.resource is not None or "." not in kind.group:
            continue
        if observed.missing(CRDS, name):
            yield fault_at("kind-crd-missing", place(CRDS, name), "not found")
        elif (crd := observed.get(CRDS, name)) is not None:
            served = [each for each, version in named(crd["spec"]["versions"]).items() if version.get("served")]
            if kind.version not in served:
                what = f"serves {', '.join(served) or 'no version'}, but {kind.version} is described"
                yield fault_at("kind-version-not-served", place(CRDS, name), what)

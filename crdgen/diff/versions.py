"""Changes of versions, of their schemas field by field, and between versions that objects are converted between."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from crdgen.diff.bounds import bounds
from crdgen.diff.change import REJECTS, Break, Change, Family, SchemaPair
from crdgen.diff.definition import strategy, views
from crdgen.diff.fields import defaults, fields
from crdgen.diff.normal import Normalizer
from crdgen.diff.rules import rules
from crdgen.diff.shapes import incompatible, shapes, topology
from crdgen.diff.values import branches, values
from crdgen.schema.look import canonical, mapping, named, schema_of, words

_STATUS: Final = "`status.storedVersions`"
_MIGRATE: Final = (
    "keep it, served or not, until every object is rewritten in the new storage version and "
    f"the version is taken out of {_STATUS}"
)
_SERVE: Final = "keep it served, marked deprecated, while clients use it"


def versions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes of versions, of their schemas, and between versions that objects are converted between."""
    was, now = (named(mapping(crd, "spec").get("versions")) for crd in (old, new))
    for name, version in was.items():
        if name not in now:
            yield _removed(
                name, version, words(mapping(old, "status").get("storedVersions")), _compare_with_cluster(old)
            )
    for name, version in now.items():
        if name not in was:
            yield Change(_path(name), "the version is new")
        else:
            yield from _flags(name, was[name], version)
            yield from (change.in_version(name) for change in views(was[name], version))
            yield from (change.in_version(name) for change in schemas(schema_of(was[name]), schema_of(version)))
    yield from _between(was, now, converts=strategy(new) != "None")


def _compare_with_cluster(crd: Mapping[str, Any]) -> str:
    """Return the advice to compare with the CRD in the cluster: its status lists the stored versions."""
    name = mapping(crd, "metadata").get("name", "NAME")
    return f"or compare with the CRD of the cluster, `kubectl get crd {name} -o yaml`: its {_STATUS} has the answer"


def _removed(name: str, version: Mapping[str, Any], stored: list[str], compare_hint: str) -> Change:
    """Return the change by the removal of a version; `stored` are the stored versions in the old CRD's status, if any.

    A file only says in which version objects are stored now: an earlier revision may have stored them in any version.
    The API server rejects the removal of a version in the status (k8s.io/apiextensions-apiserver,
    pkg/apis/apiextensions/validation, ValidateCustomResourceDefinitionStoredVersions).
    """
    served = version.get("served") is True
    rejected = f"the API server rejects that while {_STATUS} names it"
    if version.get("storage") is True or name in stored:
        what = f"the version is removed, and objects are stored in it: {rejected}, and cannot read them after that"
        return Change(_path(name), what, REJECTS, _MIGRATE)
    if not stored:
        what = f"the version is removed, and objects may be stored in it since an earlier revision: {rejected}"
        return Change(_path(name), what, REJECTS if served else (Break.STORED,), f"{_MIGRATE}; {compare_hint}")
    if served:
        what = f"the version is removed, which {_STATUS} does not name: clients that use it get a 404"
        return Change(_path(name), what, (Break.CLIENTS,), _SERVE)
    return Change(_path(name), f"the version is removed, which was not served, and {_STATUS} does not name it")


#: Flags of a version, with the texts for being set and unset.
_FLAGS: Final = {
    "served": (
        "the version is now served",
        "the version is no longer served: clients that use it get a 404",
    ),
    "storage": (
        "objects are now stored in this version when they are written; those written before stay as they are",
        f"objects are now written in another version; {_STATUS} names this one until all are rewritten",
    ),
    "deprecated": ("the version is now deprecated", "the version is no longer deprecated"),
}


def _flags(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for flag, (on, off) in _FLAGS.items():
        was_set, is_set = old.get(flag) is True, new.get(flag) is True
        if was_set and not is_set:
            breaks = ((Break.CLIENTS,), _SERVE) if flag == "served" else ((), "")
            yield Change(f"{_path(name)}.{flag}", off, *breaks)
        if is_set and not was_set:
            yield Change(f"{_path(name)}.{flag}", on)
    if old.get("deprecationWarning") != new.get("deprecationWarning"):
        yield Change(f"{_path(name)}.deprecationWarning", "the warning changed", text=True)


def _between(
    old_versions: Mapping[str, Mapping[str, Any]], new_versions: Mapping[str, Mapping[str, Any]], *, converts: bool
) -> Iterator[Change]:
    """Yield changes for objects that are converted from an old version to a new version.

    Without a webhook, conversion only changes the apiVersion. Clients do not break: they use one version only.
    """
    old_storage = _storage_version(old_versions)
    new_storage = _storage_version(new_versions)
    pairs: list[tuple[str | None, str | None]] = [
        (old_storage, name) for name in new_versions if name not in old_versions
    ]
    pairs += [(name, new_storage) for name in old_versions if name not in new_versions]
    if old_storage in new_versions and new_storage in old_versions and old_storage != new_storage:
        pairs.append((old_storage, new_storage))
    for old, new in dict.fromkeys(pairs):
        if old is None or new is None:
            continue
        for change in schemas(schema_of(old_versions[old]), schema_of(new_versions[new])):
            if change.text:
                continue
            breaks = () if converts else tuple(affected for affected in change.breaks if affected is Break.STORED)
            fix = f"{change.fix}; or convert by a webhook" if breaks else ""
            yield replace(change.in_version(f"{old} → {new}"), breaks=breaks, fix=fix)


def _storage_version(versions_by_name: Mapping[str, Mapping[str, Any]]) -> str | None:
    return next((name for name, version in versions_by_name.items() if version.get("storage") is True), None)


def _path(name: str) -> str:
    return f"spec.versions[{name}]"


_TEXTS: Final = ("description", "title", "example", "externalDocs")


def texts(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of descriptive keywords."""
    for keyword in _TEXTS:
        if canonical(pair.old.get(keyword)) != canonical(pair.new.get(keyword)):
            verb = "is new" if keyword not in pair.old else "is gone" if keyword not in pair.new else "is otherwise"
            yield Change("", f"{keyword} {verb}", text=True)


_FAMILIES: Final[tuple[Family, ...]] = (shapes, fields, values, bounds, defaults, topology, rules, texts, branches)


def schemas(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes between the schemas of two whole objects, field by field from the root."""
    normal = Normalizer()
    yield from _walk(SchemaPair(normal(old), normal(new)), {})


def _walk(pair: SchemaPair, known: dict[tuple[int | bool, ...], list[Change]]) -> list[Change]:
    """Return the changes between two rewritten schemas; `known` has those of pairs that were compared before."""
    if pair.old is pair.new:
        return []
    key = (id(pair.old), id(pair.new), pair.root, pair.in_checked_value, pair.has_old_self)
    if key not in known:
        known[key] = list(incompatible(pair)) or [  # schemas below incompatible types cannot be compared
            *(change for family in _FAMILIES for change in family(pair)),
            *(change.below(step) for step, child in pair.children() for change in _walk(child, known)),
        ]
    return known[key]

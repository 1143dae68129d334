"""Changes of versions, of each one's schema field by field, and between versions that objects are converted to."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from crdgen.diff.bounds import bounds
from crdgen.diff.change import REJECTS, Break, Change, Family, SchemaPair
from crdgen.diff.definition import strategy, views
from crdgen.diff.fields import defaults, fields
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
    """Yield the changes of each version, of their schemas, and between versions that objects must pass."""
    was, now = (named(mapping(one, "spec").get("versions")) for one in (old, new))
    for name, version in was.items():
        if name not in now:
            yield _gone(name, version, words(mapping(old, "status").get("storedVersions")), _ask(old))
    for name, version in now.items():
        if name not in was:
            yield Change(_path(name), "the version is new")
        else:
            yield from _flags(name, was[name], version)
            yield from (change.of(name) for change in views(was[name], version))
            yield from (change.of(name) for change in schemas(schema_of(was[name]), schema_of(version)))
    yield from _between(was, now, converts=strategy(new) != "None")


def _ask(crd: Mapping[str, Any]) -> str:
    """Return the advice to compare with what the cluster has, whose status tells where objects are stored."""
    name = mapping(crd, "metadata").get("name", "NAME")
    return f"or compare with the CRD of the cluster, `kubectl get crd {name} -o yaml`: its {_STATUS} has the answer"


def _gone(name: str, version: Mapping[str, Any], stored: list[str], ask: str) -> Change:
    """Return what the removal of a version breaks; `stored` is what the old CRD's status names, if it says so.

    A file tells only where objects are stored now: an earlier revision may have stored them in any version. The API
    server rejects to remove a version that the status names (k8s.io/apiextensions-apiserver, pkg/apis/apiextensions/
    validation, ValidateCustomResourceDefinitionStoredVersions).
    """
    served = version.get("served") is True
    rejected = f"the API server rejects that while {_STATUS} names it"
    if version.get("storage") is True or name in stored:
        what = f"the version is removed, and objects are stored in it: {rejected}, and cannot read them after that"
        return Change(_path(name), what, REJECTS, _MIGRATE)
    if not stored:
        what = f"the version is removed, and objects may be stored in it since an earlier revision: {rejected}"
        return Change(_path(name), what, REJECTS if served else (Break.STORED,), f"{_MIGRATE}; {ask}")
    if served:
        what = f"the version is removed, which {_STATUS} does not name: clients that use it get a 404"
        return Change(_path(name), what, (Break.CLIENTS,), _SERVE)
    return Change(_path(name), f"the version is removed, which was not served, and {_STATUS} does not name it")


#: What is said of a flag of a version that is now on, and now off.
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
        was, now = old.get(flag) is True, new.get(flag) is True
        if was and not now:
            breaks = ((Break.CLIENTS,), _SERVE) if flag == "served" else ((), "")
            yield Change(f"{_path(name)}.{flag}", off, *breaks)
        if now and not was:
            yield Change(f"{_path(name)}.{flag}", on)
    if old.get("deprecationWarning") != new.get("deprecationWarning"):
        yield Change(f"{_path(name)}.deprecationWarning", "the warning changed", text=True)


def _between(
    was: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]], *, converts: bool
) -> Iterator[Change]:
    """Yield what objects lose on the way from the schema that they were stored with to one that they now meet.

    Without a webhook, only the apiVersion is converted. A client of the new version is none of the old one's.
    """
    before = _stored(was)
    after = _stored(now)
    pairs: list[tuple[str | None, str | None]] = [(before, name) for name in now if name not in was]
    pairs += [(name, after) for name in was if name not in now]
    if before in now and after in was and before != after:
        pairs.append((before, after))
    for old, new in dict.fromkeys(pairs):
        if old is None or new is None:
            continue
        for change in schemas(schema_of(was[old]), schema_of(now[new])):
            if change.text:
                continue
            breaks = () if converts else tuple(one for one in change.breaks if one is Break.STORED)
            fix = f"{change.fix}; or convert by a webhook" if breaks else ""
            yield replace(change.of(f"{old} → {new}"), breaks=breaks, fix=fix)


def _stored(found: Mapping[str, Mapping[str, Any]]) -> str | None:
    return next((name for name, version in found.items() if version.get("storage") is True), None)


def _path(name: str) -> str:
    return f"spec.versions[{name}]"


_TEXTS: Final = ("description", "title", "example", "externalDocs")


def texts(pair: SchemaPair) -> Iterator[Change]:
    """Yield changes of descriptive keywords."""
    for keyword in _TEXTS:
        if canonical(pair.old.get(keyword)) != canonical(pair.new.get(keyword)):
            verb = "is new" if keyword not in pair.old else "is gone" if keyword not in pair.new else "is otherwise"
            yield Change(pair.path, f"{keyword} {verb}", text=True)


_FAMILIES: Final[tuple[Family, ...]] = (shapes, fields, values, bounds, defaults, topology, rules, texts, branches)


def schemas(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes between the schemas of two whole objects, field by field from the root."""
    yield from _walk(SchemaPair("", old, new))


def _walk(pair: SchemaPair) -> Iterator[Change]:
    if canonical(pair.old) == canonical(pair.new):
        return
    if found := list(incompatible(pair)):  # Nothing below can be compared.
        yield from found
        return
    yield from (change for family in _FAMILIES for change in family(pair))
    new = mapping(pair.new, "properties")
    for name in mapping(pair.old, "properties"):
        if name in new:
            yield from _walk(pair.field(name))
    if "items" in pair.old and "items" in pair.new:
        yield from _walk(pair.items())
    if all(isinstance(schema.get("additionalProperties"), Mapping) for schema in (pair.old, pair.new)):
        yield from _walk(pair.values())

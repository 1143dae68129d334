"""Changes of names and scope, of the conversion between versions, and of subresources, columns and selectors."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import EVERYTHING, REJECTS, Break, Change
from crdgen.schema.limits import RANGES
from crdgen.schema.look import canonical, mapping, members, named, number, schema_of, shown, words

_IMMUTABLE: Final = (("group",), ("scope",), ("names", "kind"), ("names", "plural"))
_NEW_KIND: Final = "the API server rejects the change for established CRDs: keep it, or create a CRD with another name"


def names(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of group, names, scope, labels and annotations."""
    for keys in _IMMUTABLE:
        was, now = _at(old, *keys), _at(new, *keys)
        if was != now:
            path, what = (
                f"spec.{'.'.join(keys)}",
                f"{shown(was)} is now {shown(now)}: objects are no longer found",
            )
            yield Change(path, what, EVERYTHING, _NEW_KIND)
    for key in ("listKind", "singular"):
        was, now = (_at(crd, "names", key) or _default_name(crd, key) for crd in (old, new))
        if was != now:
            what = f"{shown(was)} is now {shown(now)}: clients that use the old one fail"
            yield Change(f"spec.names.{key}", what, (Break.CLIENTS,), "keep it")
    for key in ("shortNames", "categories"):
        was, now = (dict.fromkeys(words(_at(crd, "names", key))) for crd in (old, new))
        why = "`kubectl get` and scripts that use it no longer find the objects"
        yield from _entries(f"spec.names.{key}", was, now, why)
    for key in ("labels", "annotations"):
        if canonical(mapping(old, "metadata", key)) != canonical(mapping(new, "metadata", key)):
            yield Change(f"metadata.{key}", f"the {key} of the CRD changed", text=True)


def _entries(path: str, was: Mapping[str, Any], now: Mapping[str, Any], lost: str = "") -> Iterator[Change]:
    """Yield entries that are new, changed or removed. `lost` says what clients lose in the last two cases, if any."""
    breaks = ((Break.CLIENTS,), "keep it") if lost else ((), "")
    for name in was:
        if name not in now or canonical(was[name]) != canonical(now[name]):
            what = f"{name} is {'otherwise' if name in now else 'removed'}"
            yield Change(path, f"{what}: {lost}" if lost else what, *breaks)
    for name in now:
        if name not in was:
            yield Change(path, f"{name} is new")


def _at(crd: Mapping[str, Any], *keys: str) -> Any:
    *above, last = keys
    return mapping(crd, "spec", *above).get(last)


def _default_name(crd: Mapping[str, Any], key: str) -> str:
    """Return the default of the API server."""
    kind = _at(crd, "names", "kind")
    name = kind if isinstance(kind, str) else ""
    return f"{name}List" if key == "listKind" else name.lower()


_WEBHOOK = "Webhook"


def strategy(crd: Mapping[str, Any]) -> str:
    """Return the strategy: `Webhook`, or `None`, which only changes the apiVersion."""
    return _WEBHOOK if mapping(crd, "spec", "conversion").get("strategy") == _WEBHOOK else "None"


def conversion(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of the conversion and of preserveUnknownFields."""
    path = "spec.conversion"
    was, now = strategy(old), strategy(new)
    several = len(members(mapping(new, "spec").get("versions"))) > 1
    if was == _WEBHOOK != now:
        what = "objects are no longer converted by a webhook: fields that another version calls otherwise are lost"
        fix = "keep the webhook until all objects are stored in the one version that is left"
        yield Change(f"{path}.strategy", what, *((REJECTS, fix) if several else ((), "")))
    elif now == _WEBHOOK != was:
        yield Change(f"{path}.strategy", "a webhook now converts objects, and must be available for every read")
    elif canonical(mapping(old, "spec", "conversion")) != canonical(mapping(new, "spec", "conversion")):
        yield Change(f"{path}.webhook", "the conversion webhook changed")
    kept, keeps = (mapping(crd, "spec").get("preserveUnknownFields") is True for crd in (old, new))
    if kept and not keeps:
        what = "unknown fields are now pruned: what stored objects have there is lost"
        fix = "keep it until every field that is in use is named"
        yield Change("spec.preserveUnknownFields", what, REJECTS, fix)
    if keeps and not kept:
        what = "unknown fields are now kept, which the API server rejects for apiextensions.k8s.io/v1"
        yield Change("spec.preserveUnknownFields", what, (Break.CLIENTS,), "leave it out")


_COLUMNS: Final = "additionalPrinterColumns"


_TEXT: Final = "a string"
_INT32_MAX: Final = RANGES["int32"][1]
_REPLICAS: Final = f"an integer from 0 to {_INT32_MAX}"


def _fits_scaling(key: str, schema: Mapping[str, Any]) -> bool:
    """Return whether scaling accepts all valid values: the API server checks the field of scaling at each write."""
    if key == "labelSelectorPath":
        return schema.get("type") == "string"
    least, most = (number(schema.get(bound)) for bound in ("minimum", "maximum"))
    is_small = schema.get("format") == "int32" or (most is not None and most <= _INT32_MAX)
    return schema.get("type") == "integer" and is_small and least is not None and least >= 0


def views(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of a version's subresources, columns and selectable fields."""
    was, now = ("status" in mapping(version, "subresources") for version in (old, new))
    if was and not now:
        what = "the status subresource is removed: controllers that write to it get a 404"
        yield Change("subresources.status", what, (Break.CLIENTS,), "keep it")
    if now and not was:
        what = "the status subresource is new: a status in a write of the whole object is ignored"
        fix = "add it to a new version, and let controllers of that version write to /status"
        yield Change("subresources.status", what, (Break.CLIENTS,), fix)
    was_scale, scale = (mapping(version, "subresources", "scale") for version in (old, new))
    yield from _entries(
        "subresources.scale", was_scale, scale, "autoscalers and `kubectl scale` fail, or read otherwise"
    )
    for key, path in scale.items():
        steps = str(path).removeprefix(".").split(".")
        field = mapping(schema_of(old), *(word for step in steps for word in ("properties", step)))
        if was_scale.get(key) != path and field and not _fits_scaling(key, field):
            what = f"{path} is now held to be {_TEXT if key == 'labelSelectorPath' else _REPLICAS}"
            yield Change(f"subresources.scale.{key}", what, REJECTS, "scale by a field of that type and these bounds")
    fields, selectable = (named(version.get("selectableFields"), "jsonPath") for version in (old, new))
    yield from _entries("selectableFields", fields, selectable, "selectors that use it are rejected")
    yield from _entries(_COLUMNS, named(old.get(_COLUMNS)), named(new.get(_COLUMNS)))

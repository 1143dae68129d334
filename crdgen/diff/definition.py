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
        was, now = (_at(one, "names", key) or _derived(one, key) for one in (old, new))
        if was != now:
            what = f"{shown(was)} is now {shown(now)}: clients that use the old one fail"
            yield Change(f"spec.names.{key}", what, (Break.CLIENTS,), "keep it")
    for key in ("shortNames", "categories"):
        was, now = (dict.fromkeys(words(_at(one, "names", key))) for one in (old, new))
        why = "`kubectl get` and scripts that use it no longer find the objects"
        yield from _entries(f"spec.names.{key}", was, now, why)
    for key in ("labels", "annotations"):
        if canonical(mapping(old, "metadata", key)) != canonical(mapping(new, "metadata", key)):
            yield Change(f"metadata.{key}", f"the {key} of the CRD changed", text=True)


def _entries(path: str, was: Mapping[str, Any], now: Mapping[str, Any], lost: str = "") -> Iterator[Change]:
    """Yield the entries that are new, otherwise or removed; `lost` says what clients lose by the latter two, if any."""
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


def _derived(crd: Mapping[str, Any], key: str) -> str:
    """Return what the API server fills in."""
    kind = _at(crd, "names", "kind")
    word = kind if isinstance(kind, str) else ""
    return f"{word}List" if key == "listKind" else word.lower()


_WEBHOOK = "Webhook"


def strategy(crd: Mapping[str, Any]) -> str:
    """Return the strategy: `None`, which changes nothing but the apiVersion, or `Webhook`."""
    return _WEBHOOK if mapping(crd, "spec", "conversion").get("strategy") == _WEBHOOK else "None"


def conversion(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of the conversion, and of whether unknown fields are kept throughout."""
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
    kept, keeps = (mapping(one, "spec").get("preserveUnknownFields") is True for one in (old, new))
    if kept and not keeps:
        what = "unknown fields are now pruned: what stored objects have there is lost"
        fix = "keep it until every field that is in use is named"
        yield Change("spec.preserveUnknownFields", what, REJECTS, fix)
    if keeps and not kept:
        what = "unknown fields are now kept, which the API server rejects for apiextensions.k8s.io/v1"
        yield Change("spec.preserveUnknownFields", what, (Break.CLIENTS,), "leave it out")


_COLUMNS: Final = "additionalPrinterColumns"


_TEXT: Final = "a string"
_MOST: Final = RANGES["int32"][1]
_COUNT: Final = f"an integer from 0 to {_MOST}"


def _can_be_scaled(key: str, schema: Mapping[str, Any]) -> bool:
    """Return whether the API server, which looks at what scaling reads with each write, takes all that was valid."""
    if key == "labelSelectorPath":
        return schema.get("type") == "string"
    least, most = (number(schema.get(bound)) for bound in ("minimum", "maximum"))
    is_small = schema.get("format") == "int32" or (most is not None and most <= _MOST)
    return schema.get("type") == "integer" and is_small and least is not None and least >= 0


def views(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of a version's subresources, columns and selectable fields."""
    was, now = ("status" in mapping(one, "subresources") for one in (old, new))
    if was and not now:
        what = "the status subresource is removed: controllers that write to it get a 404"
        yield Change("subresources.status", what, (Break.CLIENTS,), "keep it")
    if now and not was:
        what = "the status subresource is new: a status in a write of the whole object is ignored"
        fix = "add it to a new version, and let controllers of that one write to /status"
        yield Change("subresources.status", what, (Break.CLIENTS,), fix)
    was_scale, scale = (mapping(one, "subresources", "scale") for one in (old, new))
    yield from _entries(
        "subresources.scale", was_scale, scale, "autoscalers and `kubectl scale` fail, or read otherwise"
    )
    for key, path in scale.items():
        steps = str(path).removeprefix(".").split(".")
        scaled = mapping(schema_of(old), *(word for step in steps for word in ("properties", step)))
        if was_scale.get(key) != path and scaled and not _can_be_scaled(key, scaled):
            what = f"{path} is now held to be {_TEXT if key == 'labelSelectorPath' else _COUNT}"
            yield Change(f"subresources.scale.{key}", what, REJECTS, "scale by a field of that type and these bounds")
    fields, selectable = (named(one.get("selectableFields"), "jsonPath") for one in (old, new))
    yield from _entries("selectableFields", fields, selectable, "selectors that use it are rejected")
    yield from _entries(_COLUMNS, named(old.get(_COLUMNS)), named(new.get(_COLUMNS)))

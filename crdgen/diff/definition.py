"""Changes of names and scope, of the conversion between versions, and of subresources, columns and selectors."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import EVERYTHING, REJECTS, Break, Change
from crdgen.schema.look import canonical, mapping, members, named, shown, words

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
        yield from _words(key, words(_at(old, "names", key)), words(_at(new, "names", key)))
    for key in ("labels", "annotations"):
        if canonical(mapping(old, "metadata", key)) != canonical(mapping(new, "metadata", key)):
            yield Change(f"metadata.{key}", f"the {key} of the CRD changed", text=True)


def _words(key: str, was: list[str], now: list[str]) -> Iterator[Change]:
    for word in was:
        if word not in now:
            what = f"{word} is removed: `kubectl get {word}` and scripts that use it no longer find the objects"
            yield Change(f"spec.names.{key}", what, (Break.CLIENTS,), "keep it")
    for word in now:
        if word not in was:
            yield Change(f"spec.names.{key}", f"{word} is new")


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
        yield from _webhook(
            mapping(old, "spec", "conversion", "webhook"), mapping(new, "spec", "conversion", "webhook")
        )
    kept, keeps = (mapping(one, "spec").get("preserveUnknownFields") is True for one in (old, new))
    if kept and not keeps:
        what = "unknown fields are now pruned: what stored objects have there is lost"
        fix = "keep it until every field that is in use is named"
        yield Change("spec.preserveUnknownFields", what, REJECTS, fix)
    if keeps and not kept:
        what = "unknown fields are now kept, which the API server rejects for apiextensions.k8s.io/v1"
        yield Change("spec.preserveUnknownFields", what, (Break.CLIENTS,), "leave it out")


def _webhook(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if canonical(old.get("clientConfig")) != canonical(new.get("clientConfig")):
        yield Change("spec.conversion.webhook.clientConfig", "the clientConfig of the conversion webhook changed")
    was, now = (words(one.get("conversionReviewVersions")) for one in (old, new))
    if was != now:
        what = f"{', '.join(was)} are now {', '.join(now)}"
        yield Change("spec.conversion.webhook.conversionReviewVersions", what)


_SCALE: Final = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")


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
    yield from _scale(mapping(old, "subresources").get("scale"), mapping(new, "subresources").get("scale"))
    yield from _selectable(old, new)
    yield from _columns(old, new)


def _scale(was: Any, now: Any) -> Iterator[Change]:
    path = "subresources.scale"
    if was is None and now is not None:
        yield Change(path, "the scale subresource is new")
    elif was is not None and now is None:
        what = "the scale subresource is removed: autoscalers and `kubectl scale` fail"
        yield Change(path, what, (Break.CLIENTS,), "keep it")
    else:
        for key in _SCALE:
            old, new = mapping(was).get(key), mapping(now).get(key)
            if old is None and new is not None:
                yield Change(f"{path}.{key}", f"{shown(new)} is new")
            elif old != new:
                what = (
                    f"{shown(old)} is {'gone' if new is None else f'now {shown(new)}'}: autoscalers read another field"
                )
                yield Change(f"{path}.{key}", what, (Break.CLIENTS,), "keep the path")


def _selectable(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    was, now = (named(one.get("selectableFields"), "jsonPath") for one in (old, new))
    for path in was.keys() - now.keys():
        what = f"{path} is removed: selectors that use it are rejected"
        yield Change("selectableFields", what, (Break.CLIENTS,), "keep it")
    for path in now.keys() - was.keys():
        yield Change("selectableFields", f"{path} is new")


def _columns(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    key = "additionalPrinterColumns"
    was, now = named(old.get(key)), named(new.get(key))
    for name in was.keys() | now.keys():
        if name not in now:
            yield Change(key, f"column {name} is removed")
        elif name not in was:
            yield Change(key, f"column {name} is new")
        elif canonical(was[name]) != canonical(now[name]):
            yield Change(key, f"column {name} is otherwise")

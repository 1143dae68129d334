"""Changes of names and scope."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import EVERYTHING, Break, Change
from crdgen.schema.look import canonical, mapping, shown, words

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

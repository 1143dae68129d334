"""Changes of subresources, printer columns and field selectors."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crdgen.diff.change import Break, Change
from crdgen.schema.look import canonical, mapping, named, shown

_SCALE: Final = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")


def views(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield changes of a version's subresources, columns and selectable fields."""
    yield from _status("status" in mapping(old, "subresources"), "status" in mapping(new, "subresources"))
    yield from _scale(mapping(old, "subresources").get("scale"), mapping(new, "subresources").get("scale"))
    yield from _selectable(old, new)
    yield from _columns(old, new)


def _status(was: bool, now: bool) -> Iterator[Change]:
    if was and not now:
        what = "the status subresource is removed: controllers that write to it get a 404"
        yield Change("subresources.status", what, (Break.CLIENTS,), "keep it")
    if now and not was:
        what = "the status subresource is new: a status in a write of the whole object is ignored"
        fix = "add it to a new version, and let controllers of that one write to /status"
        yield Change("subresources.status", what, (Break.CLIENTS,), fix)


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

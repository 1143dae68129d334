"""Compares an object in the cluster with the desired one, and decides what to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from jobgate.cluster.secret import SECRETS
from jobgate.controller.desired import Desired
from jobgate.names import MANAGED_BY

#: Fields whose keys are ours: one that we did not write does not belong there.
_CLOSED = frozenset({"data", "binaryData", "selector", "matchLabels", "podSelector", "namespaceSelector"})
#: What the API server fills in within lists, and what with; None where it depends.
_FILLED_IN = {"protocol": "TCP", "targetPort": None}


class Ownership(Enum):
    """The state of an object, which decides what is done."""

    FINE = "left unchanged"
    CHANGED = "changed back"
    INCOMPLETE = "left unchanged: a part that is generated only once is missing"
    GOING = "created again after its deletion"
    LEFT = "created again after garbage collection: an earlier job of the same name owns it"
    FOREIGN = "left unchanged: not created by the controller"


class Judgement(NamedTuple):
    """State of an object, changes as a JSON merge patch, and a message if something is wrong."""

    verdict: Ownership
    changes: Mapping[str, Any] = {}
    why: str = ""


def judge(desired: Desired, found: Mapping[str, Any]) -> Judgement:
    """Compare. An object belongs to the controller only if it has its label and the job's uid as an owner."""
    ours, theirs = desired.manifest["metadata"]["ownerReferences"][0], found["metadata"].get("ownerReferences") or ()
    marked, owned = is_marked(found), any(one.get("uid") == ours["uid"] for one in theirs)
    if not (marked and owned):
        if marked and any((one.get("kind"), one.get("name")) == (ours["kind"], ours["name"]) for one in theirs):
            return Judgement(Ownership.LEFT, why=f"{desired.called} of an earlier job of this name is not deleted yet")
        return Judgement(Ownership.FOREIGN, why=_foreign(desired, marked=marked, owned=owned))
    if found["metadata"].get("deletionTimestamp"):
        return Judgement(Ownership.GOING, why=f"{desired.called} is being deleted")
    if not desired.declared.complete(found):
        return Judgement(
            Ownership.INCOMPLETE,
            why=f"{desired.called} lacks data that is generated only once: delete it, and it is created again",
        )
    changes = _changes(_said(desired), found)
    return Judgement(Ownership.CHANGED, changes) if changes else Judgement(Ownership.FINE)


def is_marked(found: Mapping[str, Any]) -> bool:
    """Return whether an object has the controller's label."""
    key, value = MANAGED_BY
    labels = found["metadata"].get("labels") or {}
    return bool(labels.get(key) == value)


def _foreign(desired: Desired, *, marked: bool, owned: bool) -> str:
    if owned:
        mark = "=".join(MANAGED_BY)
        return f"{desired.called} lacks the label {mark}, and is not updated: restore the label or delete the object"
    whose = "has another owner" if marked else "was not created by jobgate"
    return f"{desired.called} {whose}, and is not updated: rename it or this job, or delete it"


def _said(desired: Desired) -> dict[str, Any]:
    """Return what is said of an object once it is there."""
    manifest = desired.manifest
    if desired.resource == SECRETS:
        return {}  # made, and never written again: there is no right to it, and pods hold what they were given
    metadata = {key: manifest["metadata"][key] for key in ("labels", "annotations") if key in manifest["metadata"]}
    if desired.declared.generate is not None:
        return {"metadata": metadata}
    said = {key: value for key, value in manifest.items() if key not in {"apiVersion", "kind", "metadata"}}
    if manifest["kind"] == "ConfigMap":
        said = {"data": {}, "binaryData": {}, **said}
    return {"metadata": metadata, **said}


def _changes(said: Mapping[str, Any], found: Mapping[str, Any], *, closed: bool = False) -> dict[str, Any]:
    """Return the merge patch that makes what was found into what is said; what is not spoken of stays."""
    patch: dict[str, Any] = {}
    for key, value in said.items():
        has = found.get(key)
        if isinstance(value, Mapping):
            if inner := _changes(value, has if isinstance(has, Mapping) else {}, closed=closed or key in _CLOSED):
                patch[key] = inner
        elif not _same(value, has):
            patch[key] = value
    if closed:
        patch |= dict.fromkeys(found.keys() - said.keys())
    return patch


def _same(value: Any, has: Any) -> bool:
    """Compare what is said with what is stored. The API server does not store what is empty."""
    if not value and not has:
        return True
    if isinstance(value, list) and isinstance(has, list):
        return len(value) == len(has) and all(map(_same, value, has))
    if isinstance(value, Mapping) and isinstance(has, Mapping):
        return all(_same(one, has.get(key)) for key, one in value.items()) and all(
            key in _FILLED_IN and _FILLED_IN[key] in {None, has[key]} for key in has.keys() - value.keys()
        )
    return bool(value == has)

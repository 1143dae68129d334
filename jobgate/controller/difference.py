"""Compares an object in the cluster with the desired one, and decides what to do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from jobgate.cluster.secret import SECRETS
from jobgate.controller.desired import Desired
from jobgate.ownership import MANAGED_BY

#: Fields without keys of others: a key that we did not write is removed.
_CLOSED = frozenset({"data", "binaryData", "selector", "matchLabels", "podSelector", "namespaceSelector"})
#: Defaults that the API server sets in items of lists; None for a default that depends on other fields.
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


def judge(desired: Desired, stored: Mapping[str, Any]) -> Judgement:
    """Compare a stored object. It belongs to the controller only with its label and the job's uid as an owner."""
    ours, theirs = desired.manifest["metadata"]["ownerReferences"][0], stored["metadata"].get("ownerReferences") or ()
    marked, owned = is_marked(stored), any(owner.get("uid") == ours["uid"] for owner in theirs)
    if not (marked and owned):
        if marked and any((owner.get("kind"), owner.get("name")) == (ours["kind"], ours["name"]) for owner in theirs):
            return Judgement(Ownership.LEFT, why=f"{desired.called} of an earlier job of this name is not deleted yet")
        return Judgement(Ownership.FOREIGN, why=_foreign(desired, marked=marked, owned=owned))
    if stored["metadata"].get("deletionTimestamp"):
        return Judgement(Ownership.GOING, why=f"{desired.called} is being deleted")
    if not desired.declared.complete(stored):
        return Judgement(
            Ownership.INCOMPLETE,
            why=f"{desired.called} lacks data that is generated only once: delete it, and it is created again",
        )
    changes = _changes(_enforced(desired), stored)
    return Judgement(Ownership.CHANGED, changes) if changes else Judgement(Ownership.FINE)


def is_marked(stored: Mapping[str, Any]) -> bool:
    """Return whether an object has the controller's label."""
    key, value = MANAGED_BY
    labels = stored["metadata"].get("labels") or {}
    return bool(labels.get(key) == value)


def _foreign(desired: Desired, *, marked: bool, owned: bool) -> str:
    if owned:
        mark = "=".join(MANAGED_BY)
        return f"{desired.called} lacks the label {mark}, and is not updated: restore the label or delete the object"
    whose = "has another owner" if marked else "was not created by jobgate"
    return f"{desired.called} {whose}, and is not updated: rename it or this job, or delete it"


def _enforced(desired: Desired) -> dict[str, Any]:
    """Return the fields of an existing object that are enforced."""
    manifest = desired.manifest
    if desired.resource == SECRETS:
        return {}  # never updated: the controller has no permission to, and pods have the first content
    metadata = {key: manifest["metadata"][key] for key in ("labels", "annotations") if key in manifest["metadata"]}
    if desired.declared.generate is not None:
        return {"metadata": metadata}
    fields = {key: value for key, value in manifest.items() if key not in {"apiVersion", "kind", "metadata"}}
    if manifest["kind"] == "ConfigMap":
        fields = {"data": {}, "binaryData": {}, **fields}
    return {"metadata": metadata, **fields}


def _changes(desired: Mapping[str, Any], stored: Mapping[str, Any], *, closed: bool = False) -> dict[str, Any]:
    """Return the merge patch that sets the desired fields; others stay, unless the object is `closed`."""
    patch: dict[str, Any] = {}
    for key, value in desired.items():
        current = stored.get(key)
        if isinstance(value, Mapping):
            before = current if isinstance(current, Mapping) else {}
            if changes := _changes(value, before, closed=closed or key in _CLOSED):
                patch[key] = changes
        elif not _same(value, current):
            patch[key] = value
    if closed:
        patch |= dict.fromkeys(stored.keys() - desired.keys())
    return patch


def _same(value: Any, stored: Any) -> bool:
    """Return whether a stored value is the desired one. The API server does not store empty values."""
    if not value and not stored:
        return True
    if isinstance(value, list) and isinstance(stored, list):
        return len(value) == len(stored) and all(map(_same, value, stored))
    if isinstance(value, Mapping) and isinstance(stored, Mapping):
        return all(_same(part, stored.get(key)) for key, part in value.items()) and all(
            key in _FILLED_IN and _FILLED_IN[key] in {None, stored[key]} for key in stored.keys() - value.keys()
        )
    return bool(value == stored)

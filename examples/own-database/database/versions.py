"""How a Database is converted between v1alpha1 and v1."""

import json
from math import ceil
from typing import Any

from jobgate.api import NotConvertible, OtherVersion, parse_quantity

#: The annotation of an object of v1alpha1 with the spec of v1, if v1alpha1 cannot express all of it.
REST = "db.example.com/v1-spec"
ENGINES = {"postgres": "PostgreSQL", "mysql": "MySQL"}
WORDS = {engine: word for word, engine in ENGINES.items()}


def up(document: dict[str, Any]) -> dict[str, Any]:
    """Return a Database of v1alpha1 in v1: what v1alpha1 has not changed is as it was in v1."""
    annotations = {**document["metadata"].get("annotations", {})}
    try:
        spec = _newer(document["spec"], json.loads(annotations.pop(REST, "{}")))
    except (ValueError, LookupError, TypeError, AttributeError):  # any client may have changed the annotation
        raise NotConvertible(f"metadata.annotations[{REST}]: must be as v1alpha1 returns it: remove it") from None
    return _with(document, spec, annotations)


def down(document: dict[str, Any]) -> dict[str, Any]:
    """Return a Database of v1 in v1alpha1. What v1alpha1 cannot express is kept in an annotation."""
    spec, annotations = document["spec"], {**document["metadata"].get("annotations", {})}
    annotations.pop(REST, None)
    older = _older(spec)
    if _newer(older, {}) != spec:
        annotations[REST] = json.dumps(spec)
    return _with(document, older, annotations)


def _newer(spec: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return a spec of v1alpha1 in v1, with what is known of it."""
    before, new = _older(known) if known else {}, {**known}
    if spec["engine"] != before.get("engine"):
        word, version = spec["engine"].split(":")
        new |= {"engine": ENGINES[word], "version": version}
    if any(spec.get(key) != before.get(key) for key in ("storageGiB", "storageClass")):
        new["storage"] = {"size": f"{spec['storageGiB']}Gi"}
        if spec.get("storageClass"):
            new["storage"]["className"] = spec["storageClass"]
    users = {user["name"]: user for user in new.pop("users", ())}
    if spec.get("users"):
        new["users"] = [users.get(name, {"name": name, "role": "Write"}) for name in spec["users"]]
    return new


def _older(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec of v1 in v1alpha1, without what v1alpha1 lacks."""
    storage = spec["storage"]
    older = {
        "engine": f"{WORDS[spec['engine']]}:{spec['version']}",
        "storageGiB": max(ceil(parse_quantity(storage["size"]) / 2**30), 1),
    }
    if storage.get("className"):
        older["storageClass"] = storage["className"]
    if spec.get("users"):
        older["users"] = [user["name"] for user in spec["users"]]
    return older


def _with(document: dict[str, Any], spec: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    metadata = {key: value for key, value in document["metadata"].items() if key != "annotations"}
    return {**document, "metadata": metadata | ({"annotations": annotations} if annotations else {}), "spec": spec}


VERSIONS = {"v1alpha1": OtherVersion(up, down)}

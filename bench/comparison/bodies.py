"""AdmissionReviews as an API server sends them: compact, the envelope in Go's order, the object's keys sorted."""

from __future__ import annotations

import uuid
from typing import Any

import orjson

_CREATED = "2026-09-01T08:00:00Z"


def stored(job: dict[str, Any], variant: int) -> dict[str, Any]:
    """Return the job with the metadata that the API server gives it before admission."""
    metadata = {
        **job["metadata"],
        "creationTimestamp": _CREATED,
        "generation": 1,
        "managedFields": [
            {
                "apiVersion": job["apiVersion"],
                "fieldsType": "FieldsV1",
                "fieldsV1": {
                    "f:metadata": {"f:labels": {".": {}, "f:team": {}, "f:experiment": {}}},
                    "f:spec": {".": {}, **{f"f:{name}": {} for name in job["spec"]}},
                },
                "manager": "kubectl-create",
                "operation": "Update",
                "time": _CREATED,
            }
        ],
        "uid": str(_uid(variant, "object")),
    }
    return {**job, "metadata": metadata}


def review(
    new: dict[str, Any], plural: str, variant: int, *, old: dict[str, Any] | None = None, kind: str = ""
) -> bytes:
    """Return the review of a CREATE, or of an UPDATE if there is an old object."""
    api_version = new.get("apiVersion", "v1")
    group, _, version = api_version.rpartition("/")
    what = {"group": group, "version": version, "kind": new.get("kind", kind)}
    resource = {"group": group, "version": version, "resource": plural}
    operation = "CREATE" if old is None else "UPDATE"
    options = {"kind": f"{operation.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"}
    request = {
        "uid": str(_uid(variant, operation)),
        "kind": what,
        "resource": resource,
        "requestKind": what,
        "requestResource": resource,
        "name": new["metadata"].get("name", ""),
        "namespace": new["metadata"].get("namespace", "default"),
        "operation": operation,
        "userInfo": {"username": f"user-{variant}", "groups": ["system:authenticated"]},
        "object": _sorted(new),
        "oldObject": None if old is None else _sorted(old),
        "dryRun": False,
        "options": {**options, "fieldManager": "kubectl-create", "fieldValidation": "Strict"},
    }
    envelope = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return orjson.dumps(envelope)


def _sorted(document: dict[str, Any]) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(document, option=orjson.OPT_SORT_KEYS))


def _uid(variant: int, what: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{what}/{variant}")

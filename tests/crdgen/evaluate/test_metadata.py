"""The metadata of objects, and what scaling reads, held against Kubernetes' rules here and by a real API server."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen.evaluate import evaluate

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "metadata.example.com"
KIND = "MetadataThing"
PLURAL = KIND.lower()
PATH = f"/apis/{GROUP}/v1/namespaces/default/{PLURAL}"
DRY_RUN = {"dryRun": "All", "fieldValidation": "Ignore"}

RESOURCE = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "number"},
                "one": RESOURCE,
                "many": {"type": "array", "items": RESOURCE},
                "named": {"type": "object", "additionalProperties": RESOURCE},
            },
        },
        "status": {
            "type": "object",
            "properties": {"replicas": {"type": "integer"}, "selector": {"x-kubernetes-int-or-string": True}},
        },
    },
}
SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": PLURAL},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"scale": SCALE},
                "schema": {"openAPIV3Schema": SCHEMA},
            }
        ],
    },
}

OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": "1"}
#: What is in the metadata of an object that has a name, and whether it is taken.
METADATA: list[tuple[Any, bool]] = [
    ({"name": "a.b-c"}, True),
    ({"name": "a" * 253}, True),
    ({"name": "a" * 254}, False),
    ({"name": "A"}, False),
    ({"name": "a_b"}, False),
    ({"name": "a..b"}, False),
    ({"name": ""}, False),
    ({"name": None}, False),
    ({"name": 1}, False),
    ({}, False),
    (None, False),
    ("text", False),
    ({"name": None, "generateName": "a-"}, True),
    ({"name": None, "generateName": "a" * 253}, True),
    ({"name": None, "generateName": "a."}, False),
    ({"name": None, "generateName": "A-"}, False),
    ({"name": None, "generateName": ".-"}, False),
    ({"name": "a", "generateName": "A-"}, True),
    ({"name": "a", "generateName": "aB"}, False),
    ({"name": "a", "namespace": "default"}, True),
    ({"name": "a", "labels": {"a": "b", "example.com/a_b": "", "c": None}}, True),
    ({"name": "a", "labels": None}, True),
    ({"name": "a", "labels": {"a": 1}}, False),
    ({"name": "a", "labels": {"a": True}}, False),
    ({"name": "a", "labels": ["a"]}, False),
    ({"name": "a", "labels": {"a b": ""}}, False),
    ({"name": "a", "labels": {"Example.com/a": ""}}, False),
    ({"name": "a", "labels": {"a/b/c": ""}}, False),
    ({"name": "a", "labels": {"a": "b c"}}, False),
    ({"name": "a", "labels": {"a": "b" * 64}}, False),
    ({"name": "a", "annotations": {"Example.com/A": "any text,\nof any length"}}, True),
    ({"name": "a", "annotations": {"a b": ""}}, False),
    ({"name": "a", "annotations": {"a": {}}}, False),
    ({"name": "a", "annotations": {"a": "x" * 262_143}}, True),
    ({"name": "a", "annotations": {"a": "x" * 262_144}}, False),
    ({"name": "a", "finalizers": ["example.com/a", "orphan"]}, True),
    ({"name": "a", "finalizers": ["a b"]}, False),
    ({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}, False),
    ({"name": "a", "finalizers": "orphan"}, False),
    ({"name": "a", "ownerReferences": [OWNER, OWNER | {"controller": True, "name": "b"}]}, True),
    ({"name": "a", "ownerReferences": [OWNER | {"uid": ""}]}, False),
    ({"name": "a", "ownerReferences": [OWNER | {"apiVersion": "a/b/c"}]}, False),
    ({"name": "a", "ownerReferences": [OWNER | {"apiVersion": "v1", "kind": "Event"}]}, False),
    ({"name": "a", "ownerReferences": [OWNER | {"controller": True, "uid": uid} for uid in "12"]}, False),
    ({"name": "a", "ownerReferences": [OWNER | {"controller": "true"}]}, False),
    ({"name": "a", "creationTimestamp": None, "generation": -1, "resourceVersion": ""}, True),
    ({"name": "a", "creationTimestamp": "2026-01-02t03:04:05Z"}, False),
    ({"name": "a", "creationTimestamp": "2026-13-02T03:04:05Z"}, False),
    ({"name": "a", "generation": 1.5}, False),
    ({"name": "a", "managedFields": [{"operation": "Wish"}]}, True),
    ({"name": "a", "unknown": 1}, True),
]
#: The same of an embedded resource.
EMBEDDED: list[tuple[Any, bool]] = [
    ({}, True),
    (None, True),
    ("text", False),
    ({"name": "A_B c"}, True),
    ({"name": "."}, False),
    ({"name": "a/b"}, False),
    ({"generateName": "a%"}, False),
    ({"generateName": ".."}, True),
    ({"name": None}, True),
    ({"name": 1}, False),
    ({"namespace": "default", "unknown": {"a": 1}}, True),
    ({"namespace": "Default"}, False),
    ({"generation": -1}, False),
    ({"labels": {"a": "b c"}}, False),
    ({"labels": {"a": 1}}, False),
    ({"annotations": {"a b": ""}}, False),
    ({"finalizers": ["a b"]}, False),
    ({"ownerReferences": [OWNER | {"name": ""}]}, False),
    ({"managedFields": [{"operation": "Apply", "fieldsType": "FieldsV1", "manager": "a b"}]}, True),
]
#: Fields that scaling reads, and whether they are taken.
SCALED: list[tuple[dict[str, Any], bool]] = [
    ({"spec": {"replicas": 3}}, True),
    ({"spec": {"replicas": 2**31 - 1}}, True),
    ({"spec": {"replicas": 2**31}}, False),
    ({"spec": {"replicas": -1}}, False),
    ({"spec": {"replicas": 3.0}}, False),
    ({"spec": {"replicas": None}}, True),
    ({"spec": {}, "status": {"replicas": -1}}, False),
    ({"status": {"selector": "a=b"}}, True),
    ({"status": {"selector": 1}}, False),
]


def resource(metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "K", "metadata": metadata}


def whole(metadata: Any = ..., **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": KIND,
        "metadata": {"name": "one"} if metadata is ... else metadata,
        **fields,
    }


CASES: list[tuple[dict[str, Any], bool]] = [
    *((whole(metadata), taken) for metadata, taken in METADATA),
    *((whole(spec={"one": resource(metadata)}), taken) for metadata, taken in EMBEDDED),
    (whole(spec={"many": [resource({"name": "a"}), resource({"name": "/"})]}), False),
    (whole(spec={"named": {"a.b": resource({"name": "/"})}}), False),
    *((whole(**fields), taken) for fields, taken in SCALED),
]


def _plain(field: str) -> str:
    """The API server writes a key of a map in brackets, and the path of what is scaled with its first dot."""
    return re.sub(r"\[(\D[^\]]*)\]", r".\1", f".{field.removeprefix('.')}")


def ours(object_: dict[str, Any]) -> list[str]:
    found = evaluate(DEFINITION, object_).violations
    return sorted({"".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in one.path) for one in found})


@pytest.mark.parametrize(("written", "taken"), CASES, ids=lambda value: str(value)[-60:])
def test_an_object_is_judged_by_its_metadata(written: dict[str, Any], taken: bool) -> None:
    assert (not ours(written)) == taken


@pytest.fixture(scope="module")
def things(cluster_api: ClusterApi) -> Iterator[ClusterApi]:
    status, answer = cluster_api.post(CRDS, DEFINITION)
    assert status == 201, answer
    wait_for(lambda: cluster_api.get(PATH)[0] == 200, what="things are served")
    yield cluster_api
    cluster_api.delete(f"{CRDS}/{PLURAL}.{GROUP}")


def test_the_api_server_judges_metadata_as_we_do(things: ClusterApi) -> None:
    differ = []
    for written, taken in CASES:
        status, answer = things.post(PATH, written, DRY_RUN)
        blamed = {_plain(cause["field"]) for cause in (answer.get("details") or {}).get("causes", ())}
        # What cannot be decoded is reported without a field.
        if (status == 201) != taken or (blamed and not blamed & set(ours(written))):
            differ.append((str(written)[:200], status, answer.get("message"), ours(written)))
    assert differ == []


def test_the_api_server_drops_of_embedded_metadata_what_we_drop(things: ClusterApi) -> None:
    metadata = {"name": "a", "labels": {"a": None}, "unknown": 1, "ownerReferences": [OWNER | {"x": 1}], "uid": None}
    written = whole(spec={"one": resource(metadata), "many": [resource({"unknown": 1})]})
    status, answer = things.post(PATH, written, DRY_RUN)
    assert status == 201, answer
    assert evaluate(DEFINITION, written).object["spec"] == answer["spec"]


def test_a_stored_object_keeps_its_name_and_is_not_asked_for_one() -> None:
    old, new = whole({"name": "a_b", "finalizers": ["a b"]}), whole({"name": "a_b", "finalizers": ["a b"]}, spec={})
    assert evaluate(DEFINITION, new, old=old).violations == ()
    (violation,) = evaluate(DEFINITION, whole({"name": "b"}), old=old).violations
    assert (violation.path, violation.message) == (("metadata", "name"), "must stay a_b")


def test_what_is_wrong_with_an_embedded_resource_is_told_again_where_nothing_changed() -> None:
    stored = whole(spec={"one": resource({"name": "a/b"})})
    (violation,) = evaluate(DEFINITION, stored, old=stored).violations
    assert violation.path == ("spec", "one", "metadata", "name")


def test_unknown_metadata_is_told_to_be_pruned() -> None:
    found = evaluate(DEFINITION, whole({"name": "a", "unknown": 1}, spec={"one": resource({"unknown": 1})}))
    assert set(found.pruned) == {"metadata.unknown", "spec.one.metadata.unknown"}
    assert found.object["metadata"] == {"name": "a"}


def test_objects_of_a_cluster_lose_a_namespace_that_is_none() -> None:
    definition = DEFINITION | {"spec": DEFINITION["spec"] | {"scope": "Cluster"}}
    assert evaluate(definition, whole({"name": "a", "namespace": "No Name"})).violations == ()
    assert evaluate(DEFINITION, whole({"name": "a", "namespace": "No Name"})).violations != ()

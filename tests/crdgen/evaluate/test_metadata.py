"""Checks of metadata and of the fields of scaling, compared with a real API server."""

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
#: Metadata of an object, and whether it is valid.
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
#: Metadata of an embedded resource, and whether it is valid.
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
#: Fields that scaling reads, and whether they are valid.
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
    *((whole(metadata), valid) for metadata, valid in METADATA),
    *((whole(spec={"one": resource(metadata)}), valid) for metadata, valid in EMBEDDED),
    (whole(spec={"many": [resource({"name": "a"}), resource({"name": "/"})]}), False),
    (whole(spec={"named": {"a.b": resource({"name": "/"})}}), False),
    *((whole(**fields), valid) for fields, valid in SCALED),
]


def _normalized(field: str) -> str:
    """Normalize a path: the API server writes map keys in brackets, and the paths of scaling with a leading dot."""
    return re.sub(r"\[(\D[^\]]*)\]", r".\1", f".{field.removeprefix('.')}")


def ours(object_: dict[str, Any]) -> list[str]:
    paths = (violation.path for violation in evaluate(DEFINITION, object_).violations)
    return sorted({"".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path) for path in paths})


@pytest.mark.parametrize(("document", "valid"), CASES, ids=lambda value: str(value)[-60:])
def test_metadata_is_validated(document: dict[str, Any], valid: bool) -> None:
    assert (not ours(document)) == valid


@pytest.fixture(scope="module")
def things(cluster_api: ClusterApi) -> Iterator[ClusterApi]:
    status, answer = cluster_api.post(CRDS, DEFINITION)
    assert status == 201, answer
    wait_for(lambda: cluster_api.get(PATH)[0] == 200, what="things are served")
    yield cluster_api
    cluster_api.delete(f"{CRDS}/{PLURAL}.{GROUP}")


def test_the_api_server_has_the_same_verdicts_on_metadata(things: ClusterApi) -> None:
    differ = []
    for document, valid in CASES:
        status, answer = things.post(PATH, document, DRY_RUN)
        blamed = {_normalized(cause["field"]) for cause in (answer.get("details") or {}).get("causes", ())}
        # Decoding errors are reported without a field.
        # The API server does not name the key of a label or an annotation.
        here = {re.sub(r"(\.metadata\.(?:labels|annotations))\..*", r"\1", path) for path in ours(document)}
        if (status == 201) != valid or (blamed and not blamed & (here | set(ours(document)))):
            differ.append((str(document)[:200], status, answer.get("message"), ours(document)))
    assert differ == []


@pytest.mark.parametrize(
    ("metadata", "key", "value"),
    [
        ({"labels": {"a b": ""}}, "a b", "a b"),
        ({"labels": {"example.com/a": "b c"}}, "example.com/a", "b c"),
        ({"annotations": {"a b": ""}}, "a b", "a b"),
    ],
)
def test_labels_and_annotations_are_named_by_their_key(metadata: dict[str, Any], key: str, value: str) -> None:
    (violation,) = evaluate(DEFINITION, whole({"name": "a", **metadata})).violations
    assert (violation.path, violation.value) == (("metadata", *metadata, key), value)


def test_the_api_server_drops_the_same_embedded_metadata(things: ClusterApi) -> None:
    metadata = {"name": "a", "labels": {"a": None}, "unknown": 1, "ownerReferences": [OWNER | {"x": 1}], "uid": None}
    document = whole(spec={"one": resource(metadata), "many": [resource({"unknown": 1})]})
    status, answer = things.post(PATH, document, DRY_RUN)
    assert status == 201, answer
    assert evaluate(DEFINITION, document).object["spec"] == answer["spec"]


def test_the_name_of_a_stored_object_is_not_checked_again() -> None:
    old, new = whole({"name": "a_b", "finalizers": ["a b"]}), whole({"name": "a_b", "finalizers": ["a b"]}, spec={})
    assert evaluate(DEFINITION, new, old=old).violations == ()
    (violation,) = evaluate(DEFINITION, whole({"name": "b"}), old=old).violations
    assert (violation.path, violation.message) == (("metadata", "name"), "must stay a_b")


def test_faults_of_an_embedded_resource_are_reported_even_if_unchanged() -> None:
    stored = whole(spec={"one": resource({"name": "a/b"})})
    (violation,) = evaluate(DEFINITION, stored, old=stored).violations
    assert violation.path == ("spec", "one", "metadata", "name")


def test_unknown_metadata_is_reported_as_pruned() -> None:
    result = evaluate(DEFINITION, whole({"name": "a", "unknown": 1}, spec={"one": resource({"unknown": 1})}))
    assert set(result.pruned) == {"metadata.unknown", "spec.one.metadata.unknown"}
    assert result.object["metadata"] == {"name": "a"}


def test_the_namespace_of_cluster_scoped_objects_is_ignored() -> None:
    definition = DEFINITION | {"spec": DEFINITION["spec"] | {"scope": "Cluster"}}
    assert evaluate(definition, whole({"name": "a", "namespace": "No Name"})).violations == ()
    assert evaluate(DEFINITION, whole({"name": "a", "namespace": "No Name"})).violations != ()

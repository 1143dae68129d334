"""The volumes of a pod, judged as the API server judges them."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobgate.podchecks.volumes import FAMILY, GONE, RARE
from webhook.cause import Cause, Notice
from webhook.path import Path

Json = dict[str, Any]

TOKEN = "serviceAccountToken"
CLAIM: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def field_file(field: str, **more: Any) -> Json:
    return {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": field, **more}}]}}


def resource_file(resource: str, divisor: Any = None, container: str = "main") -> Json:
    reference = {"containerName": container, "resource": resource, "divisor": divisor}
    return {"downwardAPI": {"items": [{"path": "a", "resourceFieldRef": reference}]}}


def projected(*sources: Json) -> Json:
    return {"projected": {"sources": list(sources)}}


def key(path: str, **more: Any) -> Json:
    return {"key": "k", "path": path, **more}


def ephemeral(metadata: Json | None = None, **spec: Any) -> Json:
    template: Json = {"spec": CLAIM | spec}
    return {"ephemeral": {"volumeClaimTemplate": template if metadata is None else template | {"metadata": metadata}}}


#: Volumes that the API server accepts.
TAKEN: list[tuple[str, Json]] = [
    ("no source is an empty directory", {}),
    ("an empty directory may be bounded", {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}),
    ("an empty directory may be bounded to nothing", {"emptyDir": {"sizeLimit": 0}}),
    ("a medium that no node knows is stored", {"emptyDir": {"medium": "Tape"}}),
    ("a null source is none", {"nfs": None, "emptyDir": {}}),
    ("a path of the node", {"hostPath": {"path": "/data/..a"}}),
    ("a path of the node has a type", {"hostPath": {"path": "data", "type": "DirectoryOrCreate"}}),
    (
        "a secret with modes and items",
        {"secret": {"secretName": "A_b", "defaultMode": 0o777, "items": [key("a/b", mode=0)]}},
    ),
    ("the config map's name is not judged", {"configMap": {"name": "No Name", "items": [key("..a/b".strip("."))]}}),
    ("an NFS export", {"nfs": {"server": "s", "path": "/"}}),
    *((f"whatever {source} holds", {source: {"volumeID": 1}}) for source in (*GONE, *RARE)),
    ("a CSI driver's name may have capitals", {"csi": {"driver": "Csi.Example.com"}}),
    ("a CSI driver with a secret", {"csi": {"driver": "d", "nodePublishSecretRef": {"name": "s.t"}}}),
    ("an image", {"image": {"reference": "r:latest", "pullPolicy": "Never"}}),
    ("a claim's name is not judged", {"persistentVolumeClaim": {"claimName": "No Claim"}}),
    ("a pod's field", field_file("metadata.name")),
    ("a pod's label", field_file("metadata.labels['a.b/c']", apiVersion="")),
    ("a pod's annotation may have capitals before the slash", field_file("metadata.annotations['A.b/c']")),
    ("a container's limit", resource_file("limits.cpu", "1m")),
    ("a container that does not exist", resource_file("limits.memory", "1Mi", container="nobody")),
    ("huge pages", resource_file("limits.hugepages-2Mi", "1Mi")),
    ("a token", projected({TOKEN: {"path": "a/token", "expirationSeconds": 600, "audience": ""}})),
    ("a token for 2^32 seconds", projected({TOKEN: {"path": "t", "expirationSeconds": 2**32}})),
    ("no projected source", {"projected": {}}),
    ("an empty projected source", projected({})),
    ("a trust bundle is dropped unread", projected({"clusterTrustBundle": {"path": "/../x"}})),
    (
        "a pod certificate is dropped unread",
        projected({"podCertificate": {"keyType": "none"}, "secret": {"name": "s"}}),
    ),
    ("a claim is made", ephemeral({"labels": {"a": "b"}, "annotations": {"A/b": "c"}})),
    ("a claim's empty metadata", ephemeral({"name": "", "creationTimestamp": None, "generation": 0})),
    ("a claim for one pod", ephemeral(accessModes=["ReadWriteOncePod", "ReadWriteOncePod"])),
    ("a claim with a selector", ephemeral(selector={"matchExpressions": [{"key": "a", "operator": "Exists"}]})),
    ("a claim of no class", ephemeral(storageClassName="", volumeAttributesClassName="")),
    ("a claim's limit below its request", ephemeral(resources=CLAIM["resources"] | {"limits": {"storage": "1"}})),
]

#: Volumes that it rejects, and the faults as `path: message` begins, with the paths below the volume's.
REFUSED: list[tuple[str, Json, list[str]]] = [
    (
        "two sources",
        {"nfs": {}, "emptyDir": {}},
        [
            "nfs: Forbidden: may not be set together with emptyDir, as a volume has exactly one source: remove one of them"
        ],
    ),
    ("an empty directory of less than nothing", {"emptyDir": {"sizeLimit": "-1"}}, ["emptyDir.sizeLimit: Invalid"]),
    ("a limit that is no quantity", {"emptyDir": {"sizeLimit": "1e1.5"}}, ["emptyDir.sizeLimit: Invalid"]),
    ("a path of the node that is empty", {"hostPath": {"path": ""}}, ["hostPath.path: Required"]),
    ("a path of the node with backsteps", {"hostPath": {"path": "/a/../b"}}, ["hostPath.path: Invalid"]),
    ("a path of an unknown type", {"hostPath": {"path": "/", "type": "Dir"}}, ["hostPath.type: Unsupported"]),
    ("a secret without a name", {"secret": {}}, ["secret.secretName: Required"]),
    (
        "a mode with a sticky bit",
        {"secret": {"secretName": "s", "defaultMode": 0o1777}},
        ["secret.defaultMode: Invalid"],
    ),
    ("a negative mode", {"configMap": {"name": "c", "defaultMode": -1}}, ["configMap.defaultMode: Invalid"]),
    (
        "an item without anything",
        {"configMap": {"name": "c", "items": [{}]}},
        ["configMap.items[0].key: Required", "configMap.items[0].path: Required"],
    ),
    (
        "an item's absolute path",
        {"configMap": {"name": "c", "items": [key("/a")]}},
        ["configMap.items[0].path: Invalid"],
    ),
    ("an item's backsteps", {"secret": {"secretName": "s", "items": [key("..")]}}, ["secret.items[0].path: Invalid"]),
    (
        "an item of a reserved name",
        {"secret": {"secretName": "s", "items": [key("..a")]}},
        ["secret.items[0].path: Invalid"],
    ),
    (
        "an item's mode",
        {"secret": {"secretName": "s", "items": [key("a", mode=512)]}},
        ["secret.items[0].mode: Invalid"],
    ),
    ("an NFS export without a server", {"nfs": {"path": "a"}}, ["nfs.server: Required", "nfs.path: Invalid"]),
    ("an NFS export without a path", {"nfs": {"server": "s"}}, ["nfs.path: Required"]),
    (
        "a CSI volume without a driver",
        {"csi": {"nodePublishSecretRef": {}}},
        ["csi.driver: Required", "csi.nodePublishSecretRef.name: Required"],
    ),
    ("a CSI driver too long", {"csi": {"driver": "d" * 64}}, ["csi.driver: Too long"]),
    (
        "CSI names out of form",
        {"csi": {"driver": "a_b", "nodePublishSecretRef": {"name": "A"}}},
        ["csi.driver: Invalid", "csi.nodePublishSecretRef.name: Invalid"],
    ),
    (
        "an image without a reference",
        {"image": {"pullPolicy": "Sometimes"}},
        ["image.reference: Required", "image.pullPolicy: Unsupported"],
    ),
    ("a claim without a name", {"persistentVolumeClaim": {}}, ["persistentVolumeClaim.claimName: Required"]),
    (
        "a file that shows nothing",
        {"downwardAPI": {"defaultMode": 512, "items": [{"path": "..", "mode": -1}]}},
        [
            "downwardAPI.defaultMode: Invalid",
            "downwardAPI.items[0].path: Invalid",
            "downwardAPI.items[0].mode: Invalid",
            "downwardAPI.items[0]: Required",
        ],
    ),
    (
        "a file that shows two things",
        {"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.uid"}, "resourceFieldRef": {}}]}},
        ["downwardAPI.items[0]: Invalid"],
    ),
    (
        "a field that env could show",
        field_file("status.podIP"),
        ["downwardAPI.items[0].fieldRef.fieldPath: Unsupported"],
    ),
    ("a field of no name", field_file(""), ["downwardAPI.items[0].fieldRef.fieldPath: Required"]),
    (
        "a field of another version",
        field_file("metadata.name", apiVersion="v2"),
        ["downwardAPI.items[0].fieldRef.apiVersion: Unsupported"],
    ),
    ("an entry of no map", field_file("metadata.name['a']"), ["downwardAPI.items[0].fieldRef.fieldPath: Invalid"]),
    (
        "a label of no legal key",
        field_file("metadata.labels['A.b/c']"),
        ["downwardAPI.items[0].fieldRef.fieldPath: Invalid"],
    ),
    ("an entry half open", field_file("metadata.labels['a'"), ["downwardAPI.items[0].fieldRef.fieldPath: Unsupported"]),
    (
        "a resource of nobody",
        resource_file("limits.cpu", container=""),
        [
            "downwardAPI.items[0].resourceFieldRef.containerName: Required",
        ],
    ),
    (
        "a resource that no file shows",
        resource_file("limits.gpu"),
        ["downwardAPI.items[0].resourceFieldRef.resource: Unsupported"],
    ),
    (
        "a token without a path, too short",
        projected({TOKEN: {"expirationSeconds": 599}}),
        [f"projected.sources[0].{TOKEN}.path: Required", f"projected.sources[0].{TOKEN}.expirationSeconds: Invalid"],
    ),
    (
        "a token out of the volume, too long",
        projected({TOKEN: {"path": "../t", "expirationSeconds": 2**32 + 1}}),
        [f"projected.sources[0].{TOKEN}.path: Invalid", f"projected.sources[0].{TOKEN}.expirationSeconds: Invalid"],
    ),
    ("a projected mode", {"projected": {"defaultMode": 512}}, ["projected.defaultMode: Invalid"]),
    (
        "one projected source of two kinds",
        projected({"secret": {"name": "s"}, TOKEN: {"path": "t"}}),
        ["projected.sources[0]: Forbidden"],
    ),
    (
        "projected sources without names",
        projected({"secret": {}}, {"configMap": {"items": [key("..")]}}),
        [
            "projected.sources[0].secret.name: Required",
            "projected.sources[1].configMap.name: Required",
            "projected.sources[1].configMap.items[0].path: Invalid",
        ],
    ),
    (
        "a projected field of no name",
        projected({"downwardAPI": {"items": [{"path": "a"}]}}),
        ["projected.sources[0].downwardAPI.items[0]: Required"],
    ),
    (
        "two projected files with one path",
        projected({"configMap": {"name": "a", "items": [key("x")]}}, {"configMap": {"name": "b", "items": [key("x")]}}),
        ["projected.sources[1].configMap.items[0].path: Duplicate"],
    ),
    ("no claim's template", {"ephemeral": {}}, ["ephemeral.volumeClaimTemplate: Required"]),
]

#: Faults of the claim of an ephemeral volume, with the paths below its template.
REFUSED_CLAIMS: list[tuple[str, Json, list[str]]] = [
    (
        "an empty template",
        {"ephemeral": {"volumeClaimTemplate": {}}},
        ["spec.accessModes: Required", "spec.resources.requests[storage]: Required"],
    ),
    ("an access mode unknown", ephemeral(accessModes=["Any"]), ["spec.accessModes[0]: Unsupported"]),
    (
        "one pod and more at once",
        ephemeral(accessModes=["ReadWriteOncePod", "ReadWriteMany"]),
        ["spec.accessModes: Forbidden"],
    ),
    ("no storage", ephemeral(resources={"requests": {"storage": "0"}}), ["spec.resources.requests[storage]: Invalid"]),
    (
        "null storage",
        ephemeral(resources={"requests": {"storage": None}}),
        ["spec.resources.requests[storage]: Invalid"],
    ),
    (
        "amounts that are no quantities",
        ephemeral(resources={"requests": {"storage": "1e1.5"}, "limits": {"a": ""}}),
        ["spec.resources.requests[storage]: Invalid", "spec.resources.limits[a]: Invalid"],
    ),
    (
        "classes of bad names",
        ephemeral(storageClassName="A", volumeAttributesClassName="-"),
        ["spec.storageClassName: Invalid", "spec.volumeAttributesClassName: Invalid"],
    ),
    ("a volume mode unknown", ephemeral(volumeMode="block"), ["spec.volumeMode: Unsupported"]),
    (
        "a selector out of form",
        ephemeral(selector={"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
        ["spec.selector.matchExpressions[0].values: Required"],
    ),
]

#: Volumes that it accepts with a warning.
NOTICED: list[tuple[str, Json, list[str]]] = [
    ("no source", {}, ["has no source and will be an empty directory"]),
    ("an unknown medium", {"emptyDir": {"medium": "Tape"}}, ["emptyDir.medium: unknown medium"]),
    ("a repository", {"gitRepo": {"repository": "x"}}, ["gitRepo: no longer supported by Kubernetes"]),
    (
        "a source that is gone",
        {"cephfs": {"monitors": ["m"]}},
        ["cephfs: no longer supported by Kubernetes"],
    ),
    ("huge pages of one size", {"emptyDir": {"medium": "HugePages-2Mi"}}, []),
]

#: Faults of the whole list.
LISTS: list[tuple[str, list[Json], list[str]]] = [
    ("names are labels", [{"name": "a.b", "emptyDir": {}}], ["spec.volumes[0].name: Invalid"]),
    (
        "every volume has a name",
        [{"emptyDir": {}}, {"name": "", "emptyDir": {}}],
        ["spec.volumes[0].name: Required", "spec.volumes[1].name: Required"],
    ),
    ("names are unique", [{"name": "a"}, {"name": "b"}, {"name": "a"}], ["spec.volumes[2].name: Duplicate"]),
]


def found(volumes: Any) -> list[Cause | Notice]:
    pod = {"metadata": {"name": "p" * 200}, "spec": {"volumes": volumes}}
    return list(FAMILY.check(pod, Path()))


def causes(volumes: Any) -> list[str]:
    return [str(cause) for cause in found(volumes) if isinstance(cause, Cause)]


def begin(messages: list[str], beginnings: list[str], below: str = "") -> bool:
    """Tell whether each message begins as one of the others says, all of them in any order."""
    wanted = sorted(below + beginning for beginning in beginnings)
    return len(messages) == len(wanted) and all(map(str.startswith, sorted(messages), wanted))


@pytest.mark.parametrize(("case", "volume"), TAKEN, ids=[case for case, _ in TAKEN])
def test_takes_what_the_api_server_takes(case: str, volume: Json) -> None:
    assert causes([{"name": "v", **volume}]) == []


@pytest.mark.parametrize(("case", "volume", "expected"), REFUSED, ids=[case for case, _, _ in REFUSED])
def test_rejects_a_source(case: str, volume: Json, expected: list[str]) -> None:
    messages = causes([{"name": "volume", **volume}])
    assert begin(messages, expected, "spec.volumes[0]."), messages


@pytest.mark.parametrize(("case", "volume", "expected"), REFUSED_CLAIMS, ids=[case for case, _, _ in REFUSED_CLAIMS])
def test_rejects_a_claim_that_would_be_made(case: str, volume: Json, expected: list[str]) -> None:
    messages = causes([{"name": "v", **volume}])
    assert begin(messages, expected, "spec.volumes[0].ephemeral.volumeClaimTemplate."), messages


@pytest.mark.parametrize(("case", "volume", "expected"), NOTICED, ids=[case for case, _, _ in NOTICED])
def test_takes_with_a_word(case: str, volume: Json, expected: list[str]) -> None:
    notices = [str(notice) for notice in found([{"name": "v", **volume}])]
    assert len(notices) == len(expected)
    assert all(
        notice.removeprefix("spec.volumes[0]").lstrip(".: ").startswith(beginning)
        for notice, beginning in zip(notices, expected, strict=True)
    )


@pytest.mark.parametrize(("case", "volumes", "expected"), LISTS, ids=[case for case, _, _ in LISTS])
def test_judges_the_list(case: str, volumes: list[Json], expected: list[str]) -> None:
    messages = causes(volumes)
    assert begin(messages, expected), messages


AWKWARD: tuple[Any, ...] = (None, True, -1, 0.5, 2**70, "", "\ud800", "x", [], [None], ["x"], {}, {"x": None})


def spoiled(value: Any) -> Iterator[Any]:
    """Yield copies of a value, each with one part of it replaced by something awkward."""
    yield from AWKWARD
    if isinstance(value, dict):
        for name, part in value.items():
            yield from ({**value, name: other} for other in spoiled(part))
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in spoiled(part))


@pytest.mark.parametrize("table", [TAKEN, REFUSED, REFUSED_CLAIMS], ids=["taken", "refused", "claims"])
def test_no_shape_of_volumes_raises(table: list[tuple[Any, ...]]) -> None:
    for case in table:
        for volumes in spoiled([{"name": "v", **case[1]}]):
            assert all(isinstance(cause, Notice) for cause in found(volumes))


@pytest.mark.parametrize("pod", [*AWKWARD, *({"spec": part, "metadata": part} for part in AWKWARD)])
def test_no_shape_of_a_pod_raises(pod: Any) -> None:
    if isinstance(pod, dict):
        assert list(FAMILY.check(pod, Path())) == []

"""The volumes of a pod, judged as the API server judges them."""

from collections.abc import Iterator
from typing import Any

import pytest

from jobgate.kinds.common.pod.volumes import SOURCES, check, check_volumes
from webhook.cause import Cause, Notice
from webhook.path import Path

Json = dict[str, Any]

TOKEN = "serviceAccountToken"
CLAIM: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
IQN = "iqn.2001-04.com.example:storage.disk1"
ISCSI: Json = {"targetPortal": "10.0.0.1", "iqn": IQN}
AZURE_DISK: Json = {"diskName": "disk", "diskURI": "https://account.blob.core.windows.net/vhds/disk.vhd"}


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


#: What the API server takes.
TAKEN: list[tuple[str, Json]] = [
    ("no source is an empty directory", {}),
    ("an empty directory may be bounded", {"emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}),
    ("an empty directory may be bounded to nothing", {"emptyDir": {"sizeLimit": 0}}),
    ("a medium that no node knows is stored", {"emptyDir": {"medium": "Tape"}}),
    ("a null source is none", {"nfs": None, "emptyDir": {}}),
    ("a path of the node", {"hostPath": {"path": "/data/..a"}}),
    ("a path of the node has a type", {"hostPath": {"path": "data", "type": "DirectoryOrCreate"}}),
    ("a repository", {"gitRepo": {"repository": "x", "directory": "a/b"}}),
    (
        "a secret with modes and items",
        {"secret": {"secretName": "A_b", "defaultMode": 0o777, "items": [key("a/b", mode=0)]}},
    ),
    ("the config map's name is not judged", {"configMap": {"name": "No Name", "items": [key("..a/b".strip("."))]}}),
    ("an NFS export", {"nfs": {"server": "s", "path": "/"}}),
    ("an iSCSI disk", {"iscsi": ISCSI | {"lun": 255}}),
    ("an iSCSI disk by EUI", {"iscsi": ISCSI | {"iqn": "eui.02004567A425678D"}}),
    ("an iSCSI disk by NAA", {"iscsi": ISCSI | {"iqn": "naa.62004567BA64678D0123456789ABCDEF"}}),
    ("CHAP with a secret", {"iscsi": ISCSI | {"chapAuthSession": True, "secretRef": {}}}),
    ("a Fibre Channel disk by target", {"fc": {"targetWWNs": ["50060e801049cfd1"], "lun": 0}}),
    ("a Fibre Channel disk by identifier", {"fc": {"wwids": ["3600508b400105e210000900000490000"], "lun": 300}}),
    ("a Ceph block device", {"rbd": {"monitors": ["m"], "image": "i"}}),
    ("a Ceph file system", {"cephfs": {"monitors": ["m"]}}),
    ("a Gluster volume", {"glusterfs": {"endpoints": "e", "path": "p"}}),
    ("a Quobyte volume", {"quobyte": {"registry": "a:1,[::1]:2,:", "volume": "v", "tenant": "t" * 64}}),
    ("a Flocker data set by name", {"flocker": {"datasetName": "d"}}),
    ("a Flocker data set by UUID", {"flocker": {"datasetUUID": "u"}}),
    ("a ScaleIO volume", {"scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": {}}}),
    ("a StorageOS volume", {"storageos": {"volumeName": "v", "volumeNamespace": "n", "secretRef": {"name": "s"}}}),
    ("a GCE disk", {"gcePersistentDisk": {"pdName": "d", "partition": 255}}),
    ("an EBS volume", {"awsElasticBlockStore": {"volumeID": "v", "partition": 0}}),
    ("an Azure file share", {"azureFile": {"secretName": "s", "shareName": "s"}}),
    ("an Azure disk is a shared blob", {"azureDisk": AZURE_DISK}),
    ("a managed Azure disk", {"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x", "kind": "Managed"}}),
    ("a Cinder volume", {"cinder": {"volumeID": "v"}}),
    ("a vSphere disk", {"vsphereVolume": {"volumePath": "p"}}),
    ("a Photon disk", {"photonPersistentDisk": {"pdID": "p"}}),
    ("a Portworx volume", {"portworxVolume": {"volumeID": "v"}}),
    ("a CSI driver's name may have capitals", {"csi": {"driver": "Csi.Example.com"}}),
    ("a CSI driver with a secret", {"csi": {"driver": "d", "nodePublishSecretRef": {"name": "s.t"}}}),
    (
        "a flex driver with options",
        {"flexVolume": {"driver": "d", "options": {"a/kubernetes.io": "x", "akubernetes.io": "y"}}},
    ),
    ("an image", {"image": {"reference": "r:latest", "pullPolicy": "Never"}}),
    ("a claim's name is not judged", {"persistentVolumeClaim": {"claimName": "No Claim"}}),
    ("a pod's field", field_file("metadata.name")),
    ("a pod's label", field_file("metadata.labels['a.b/c']", apiVersion="")),
    ("a pod's annotation may have capitals before the slash", field_file("metadata.annotations['A.b/c']")),
    ("a container's limit", resource_file("limits.cpu", "1m")),
    ("a container that does not exist", resource_file("limits.memory", "1Mi", container="nobody")),
    ("a divisor of another spelling", resource_file("requests.memory", "1024Ki")),
    ("a divisor without a suffix", resource_file("requests.memory", 1000)),
    ("a divisor as a fraction", resource_file("requests.cpu", "0.001")),
    ("no divisor", resource_file("limits.ephemeral-storage", "0")),
    ("huge pages", resource_file("limits.hugepages-2Mi", "1Mi")),
    ("a token", projected({TOKEN: {"path": "a/token", "expirationSeconds": 600, "audience": ""}})),
    ("a token for 2^32 seconds", projected({TOKEN: {"path": "t", "expirationSeconds": 2**32}})),
    ("two tokens of one path", projected({TOKEN: {"path": "t"}}, {TOKEN: {"path": "t"}})),
    (
        "a token at the path of an item",
        projected({TOKEN: {"path": "t"}}, {"secret": {"name": "s", "items": [key("t")]}}),
    ),
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
    ("a claim from a claim", ephemeral(dataSource={"kind": "PersistentVolumeClaim", "name": "No Name"})),
    (
        "a claim from one thing reported twice",
        ephemeral(
            dataSource={"apiGroup": "a", "kind": "k", "name": "n"},
            dataSourceRef={"apiGroup": "a", "kind": "k", "name": "n"},
        ),
    ),
    ("a claim from elsewhere", ephemeral(dataSourceRef={"apiGroup": "a", "kind": "k", "name": "n", "namespace": "x"})),
]

#: What it refuses: the volume, and the faults as `path: message` begins, with the paths below the volume's.
REFUSED: list[tuple[str, Json, list[str]]] = [
    ("two sources", {"nfs": {}, "emptyDir": {}}, ["nfs: Forbidden: may not be set together with emptyDir"]),
    ("an empty directory of less than nothing", {"emptyDir": {"sizeLimit": "-1"}}, ["emptyDir.sizeLimit: Invalid"]),
    ("a limit that is no quantity", {"emptyDir": {"sizeLimit": "1e1.5"}}, ["emptyDir.sizeLimit: Invalid"]),
    ("a path of the node that is empty", {"hostPath": {"path": ""}}, ["hostPath.path: Required"]),
    ("a path of the node with backsteps", {"hostPath": {"path": "/a/../b"}}, ["hostPath.path: Invalid"]),
    ("a path of an unknown type", {"hostPath": {"path": "/", "type": "Dir"}}, ["hostPath.type: Unsupported"]),
    ("no repository", {"gitRepo": {"directory": "/a"}}, ["gitRepo.repository: Required", "gitRepo.directory: Invalid"]),
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
    ("an iSCSI disk without anything", {"iscsi": {}}, ["iscsi.targetPortal: Required", "iscsi.iqn: Required"]),
    ("an iSCSI name of no form", {"iscsi": ISCSI | {"iqn": "disk"}}, ["iscsi.iqn: Invalid"]),
    ("an iSCSI name without a date", {"iscsi": ISCSI | {"iqn": "iqn.com.example:a"}}, ["iscsi.iqn: Invalid"]),
    ("an iSCSI name with a space", {"iscsi": ISCSI | {"iqn": IQN + " "}}, ["iscsi.iqn: Invalid"]),
    ("an iSCSI name that ends early", {"iscsi": ISCSI | {"iqn": "iqn.2001-04.com.example:"}}, ["iscsi.iqn: Invalid"]),
    ("a short EUI", {"iscsi": ISCSI | {"iqn": "eui.02004567A425678"}}, ["iscsi.iqn: Invalid"]),
    ("a short NAA", {"iscsi": ISCSI | {"iqn": "naa.62004567BA64678D"}}, ["iscsi.iqn: Invalid"]),
    ("a LUN too high", {"iscsi": ISCSI | {"lun": 256}}, ["iscsi.lun: Invalid"]),
    ("CHAP without a secret", {"iscsi": ISCSI | {"chapAuthDiscovery": True}}, ["iscsi.secretRef: Required"]),
    ("an empty initiator", {"iscsi": ISCSI | {"initiatorName": ""}}, ["iscsi.initiatorName: Invalid"]),
    ("an initiator of no form", {"iscsi": ISCSI | {"initiatorName": "iqn.x"}}, ["iscsi.initiatorName: Invalid"]),
    (
        "a portal too long for an interface",
        {"iscsi": {"targetPortal": "p" * 62, "iqn": IQN, "initiatorName": IQN}},
        ["name: Invalid"],
    ),
    ("a Fibre Channel disk found by nothing", {"fc": {}}, ["fc.targetWWNs: Required"]),
    ("a Fibre Channel disk found twice", {"fc": {"targetWWNs": ["a"], "wwids": ["b"], "lun": 1}}, ["fc: Invalid"]),
    ("a Fibre Channel target without a LUN", {"fc": {"targetWWNs": ["a"]}}, ["fc.lun: Required"]),
    ("a Fibre Channel LUN too high", {"fc": {"targetWWNs": ["a"], "lun": 256}}, ["fc.lun: Invalid"]),
    (
        "a Ceph block device without anything",
        {"rbd": {"monitors": []}},
        ["rbd.monitors: Required", "rbd.image: Required"],
    ),
    ("a Ceph file system without monitors", {"cephfs": {"monitors": []}}, ["cephfs.monitors: Required"]),
    (
        "a Gluster volume without anything",
        {"glusterfs": {}},
        ["glusterfs.endpoints: Required", "glusterfs.path: Required"],
    ),
    (
        "a Quobyte registry without a port",
        {"quobyte": {"registry": "a:1,b", "volume": "v"}},
        ["quobyte.registry: Invalid"],
    ),
    (
        "a Quobyte registry with many colons",
        {"quobyte": {"registry": "::1", "volume": "v"}},
        ["quobyte.registry: Invalid"],
    ),
    (
        "a Quobyte tenant too long",
        {"quobyte": {"registry": "a:1", "volume": "v", "tenant": "t" * 65}},
        ["quobyte.tenant: Invalid"],
    ),
    ("a Quobyte volume without anything", {"quobyte": {}}, ["quobyte.registry: Required", "quobyte.volume: Required"]),
    ("a Flocker data set without anything", {"flocker": {}}, ["flocker: Required"]),
    (
        "a Flocker data set reported twice",
        {"flocker": {"datasetName": "a/b", "datasetUUID": "u"}},
        ["flocker: Invalid", "flocker.datasetName: Invalid"],
    ),
    (
        "a ScaleIO volume without anything",
        {"scaleIO": {}},
        ["scaleIO.gateway: Required", "scaleIO.system: Required", "scaleIO.volumeName: Required"],
    ),
    (
        "a StorageOS volume of bad names",
        {"storageos": {"volumeName": "A", "volumeNamespace": "b.c", "secretRef": {}}},
        ["storageos.volumeName: Invalid", "storageos.volumeNamespace: Invalid", "storageos.secretRef.name: Required"],
    ),
    (
        "a GCE disk of a negative partition",
        {"gcePersistentDisk": {"partition": -1}},
        ["gcePersistentDisk.pdName: Required", "gcePersistentDisk.partition: Invalid"],
    ),
    (
        "an EBS volume of a partition too high",
        {"awsElasticBlockStore": {"partition": 256}},
        ["awsElasticBlockStore.volumeID: Required", "awsElasticBlockStore.partition: Invalid"],
    ),
    (
        "an Azure share without anything",
        {"azureFile": {}},
        ["azureFile.secretName: Required", "azureFile.shareName: Required"],
    ),
    (
        "an Azure disk without anything",
        {"azureDisk": {}},
        ["azureDisk.diskName: Required", "azureDisk.diskURI: Required"],
    ),
    (
        "an Azure disk's URI",
        {"azureDisk": {"diskName": "d", "diskURI": "/subscriptions/x"}},
        ["azureDisk.diskURI: Invalid"],
    ),
    (
        "a managed Azure disk's URI",
        {"azureDisk": AZURE_DISK | {"kind": "Managed"}},
        ["azureDisk.diskURI: Invalid"],
    ),
    (
        "an Azure disk of unknown words",
        {"azureDisk": AZURE_DISK | {"kind": "managed", "cachingMode": ""}},
        ["azureDisk.cachingMode: Unsupported", "azureDisk.kind: Unsupported"],
    ),
    (
        "a Cinder volume without anything",
        {"cinder": {"secretRef": {}}},
        ["cinder.volumeID: Required", "cinder.secretRef.name: Required"],
    ),
    ("a vSphere disk without a path", {"vsphereVolume": {}}, ["vsphereVolume.volumePath: Required"]),
    ("a Photon disk without an ID", {"photonPersistentDisk": {}}, ["photonPersistentDisk.pdID: Required"]),
    ("a Portworx volume without an ID", {"portworxVolume": {}}, ["portworxVolume.volumeID: Required"]),
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
        "a flex driver of reserved options",
        {"flexVolume": {"options": {"x.Kubernetes.io/a": "1", "k8s.io": "2"}}},
        [
            "flexVolume.driver: Required",
            "flexVolume.options[x.Kubernetes.io/a]: Invalid",
            "flexVolume.options[k8s.io]: Invalid",
        ],
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
        "a divisor of cpu",
        resource_file("limits.cpu", "2"),
        ["downwardAPI.items[0].resourceFieldRef.divisor: Unsupported"],
    ),
    (
        "a divisor of memory",
        resource_file("limits.memory", "2Mi"),
        ["downwardAPI.items[0].resourceFieldRef.divisor: Unsupported"],
    ),
    (
        "a divisor with an exponent",
        resource_file("limits.memory", "1e3"),
        ["downwardAPI.items[0].resourceFieldRef.divisor: Unsupported"],
    ),
    (
        "a divisor of 1024",
        resource_file("limits.memory", "1024"),
        ["downwardAPI.items[0].resourceFieldRef.divisor: Unsupported"],
    ),
    (
        "a divisor of huge pages",
        resource_file("limits.hugepages-", "1m"),
        ["downwardAPI.items[0].resourceFieldRef.divisor: Unsupported"],
    ),
    (
        "a divisor that is no quantity",
        resource_file("limits.cpu", "one"),
        ["downwardAPI.items[0].resourceFieldRef.divisor: Invalid"],
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
        "two projected files of one path",
        projected({"secret": {"name": "s", "items": [key("a")]}}, {"configMap": {"name": "c", "items": [key("a")]}}),
        ["projected.sources[1].configMap.items[0].path: Duplicate"],
    ),
    (
        "a projected field of no name",
        projected({"downwardAPI": {"items": [{"path": "a"}]}}),
        ["projected.sources[0].downwardAPI.items[0]: Required"],
    ),
    ("no claim's template", {"ephemeral": {}}, ["ephemeral.volumeClaimTemplate: Required"]),
]

#: What it refuses of the claim that is made for an ephemeral volume, with the paths below its template.
REFUSED_CLAIMS: list[tuple[str, Json, list[str]]] = [
    (
        "nothing said",
        {"ephemeral": {"volumeClaimTemplate": {}}},
        ["spec.accessModes: Required", "spec.resources.requests[storage]: Required"],
    ),
    (
        "a name",
        ephemeral({"name": "n", "finalizers": ["a/b"]}),
        ["metadata.name: Forbidden", "metadata.finalizers: Forbidden"],
    ),
    (
        "labels and annotations out of form",
        ephemeral({"labels": {"-": "-"}, "annotations": {"a b": ""}}),
        ["metadata.labels: Invalid", "metadata.labels[-]: Invalid", "metadata.annotations: Invalid"],
    ),
    ("annotations too long", ephemeral({"annotations": {"a": "x" * 2**18}}), ["metadata.annotations: Too long"]),
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
    (
        "data from an unnamed thing",
        ephemeral(dataSource={"kind": "Pod"}),
        ["spec.dataSource.name: Required", "spec.dataSource.kind: Invalid"],
    ),
    (
        "data from a group of a bad name",
        ephemeral(dataSourceRef={"apiGroup": "A", "kind": "k", "name": "n", "namespace": "b.c"}),
        ["spec.dataSourceRef.apiGroup: Invalid", "spec.dataSourceRef.namespace: Invalid"],
    ),
    (
        "data from two things",
        ephemeral(
            dataSource={"kind": "PersistentVolumeClaim", "name": "a"},
            dataSourceRef={"kind": "PersistentVolumeClaim", "name": "b"},
        ),
        ["spec.dataSource: Invalid"],
    ),
    (
        "data from here and elsewhere",
        ephemeral(
            dataSource={"kind": "PersistentVolumeClaim", "name": "a"},
            dataSourceRef={"kind": "PersistentVolumeClaim", "name": "a", "namespace": "b"},
        ),
        ["spec.dataSource: Forbidden"],
    ),
]

#: What is taken with a word.
NOTICED: list[tuple[str, Json, list[str]]] = [
    ("no source", {}, ["has no source and will be an empty directory"]),
    ("an unknown medium", {"emptyDir": {"medium": "Tape"}}, ["emptyDir.medium: unknown medium"]),
    ("a repository", {"gitRepo": {"repository": "x"}}, ["gitRepo: not supported since Kubernetes 1.33"]),
    (
        "a source that is gone",
        {"cephfs": {"monitors": ["m"]}},
        ["cephfs: not supported since Kubernetes 1.31"],
    ),
    (
        "a trust bundle",
        projected({"clusterTrustBundle": {"path": "p"}}),
        ["projected.sources[0].clusterTrustBundle: ignored unless"],
    ),
    ("huge pages of one size", {"emptyDir": {"medium": "HugePages-2Mi"}}, []),
]

#: What it says of the whole list.
LISTS: list[tuple[str, list[Json], list[str]]] = [
    ("names are labels", [{"name": "a.b", "emptyDir": {}}], ["spec.volumes[0].name: Invalid"]),
    (
        "every volume has a name",
        [{"emptyDir": {}}, {"name": "", "emptyDir": {}}],
        ["spec.volumes[0].name: Required", "spec.volumes[1].name: Required"],
    ),
    ("names are unique", [{"name": "a"}, {"name": "b"}, {"name": "a"}], ["spec.volumes[2].name: Duplicate"]),
    (
        "a claim that is made has a legal name",
        [{"name": "v" * 63, **ephemeral()}],
        ["spec.volumes[0].name: Invalid"],
    ),
    (
        "a claim that is made is of one volume",
        [{"name": "a", **ephemeral()}, {"name": "b", "persistentVolumeClaim": {"claimName": "p" * 200 + "-a"}}],
        ["spec.volumes[1].persistentVolumeClaim.claimName: Invalid"],
    ),
]


def found(volumes: Any) -> list[Cause | Notice]:
    pod = {"metadata": {"name": "p" * 200}, "spec": {"volumes": volumes}}
    return list(check(pod, Path()))


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
def test_refuses_a_source(case: str, volume: Json, expected: list[str]) -> None:
    messages = causes([{"name": "volume", **volume}])
    assert begin(messages, expected, "spec.volumes[0]."), messages


@pytest.mark.parametrize(("case", "volume", "expected"), REFUSED_CLAIMS, ids=[case for case, _, _ in REFUSED_CLAIMS])
def test_refuses_a_claim_that_would_be_made(case: str, volume: Json, expected: list[str]) -> None:
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


def test_every_source_is_tried() -> None:
    tried = {name for _, volume in TAKEN for name in volume}
    refused = {name for _, volume, _ in REFUSED for name in volume}
    assert set(SOURCES) <= tried
    assert set(SOURCES) <= refused


def test_judges_a_list_that_stands_elsewhere() -> None:
    messages = [str(cause) for cause in check_volumes([{"name": "a", "nfs": {}}], Path("spec") / "volumes")]
    assert begin(messages, ["spec.volumes[0].nfs.server: Required", "spec.volumes[0].nfs.path: Required"])


def test_a_long_iscsi_name_is_judged_in_linear_time() -> None:
    name = "iqn.2001-04.a" * 100_000
    assert begin(causes([{"name": "v", "iscsi": ISCSI | {"iqn": name}}]), ["spec.volumes[0].iscsi.iqn: Invalid"])


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
        assert list(check(pod, Path())) == []

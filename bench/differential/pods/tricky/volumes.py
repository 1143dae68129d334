"""Volumes, projections, mounts and devices."""

from typing import Any

from bench.differential.pods.tricky.builder import Table, box, pod, with_volume


def _projected(*sources: Any, **spec: Any) -> dict[str, Any]:
    return with_volume({"projected": {"sources": list(sources)}}, **spec)


def _claim(metadata: Any = None, **claim: Any) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **claim}
    template = {"spec": {name: value for name, value in spec.items() if value is not ...}}
    return with_volume(
        {"ephemeral": {"volumeClaimTemplate": template if metadata is None else {"metadata": metadata, **template}}}
    )


def _certificate(**fields: Any) -> dict[str, Any]:
    source = {"signerName": "example.com/signer", "keyType": "ED25519", "credentialBundlePath": "bundle.pem", **fields}
    return _projected(
        {"podCertificate": {name: value for name, value in source.items() if value is not ...}},
        serviceAccountName="trainer",
    )


_TOKEN = {"serviceAccountToken": {"path": "token"}}
_SNAPSHOT = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}

VOLUMES: Table = [
    ("no source", with_volume({})),
    ("a source that is null", with_volume({"emptyDir": None})),
    ("two sources", with_volume({"emptyDir": {}, "hostPath": {"path": "/a"}})),
    ("two sources, the second broken", with_volume({"emptyDir": {}, "nfs": {}})),
    ("two sources, the first broken", with_volume({"hostPath": {}, "configMap": {}})),
    ("one name twice", pod(volumes=[{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}])),
    ("no name", pod(volumes=[{"emptyDir": {}}])),
    ("a name with a dot", pod(volumes=[{"name": "a.b", "emptyDir": {}}])),
    ("a name of 64 characters", pod(volumes=[{"name": "a" * 64, "emptyDir": {}}])),
    ("volumes null", pod(volumes=None)),
    ("a volume that is an empty object", pod(volumes=[{}])),
    ("an emptyDir of a negative size", with_volume({"emptyDir": {"sizeLimit": "-1"}})),
    ("an emptyDir of size zero", with_volume({"emptyDir": {"sizeLimit": 0}})),
    ("an emptyDir of a fraction of a byte", with_volume({"emptyDir": {"sizeLimit": "1m"}})),
    ("an emptyDir of a broken size", with_volume({"emptyDir": {"sizeLimit": "1e1.5"}})),
    ("an emptyDir of an unknown medium", with_volume({"emptyDir": {"medium": "Disk"}})),
    ("an emptyDir of huge pages", with_volume({"emptyDir": {"medium": "HugePages"}})),
    ("an emptyDir of huge pages of a broken size", with_volume({"emptyDir": {"medium": "HugePages-x"}})),
    ("a host path above", with_volume({"hostPath": {"path": "/a/../b"}})),
    ("a relative host path", with_volume({"hostPath": {"path": "a"}})),
    ("a host path with two dots in a name", with_volume({"hostPath": {"path": "/a..b"}})),
    ("no host path", with_volume({"hostPath": {}})),
    ("an empty type of a host path", with_volume({"hostPath": {"path": "/a", "type": ""}})),
    ("an unknown type of a host path", with_volume({"hostPath": {"path": "/a", "type": "Dir"}})),
    ("a secret without a name", with_volume({"secret": {}})),
    ("a secret in capitals", with_volume({"secret": {"secretName": "A B"}})),
    ("a secret with mode 0777", with_volume({"secret": {"secretName": "a", "defaultMode": 511}})),
    ("a secret with mode 01000", with_volume({"secret": {"secretName": "a", "defaultMode": 512}})),
    ("a secret with a negative mode", with_volume({"secret": {"secretName": "a", "defaultMode": -1}})),
    ("a secret item without a path", with_volume({"secret": {"secretName": "a", "items": [{"key": "a"}]}})),
    ("a secret item without a key", with_volume({"secret": {"secretName": "a", "items": [{"path": "a"}]}})),
    (
        "a secret item with an absolute path",
        with_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "/a"}]}}),
    ),
    (
        "a secret item with a path above",
        with_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "a/../b"}]}}),
    ),
    (
        "a secret item with a path that begins with two dots",
        with_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "..a"}]}}),
    ),
    (
        "a secret item with two dots within",
        with_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "b/..a"}]}}),
    ),
    (
        "a secret item with a bad key",
        with_volume({"secret": {"secretName": "a", "items": [{"key": "a b", "path": "a"}]}}),
    ),
    (
        "two secret items of one path",
        with_volume({"secret": {"secretName": "a", "items": [{"key": "a", "path": "p"}, {"key": "b", "path": "p"}]}}),
    ),
    ("a config map without a name", with_volume({"configMap": {}})),
    (
        "a config map item of a bad mode",
        with_volume({"configMap": {"name": "a", "items": [{"key": "a", "path": "a", "mode": 512}]}}),
    ),
    ("a claim without a name", with_volume({"persistentVolumeClaim": {}})),
    ("a claim in capitals", with_volume({"persistentVolumeClaim": {"claimName": "A"}})),
    ("a git repository without an address", with_volume({"gitRepo": {}})),
    ("a git directory above", with_volume({"gitRepo": {"repository": "a", "directory": "../a"}})),
    ("a git directory that is absolute", with_volume({"gitRepo": {"repository": "a", "directory": "/a"}})),
    ("a git directory of a dot", with_volume({"gitRepo": {"repository": "a", "directory": "."}})),
    ("an NFS path that is relative", with_volume({"nfs": {"server": "a", "path": "a"}})),
    ("an NFS without a server", with_volume({"nfs": {"path": "/a"}})),
    ("an image", with_volume({"image": {"reference": "a"}})),
    ("an image without a reference", with_volume({"image": {}})),
    ("an image with a blank before", with_volume({"image": {"reference": " a"}})),
    ("an image with an unknown pull policy", with_volume({"image": {"reference": "a", "pullPolicy": "Often"}})),
    ("a CSI driver without a name", with_volume({"csi": {}})),
    ("a CSI driver of 64 characters", with_volume({"csi": {"driver": "a" * 64}})),
    ("a CSI driver in capitals", with_volume({"csi": {"driver": "Csi.Example.com"}})),
    ("a CSI driver with an underscore", with_volume({"csi": {"driver": "a_b"}})),
    ("a CSI secret without a name", with_volume({"csi": {"driver": "a", "nodePublishSecretRef": {}}})),
    ("a flex driver of two slashes", with_volume({"flexVolume": {"driver": "a/b/c"}})),
    ("a flex option of Kubernetes", with_volume({"flexVolume": {"driver": "a", "options": {"kubernetes.io/a": "b"}}})),
    ("a flex option below Kubernetes", with_volume({"flexVolume": {"driver": "a", "options": {"a.k8s.io/b": "c"}}})),
    (
        "an iSCSI initiator with a long portal",
        with_volume(
            {
                "iscsi": {
                    "targetPortal": "x" * 60,
                    "iqn": "iqn.2001-04.com.example:a",
                    "lun": 0,
                    "initiatorName": "iqn.2001-04.com.example:b",
                }
            }
        ),
    ),
    (
        "an iSCSI with authentication and no secret",
        with_volume(
            {"iscsi": {"targetPortal": "a", "iqn": "iqn.2001-04.com.example:a", "lun": 0, "chapAuthSession": True}}
        ),
    ),
    ("a fibre channel with both addresses", with_volume({"fc": {"targetWWNs": ["a"], "wwids": ["b"], "lun": 0}})),
    ("a fibre channel without a lun", with_volume({"fc": {"targetWWNs": ["a"]}})),
    ("a fibre channel without an address", with_volume({"fc": {"lun": 0}})),
    ("a flocker with name and UUID", with_volume({"flocker": {"datasetName": "a", "datasetUUID": "b"}})),
    ("a flocker with neither", with_volume({"flocker": {}})),
    ("a flocker with a slash", with_volume({"flocker": {"datasetName": "a/b"}})),
    (
        "a managed disk with the address of a blob",
        with_volume(
            {"azureDisk": {"diskName": "a", "diskURI": "https://a.blob.core.windows.net/b.vhd", "kind": "Managed"}}
        ),
    ),
    (
        "a shared disk with the address of a blob",
        with_volume({"azureDisk": {"diskName": "a", "diskURI": "https://a.blob.core.windows.net/b.vhd"}}),
    ),
    ("a storage OS secret without a name", with_volume({"storageos": {"volumeName": "a", "secretRef": {}}})),
    ("a storage OS namespace without a volume", with_volume({"storageos": {"volumeNamespace": "a"}})),
    (
        "a downward file of a label",
        with_volume({"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.labels['a']"}}]}}),
    ),
    (
        "a downward file of the node's name",
        with_volume({"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "spec.nodeName"}}]}}),
    ),
    (
        "a downward file of the pod's address",
        with_volume({"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "status.podIP"}}]}}),
    ),
    ("a downward file of nothing", with_volume({"downwardAPI": {"items": [{"path": "a"}]}})),
    (
        "a downward file of both",
        with_volume(
            {
                "downwardAPI": {
                    "items": [
                        {
                            "path": "a",
                            "fieldRef": {"fieldPath": "metadata.name"},
                            "resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"},
                        }
                    ]
                }
            }
        ),
    ),
    (
        "a downward file without a container's name",
        with_volume({"downwardAPI": {"items": [{"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}}]}}),
    ),
    (
        "a downward file of an unknown container",
        with_volume(
            {
                "downwardAPI": {
                    "items": [{"path": "a", "resourceFieldRef": {"containerName": "x", "resource": "limits.cpu"}}]
                }
            }
        ),
    ),
    (
        "a downward file above",
        with_volume({"downwardAPI": {"items": [{"path": "..", "fieldRef": {"fieldPath": "metadata.name"}}]}}),
    ),
    (
        "two downward files of one path",
        with_volume({"downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "metadata.name"}}] * 2}}),
    ),
    ("a projection without sources", _projected()),
    ("a projection of an empty source", _projected({})),
    ("a projection of two in one source", _projected({"secret": {"name": "a"}, "configMap": {"name": "a"}})),
    (
        "a projection of one path twice",
        _projected(
            {"secret": {"name": "a", "items": [{"key": "a", "path": "p"}]}},
            {"configMap": {"name": "a", "items": [{"key": "a", "path": "p"}]}},
        ),
    ),
    (
        "a projection of a downward file with the path of another",
        _projected(
            {"secret": {"name": "a", "items": [{"key": "a", "path": "p"}]}},
            {"downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        ),
    ),
    (
        "a projection of a token with the path of another",
        _projected({"secret": {"name": "a", "items": [{"key": "a", "path": "token"}]}}, _TOKEN, serviceAccountName="a"),
    ),
    (
        "a projection of a bundle with the path of another",
        _projected(
            {"secret": {"name": "a", "items": [{"key": "a", "path": "p"}]}},
            {"clusterTrustBundle": {"name": "a", "path": "p"}},
        ),
    ),
    ("a projection of a secret without a name", _projected({"secret": {}})),
    ("a projection with a broken mode", with_volume({"projected": {"defaultMode": 512, "sources": []}})),
    ("a token without a service account", _projected(_TOKEN)),
    ("a token with a service account", _projected(_TOKEN, serviceAccountName="a")),
    ("a token with the old field of the service account", _projected(_TOKEN, serviceAccount="a")),
    (
        "a token of 599 seconds",
        _projected({"serviceAccountToken": {"path": "t", "expirationSeconds": 599}}, serviceAccountName="a"),
    ),
    (
        "a token of 2^32 seconds",
        _projected({"serviceAccountToken": {"path": "t", "expirationSeconds": 2**32}}, serviceAccountName="a"),
    ),
    (
        "a token of 2^32 + 1 seconds",
        _projected({"serviceAccountToken": {"path": "t", "expirationSeconds": 2**32 + 1}}, serviceAccountName="a"),
    ),
    ("a token without a path", _projected({"serviceAccountToken": {}}, serviceAccountName="a")),
    ("a token with an absolute path", _projected({"serviceAccountToken": {"path": "/t"}}, serviceAccountName="a")),
    (
        "a trust bundle by name and signer",
        _projected({"clusterTrustBundle": {"name": "a", "signerName": "a.b/c", "path": "p"}}),
    ),
    ("a trust bundle by neither", _projected({"clusterTrustBundle": {"path": "p"}})),
    (
        "a trust bundle by name with a selector",
        _projected({"clusterTrustBundle": {"name": "a", "labelSelector": {}, "path": "p"}}),
    ),
    ("a trust bundle named for a signer", _projected({"clusterTrustBundle": {"name": "a.b:c:d", "path": "p"}})),
    ("a trust bundle without a path", _projected({"clusterTrustBundle": {"name": "a"}})),
    ("a trust bundle with a broken signer", _projected({"clusterTrustBundle": {"signerName": "a", "path": "p"}})),
    ("a pod certificate", _certificate()),
    ("a pod certificate of an unknown key", _certificate(keyType="DSA")),
    ("a pod certificate without a path", _certificate(credentialBundlePath=...)),
    (
        "a pod certificate of key and chain",
        _certificate(credentialBundlePath=..., keyPath="key.pem", certificateChainPath="chain.pem"),
    ),
    (
        "a pod certificate of key and chain at one path",
        _certificate(credentialBundlePath=..., keyPath="a", certificateChainPath="a"),
    ),
    ("a pod certificate of a bundle and a key", _certificate(keyPath="key.pem")),
    ("a pod certificate of a broken signer", _certificate(signerName="signer")),
    (
        "a pod certificate of Kubernetes' signer for 90 days",
        _certificate(signerName="kubernetes.io/a", maxExpirationSeconds=7776000),
    ),
    (
        "a pod certificate of Kubernetes' signer for a day",
        _certificate(signerName="kubernetes.io/a", maxExpirationSeconds=86400),
    ),
    ("a pod certificate for 59 minutes", _certificate(maxExpirationSeconds=3540)),
    ("a pod certificate for 92 days", _certificate(maxExpirationSeconds=7948800)),
    ("a pod certificate with notes", _certificate(userAnnotations={"example.com/a": "b"})),
    ("a pod certificate with a note without a domain", _certificate(userAnnotations={"a": "b"})),
    ("an own claim", _claim()),
    ("an own claim without access modes", _claim(accessModes=...)),
    ("an own claim without a size", _claim(resources=...)),
    ("an own claim of size zero", _claim(resources={"requests": {"storage": "0"}})),
    ("an own claim of half a byte", _claim(resources={"requests": {"storage": "500m"}})),
    (
        "an own claim of more than its limit",
        _claim(resources={"requests": {"storage": "2Gi"}, "limits": {"storage": "1Gi"}}),
    ),
    ("an own claim with a cpu", _claim(resources={"requests": {"storage": "2Gi", "cpu": "1"}})),
    ("an own claim of one pod and of many", _claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"])),
    ("an own claim of one pod", _claim(accessModes=["ReadWriteOncePod"])),
    ("an own claim of an unknown mode", _claim(volumeMode="Tape")),
    ("an own claim from a snapshot", _claim(dataSource=_SNAPSHOT)),
    ("an own claim from two different sources", _claim(dataSource=_SNAPSHOT, dataSourceRef={**_SNAPSHOT, "name": "b"})),
    (
        "an own claim from a source of the core group that is no claim",
        _claim(dataSource={"kind": "Secret", "name": "a"}),
    ),
    ("an own claim from a source of another namespace", _claim(dataSourceRef={**_SNAPSHOT, "namespace": "b"})),
    ("an own claim with a storage class in capitals", _claim(storageClassName="Fast")),
    ("an own claim with an empty storage class", _claim(storageClassName="")),
    ("an own claim with an attributes class", _claim(volumeAttributesClassName="gold")),
    ("an own claim with an empty attributes class", _claim(volumeAttributesClassName="")),
    ("an own claim with a broken selector", _claim(selector={"matchExpressions": [{"key": "a", "operator": "In"}]})),
    ("an own claim with a name", _claim({"name": "a"})),
    ("an own claim with a finalizer", _claim({"finalizers": ["a.b/c"]})),
    ("an own claim with labels", _claim({"labels": {"a": "b"}})),
    ("an own claim with broken labels", _claim({"labels": {"a b": "b"}})),
    (
        "an own claim with the old annotation of the class",
        _claim({"annotations": {"volume.beta.kubernetes.io/storage-class": "A"}}),
    ),
    ("an own claim without a template", with_volume({"ephemeral": {}})),
    ("an own claim with an empty template", with_volume({"ephemeral": {"volumeClaimTemplate": {}}})),
]


def _mounts(*mounts: Any, privileged: bool = False, **fields: Any) -> dict[str, Any]:
    volumes = [
        {"name": "data", "emptyDir": {}},
        {"name": "more", "emptyDir": {}},
        {"name": "block", "persistentVolumeClaim": {"claimName": "a"}},
        {"name": "disk", "persistentVolumeClaim": {"claimName": "b"}},
    ]
    security = {"securityContext": {"privileged": True}} if privileged else {}
    return pod({"volumeMounts": list(mounts), **security, **fields}, volumes=volumes)


_DATA = {"name": "data", "mountPath": "/data"}

MOUNTS: Table = [
    ("an unknown volume", _mounts({"name": "none", "mountPath": "/a"})),
    ("no volume", _mounts({"mountPath": "/a"})),
    ("no path", _mounts({"name": "data"})),
    ("a relative path", _mounts({"name": "data", "mountPath": "a"})),
    ("a path with a colon", _mounts({"name": "data", "mountPath": "/a:b"})),
    ("a path above", _mounts({"name": "data", "mountPath": "/a/../b"})),
    ("the root", _mounts({"name": "data", "mountPath": "/"})),
    ("one path twice", _mounts(_DATA, {"name": "more", "mountPath": "/data"})),
    ("one path twice, once with a slash at the end", _mounts(_DATA, {"name": "more", "mountPath": "/data/"})),
    ("one volume at two paths", _mounts(_DATA, {"name": "data", "mountPath": "/b"})),
    ("two mounts without a path", _mounts({"name": "data"}, {"name": "more"})),
    ("a subpath above", _mounts({**_DATA, "subPath": "../a"})),
    ("a subpath that is absolute", _mounts({**_DATA, "subPath": "/a"})),
    ("a subpath with two dots in a name", _mounts({**_DATA, "subPath": "a..b"})),
    ("a subpath with two dots at its end", _mounts({**_DATA, "subPath": "a/.."})),
    ("a subpath with backslashes above", _mounts({**_DATA, "subPath": "a\\..\\b"})),
    ("an empty subpath", _mounts({**_DATA, "subPath": ""})),
    ("a subpath and its expression", _mounts({**_DATA, "subPath": "a", "subPathExpr": "b"})),
    ("an expression above", _mounts({**_DATA, "subPathExpr": "$(A)/../b"})),
    ("an absolute expression", _mounts({**_DATA, "subPathExpr": "/$(A)"})),
    ("an unknown propagation", _mounts({**_DATA, "mountPropagation": "Both"})),
    ("an empty propagation", _mounts({**_DATA, "mountPropagation": ""})),
    ("both ways without privileges", _mounts({**_DATA, "mountPropagation": "Bidirectional"})),
    ("both ways with privileges", _mounts({**_DATA, "mountPropagation": "Bidirectional"}, privileged=True)),
    ("to the container", _mounts({**_DATA, "mountPropagation": "HostToContainer"})),
    ("recursively read-only, and writable", _mounts({**_DATA, "recursiveReadOnly": "Enabled"})),
    ("recursively read-only", _mounts({**_DATA, "recursiveReadOnly": "Enabled", "readOnly": True})),
    (
        "recursively read-only and propagating",
        _mounts({**_DATA, "recursiveReadOnly": "IfPossible", "readOnly": True, "mountPropagation": "HostToContainer"}),
    ),
    (
        "recursively read-only and propagation None",
        _mounts({**_DATA, "recursiveReadOnly": "IfPossible", "readOnly": True, "mountPropagation": "None"}),
    ),
    ("recursively read-only disabled, and writable", _mounts({**_DATA, "recursiveReadOnly": "Disabled"})),
    ("recursively read-only of an unknown sort", _mounts({**_DATA, "recursiveReadOnly": "Yes"})),
    ("an empty recursively read-only", _mounts({**_DATA, "recursiveReadOnly": "", "readOnly": True})),
    ("a device", _mounts(volumeDevices=[{"name": "block", "devicePath": "/dev/a"}])),
    ("a device of an emptyDir", _mounts(volumeDevices=[{"name": "data", "devicePath": "/dev/a"}])),
    ("a device of no volume", _mounts(volumeDevices=[{"name": "none", "devicePath": "/dev/a"}])),
    ("a device without a path", _mounts(volumeDevices=[{"name": "block"}])),
    ("a device without a name", _mounts(volumeDevices=[{"devicePath": "/dev/a"}])),
    ("a device above", _mounts(volumeDevices=[{"name": "block", "devicePath": "/dev/../a"}])),
    (
        "a device that is mounted too",
        _mounts({"name": "block", "mountPath": "/a"}, volumeDevices=[{"name": "block", "devicePath": "/dev/a"}]),
    ),
    ("a device at the path of a mount", _mounts(_DATA, volumeDevices=[{"name": "block", "devicePath": "/data"}])),
    (
        "one device twice",
        _mounts(volumeDevices=[{"name": "block", "devicePath": "/a"}, {"name": "block", "devicePath": "/b"}]),
    ),
    (
        "two devices at one path",
        _mounts(volumeDevices=[{"name": "block", "devicePath": "/a"}, {"name": "disk", "devicePath": "/a"}]),
    ),
    (
        "a device in a pod with users of its own",
        pod(
            {"volumeDevices": [{"name": "block", "devicePath": "/a"}]},
            hostUsers=False,
            volumes=[{"name": "block", "persistentVolumeClaim": {"claimName": "a"}}],
        ),
    ),
    (
        "an unknown volume in an init container",
        pod(initContainers=[box(volumeMounts=[{"name": "none", "mountPath": "/a"}])]),
    ),
    (
        "a mount of a volume that is broken",
        pod({"volumeMounts": [{"name": "data", "mountPath": "/a"}]}, volumes=[{"name": "data"}]),
    ),
    (
        "a mount of a volume with a broken name",
        pod({"volumeMounts": [{"name": "A", "mountPath": "/a"}]}, volumes=[{"name": "A", "emptyDir": {}}]),
    ),
    (
        "a mount of the second of two volumes of one name",
        pod({"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, volumes=[{"name": "a", "emptyDir": {}}] * 2),
    ),
]

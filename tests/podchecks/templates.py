"""Templates as people write them, each sound and plain; together they have every key that has a plain shape."""

from typing import Any

Json = dict[str, Any]


def _template(container: Json | None = None, metadata: Json | None = None, **spec: Any) -> Json:
    main = {"name": "main", "image": "registry.example.com/train:v1", **(container or {})}
    return {"metadata": metadata or {}, "spec": {"containers": [main], **spec}}


def _volume(**source: Any) -> Json:
    return _template({"volumeMounts": [{"name": "v", "mountPath": "/v"}]}, volumes=[{"name": "v", **source}])


def _affinity(**terms: Any) -> Json:
    return _template(affinity=terms)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_EXPRESSION = {"key": "example.com/pool", "operator": "In", "values": ["a100", "h100"]}
_POD_TERM = {
    "topologyKey": "kubernetes.io/hostname",
    "labelSelector": {"matchLabels": {"app": "train"}, "matchExpressions": [{"key": "role", "operator": "Exists"}]},
}

PLAIN: dict[str, Json] = {
    "a container with an image": _template(),
    "no metadata": {"spec": {"containers": [{"name": "main", "image": "image"}]}},
    "metadata as a controller writes it": _template(
        metadata={
            "creationTimestamp": None,
            "name": "train",
            "namespace": "vision",
            "labels": {"app": "train", "example.com/team": "vision", "empty": ""},
            "annotations": {"sidecar.istio.io/inject": "false", "note": "Größe: \n"},
        }
    ),
    "a command": _template(
        {
            "imagePullPolicy": "IfNotPresent",
            "command": ["/bin/bash", "-c"],
            "args": ["train\n"],
            "workingDir": "/app",
            "stdin": True,
            "stdinOnce": False,
            "tty": True,
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        }
    ),
    "an environment": _template(
        {
            "env": [
                {"name": "NCCL_DEBUG", "value": "INFO"},
                {"name": "EMPTY"},
                {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}},
                {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "containerName": "main"}}},
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token", "optional": True}}},
                {"name": "LR", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "lr.txt"}}},
            ],
            "envFrom": [
                {"prefix": "A_", "configMapRef": {"name": "c", "optional": False}},
                {"secretRef": {"name": "s"}},
            ],
        }
    ),
    "ports": _template(
        {
            "ports": [
                {"containerPort": 22222, "name": "port", "protocol": "TCP", "hostIP": ""},
                {"containerPort": 9090, "name": "metrics-1"},
                {"containerPort": 65535},
            ]
        }
    ),
    "resources": _template(
        {
            "resources": {
                "requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": 8, "ephemeral-storage": 1},
                "limits": {"cpu": 2, "memory": "1Gi", "nvidia.com/gpu": 8, "example.com/rdma": "1"},
            }
        }
    ),
    "no resources": _template({"resources": {}}),
    "mounts": _template(
        {
            "volumeMounts": [
                {"name": "data", "mountPath": "/data", "readOnly": True, "mountPropagation": "None"},
                {"name": "data", "mountPath": "/more", "subPath": "a/b"},
                {"name": "shm", "mountPath": "/dev/shm"},
            ]
        },
        volumes=[
            {"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        ],
    ),
    "an empty directory": _volume(emptyDir={}),
    "a directory of the host": _volume(hostPath={"path": "/data", "type": "Directory"}),
    "a network share": _volume(nfs={"server": "nfs.example.com", "path": "/exports", "readOnly": False}),
    "a ConfigMap": _volume(
        configMap={"name": "c", "defaultMode": 420, "items": [{"key": "k", "path": "p", "mode": 256}]}
    ),
    "a Secret": _volume(secret={"secretName": "s", "optional": True}),
    "probes": _template(
        {
            "livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 10, "terminationGracePeriodSeconds": 5},
            "readinessProbe": {
                "httpGet": {"path": "/", "port": 80, "scheme": "HTTP", "host": ""},
                "successThreshold": 2,
            },
            "startupProbe": {
                "tcpSocket": {"port": "metrics", "host": ""},
                "initialDelaySeconds": 1,
                "timeoutSeconds": 1,
                "failureThreshold": 30,
                "successThreshold": 1,
            },
        }
    ),
    "hooks": _template(
        {"lifecycle": {"preStop": {"exec": {"command": ["stop"]}}, "postStart": {"httpGet": {"port": "http"}}}}
    ),
    "security contexts": _template(
        {
            "securityContext": {
                "runAsUser": 1000,
                "runAsNonRoot": True,
                "privileged": False,
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
                "seccompProfile": {"type": "RuntimeDefault"},
                "seLinuxOptions": {"level": "s0"},
            }
        },
        securityContext={
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "runAsNonRoot": True,
            "fsGroup": 1000,
            "fsGroupChangePolicy": "OnRootMismatch",
            "supplementalGroups": [1, 2],
            "seccompProfile": {"type": "RuntimeDefault"},
            "seLinuxOptions": {},
        },
    ),
    "a privileged container": _template(
        {"securityContext": {"privileged": True, "capabilities": {"add": ["IPC_LOCK"]}}}
    ),
    "an init container": _template(
        {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
        volumes=[{"name": "v", "emptyDir": {}}],
        initContainers=[
            {"name": "fetch", "image": "busybox:1.36", "volumeMounts": [{"name": "v", "mountPath": "/v"}]},
            {"name": "check", "image": "busybox:1.36", "env": [{"name": "A", "value": "1"}]},
        ],
    ),
    "several containers": {
        "spec": {"containers": [{"name": name, "image": "image", "ports": [{"containerPort": 80}]} for name in "abc"]}
    },
    "a place on nodes": _template(
        nodeSelector={"kubernetes.io/os": "linux", "pool": "a100"},
        tolerations=[
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "spot", "value": "true"},
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 9,
            },
        ],
        topologySpreadConstraints=[
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}},
            {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
        ],
    ),
    "affinity to nodes": _affinity(
        nodeAffinity={
            _REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [_EXPRESSION]}]},
            _PREFERRED: [
                {"weight": 100, "preference": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}}
            ],
        }
    ),
    "affinity to pods": _affinity(
        podAffinity={_REQUIRED: [_POD_TERM]},
        podAntiAffinity={_PREFERRED: [{"weight": 1, "podAffinityTerm": _POD_TERM}]},
    ),
    "who runs it, and how": _template(
        restartPolicy="Never",
        serviceAccountName="trainer",
        serviceAccount="trainer",
        automountServiceAccountToken=False,
        priorityClassName="high",
        runtimeClassName="nvidia",
        activeDeadlineSeconds=3600,
        schedulerName="volcano",
        terminationGracePeriodSeconds=30,
        imagePullSecrets=[{"name": "pull"}],
        enableServiceLinks=False,
        setHostnameAsFQDN=False,
        hostname="node",
        subdomain="train",
        dnsPolicy="ClusterFirstWithHostNet",
        hostNetwork=True,
        hostPID=True,
        hostIPC=True,
    ),
}

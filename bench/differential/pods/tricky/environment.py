"""Environment variables and ports."""

from typing import Any

from bench.differential.pods.tricky.builder import Table, box, pod

_FILES = [{"name": "files", "emptyDir": {}}]


def _env(*variables: Any, **spec: Any) -> dict[str, Any]:
    return pod({"env": list(variables)}, **spec)


def _field(path: str, **more: Any) -> dict[str, Any]:
    return _env({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path, **more}}})


def _resource(resource: str, **more: Any) -> dict[str, Any]:
    return _env({"name": "A", "valueFrom": {"resourceFieldRef": {"resource": resource, **more}}})


def _file(volumes: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    reference = {"volumeName": "files", "path": "a", "key": "K", **more}
    return _env({"name": "A", "valueFrom": {"fileKeyRef": reference}}, volumes=_FILES if volumes is None else volumes)


ENV: Table = [
    ("one name twice", _env({"name": "A", "value": "1"}, {"name": "A", "value": "2"})),
    ("no name", _env({"value": "1"})),
    ("an empty name", _env({"name": "", "value": "1"})),
    ("a name with an equals sign", _env({"name": "A=B"})),
    ("a name with a blank", _env({"name": "A B"})),
    ("a name of a blank", _env({"name": " "})),
    ("a name that begins with a digit", _env({"name": "1A"})),
    ("a name with a tab", _env({"name": "A\tB"})),
    ("a name with a line break at its end", _env({"name": "A\n"})),
    ("a name beyond ASCII", _env({"name": "Ä"})),
    ("a name with the delete character", _env({"name": "A\x7f"})),
    ("a value and an empty source", _env({"name": "A", "value": "1", "valueFrom": {}})),
    ("an empty source", _env({"name": "A", "valueFrom": {}})),
    ("a source that is null", _env({"name": "A", "valueFrom": None})),
    (
        "a value and a source",
        _env({"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
    ),
    (
        "an empty value and a source",
        _env({"name": "A", "value": "", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
    ),
    (
        "two sources",
        _env(
            {
                "name": "A",
                "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}, "secretKeyRef": {"name": "a", "key": "b"}},
            }
        ),
    ),
    ("the field metadata.labels", _field("metadata.labels")),
    ("the field of one label", _field("metadata.labels['a']")),
    ("the field of a label with a bad key", _field("metadata.labels['a b']")),
    ("the field of a label without quotes", _field("metadata.labels[a]")),
    ("the field of one annotation in capitals", _field("metadata.annotations['A']")),
    ("the field of an annotation with a prefix in capitals", _field("metadata.annotations['A.b/C']")),
    ("the field of an annotation without a key", _field("metadata.annotations['']")),
    ("the field status.phase", _field("status.phase")),
    ("the field status.podIPs", _field("status.podIPs")),
    ("the field status.hostIPs", _field("status.hostIPs")),
    ("the field spec.host", _field("spec.host")),
    ("the field metadata.uid of v2", _field("metadata.uid", apiVersion="v2")),
    ("the field metadata.uid of no version", _field("metadata.uid", apiVersion="")),
    ("no field", _field("")),
    ("the resource limits.cpu", _resource("limits.cpu")),
    ("the resource limits.cpu by thousandths", _resource("limits.cpu", divisor="1m")),
    ("the resource limits.cpu by 0.001", _resource("limits.cpu", divisor="0.001")),
    ("the resource limits.cpu by 1000m", _resource("limits.cpu", divisor="1000m")),
    ("the resource limits.cpu by 2", _resource("limits.cpu", divisor="2")),
    ("the resource limits.cpu by the number 1", _resource("limits.cpu", divisor=1)),
    ("the resource limits.cpu by nothing", _resource("limits.cpu", divisor="")),
    ("the resource limits.memory by 1Mi", _resource("limits.memory", divisor="1Mi")),
    ("the resource limits.memory by 1024", _resource("limits.memory", divisor="1024")),
    ("the resource limits.memory by 1000", _resource("limits.memory", divisor="1000")),
    ("the resource limits.memory by 1e6", _resource("limits.memory", divisor="1e6")),
    ("the resource limits.memory by 1m", _resource("limits.memory", divisor="1m")),
    ("the resource limits.ephemeral-storage by 1Gi", _resource("limits.ephemeral-storage", divisor="1Gi")),
    ("the resource requests.hugepages-2Mi", _resource("requests.hugepages-2Mi", divisor="1Mi")),
    ("the resource limits.hugepages-2Mi by 2", _resource("limits.hugepages-2Mi", divisor="2")),
    ("the resource limits.nvidia.com/gpu", _resource("limits.nvidia.com/gpu")),
    ("no resource", _resource("")),
    ("the resource of no container", _resource("limits.cpu", containerName="none")),
    ("a config map key without a name", _env({"name": "A", "valueFrom": {"configMapKeyRef": {"key": "a"}}})),
    (
        "a config map key with an empty name",
        _env({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "", "key": "a"}}}),
    ),
    ("a config map key without a key", _env({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a"}}})),
    (
        "a config map key with a slash",
        _env({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b/c"}}}),
    ),
    ("a config map key that is ..", _env({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": ".."}}})),
    (
        "a config map with a name in capitals",
        _env({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "A B", "key": "a"}}}),
    ),
    ("a secret key without a name", _env({"name": "A", "valueFrom": {"secretKeyRef": {"key": "a"}}})),
    (
        "a secret key of 254 characters",
        _env({"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "k" * 254}}}),
    ),
    ("a file key", _file()),
    ("a file key of an unknown volume", _file(volumeName="none")),
    ("a file key of a volume that is no emptyDir", _file([{"name": "files", "configMap": {"name": "a"}}])),
    ("a file key without a path", _file(path="")),
    ("a file key with an absolute path", _file(path="/a")),
    ("a file key with a path above", _file(path="../a")),
    ("a file key with a path that begins with two dots", _file(path="..a")),
    ("a file key without a key", _file(key="")),
    ("a file key with a bad key", _file(key="a=b")),
    (
        "a file key in an init container",
        pod(
            volumes=_FILES,
            initContainers=[
                box(env=[{"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "none", "path": "a", "key": "K"}}}])
            ],
        ),
    ),
    ("an empty envFrom entry", pod({"envFrom": [{}]})),
    ("an envFrom entry that is null", pod({"envFrom": [None]})),
    ("an envFrom entry with only a prefix", pod({"envFrom": [{"prefix": "A"}]})),
    (
        "an envFrom entry with two sources",
        pod({"envFrom": [{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]}),
    ),
    ("an envFrom config map without a name", pod({"envFrom": [{"configMapRef": {}}]})),
    ("an envFrom config map in capitals", pod({"envFrom": [{"configMapRef": {"name": "A"}}]})),
    ("an envFrom secret without a name", pod({"envFrom": [{"secretRef": {"optional": True}}]})),
    ("an envFrom prefix with an equals sign", pod({"envFrom": [{"prefix": "=", "secretRef": {"name": "a"}}]})),
    ("an envFrom prefix that begins with a digit", pod({"envFrom": [{"prefix": "1", "secretRef": {"name": "a"}}]})),
    ("one envFrom source twice", pod({"envFrom": [{"secretRef": {"name": "a"}}, {"secretRef": {"name": "a"}}]})),
]


def _ports(*ports: Any, **spec: Any) -> dict[str, Any]:
    return pod({"ports": list(ports)}, **spec)


PORTS: Table = [
    ("no number", _ports({"name": "http"})),
    ("port 0", _ports({"containerPort": 0})),
    ("port 65535", _ports({"containerPort": 65535})),
    ("port 65536", _ports({"containerPort": 65536})),
    ("a negative port", _ports({"containerPort": -1})),
    ("one number twice", _ports({"containerPort": 80}, {"containerPort": 80})),
    ("one number for TCP and UDP", _ports({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"})),
    ("one name twice", _ports({"name": "a", "containerPort": 80}, {"name": "a", "containerPort": 81})),
    (
        "one name in two containers",
        pod(
            containers=[
                box("a", ports=[{"name": "p", "containerPort": 1}]),
                box("b", ports=[{"name": "p", "containerPort": 1}]),
            ]
        ),
    ),
    ("a name of 15 characters", _ports({"name": "a" * 15, "containerPort": 80})),
    ("a name of 16 characters", _ports({"name": "a" * 16, "containerPort": 80})),
    ("a name of digits", _ports({"name": "80", "containerPort": 80})),
    ("a name with two dashes", _ports({"name": "a--b", "containerPort": 80})),
    ("a name in capitals", _ports({"name": "HTTP", "containerPort": 80})),
    ("a name with a line break", _ports({"name": "http\n", "containerPort": 80})),
    ("an empty name", _ports({"name": "", "containerPort": 80})),
    ("an empty protocol", _ports({"containerPort": 80, "protocol": ""})),
    ("a protocol in small letters", _ports({"containerPort": 80, "protocol": "tcp"})),
    ("an unknown protocol", _ports({"containerPort": 80, "protocol": "HTTP"})),
    ("host port 0", _ports({"containerPort": 80, "hostPort": 0})),
    ("host port 65536", _ports({"containerPort": 80, "hostPort": 65536})),
    ("one host port twice", _ports({"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1})),
    (
        "one host port for TCP and UDP",
        _ports({"containerPort": 80, "hostPort": 1}, {"containerPort": 80, "hostPort": 1, "protocol": "UDP"}),
    ),
    (
        "one host port with an empty protocol and TCP",
        _ports(
            {"containerPort": 80, "hostPort": 1, "protocol": ""},
            {"containerPort": 81, "hostPort": 1, "protocol": "TCP"},
        ),
    ),
    (
        "one host port on two addresses",
        _ports(
            {"containerPort": 80, "hostPort": 1, "hostIP": "10.0.0.1"},
            {"containerPort": 81, "hostPort": 1, "hostIP": "10.0.0.2"},
        ),
    ),
    (
        "one host port on all addresses and on one",
        _ports({"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1, "hostIP": "10.0.0.2"}),
    ),
    (
        "one host port on 0.0.0.0 and on all",
        _ports({"containerPort": 80, "hostPort": 1}, {"containerPort": 81, "hostPort": 1, "hostIP": "0.0.0.0"}),
    ),
    (
        "one host port in two containers",
        pod(
            containers=[
                box("a", ports=[{"containerPort": 1, "hostPort": 1}]),
                box("b", ports=[{"containerPort": 2, "hostPort": 1}]),
            ]
        ),
    ),
    (
        "one host port in a container and an init container",
        pod(
            {"ports": [{"containerPort": 1, "hostPort": 1}]},
            initContainers=[box(ports=[{"containerPort": 1, "hostPort": 1}])],
        ),
    ),
    (
        "one host port in a container and a sidecar",
        pod(
            {"ports": [{"containerPort": 1, "hostPort": 1}]},
            initContainers=[box(ports=[{"containerPort": 1, "hostPort": 1}], restartPolicy="Always")],
        ),
    ),
    (
        "one host port twice in an init container",
        pod(initContainers=[box(ports=[{"containerPort": 1, "hostPort": 1}, {"containerPort": 2, "hostPort": 1}])]),
    ),
    (
        "one host port in two sidecars",
        pod(
            initContainers=[
                box("a", restartPolicy="Always", ports=[{"containerPort": 1, "hostPort": 1}]),
                box("b", restartPolicy="Always", ports=[{"containerPort": 1, "hostPort": 1}]),
            ]
        ),
    ),
    ("a host address that is a name", _ports({"containerPort": 80, "hostIP": "localhost"})),
    ("a host address with leading zeros", _ports({"containerPort": 80, "hostIP": "010.0.0.1"})),
    ("a host address of IPv6", _ports({"containerPort": 80, "hostIP": "::1"})),
    ("a host address of IPv6 with a zone", _ports({"containerPort": 80, "hostIP": "fe80::1%eth0"})),
    ("a host address of IPv4 in IPv6", _ports({"containerPort": 80, "hostIP": "::ffff:10.0.0.1"})),
    ("an empty host address", _ports({"containerPort": 80, "hostIP": ""})),
    ("the host network with a host port that differs", _ports({"containerPort": 80, "hostPort": 81}, hostNetwork=True)),
    ("the host network with host port 0", _ports({"containerPort": 80, "hostPort": 0}, hostNetwork=True)),
    ("the host network with one port twice", _ports({"containerPort": 80}, {"containerPort": 80}, hostNetwork=True)),
    (
        "the host network with one port in two containers",
        pod(
            hostNetwork=True,
            containers=[box("a", ports=[{"containerPort": 1}]), box("b", ports=[{"containerPort": 1}])],
        ),
    ),
    (
        "the host network with one port for TCP and UDP",
        _ports({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}, hostNetwork=True),
    ),
    (
        "the host network with one port in a container and an init container",
        pod({"ports": [{"containerPort": 1}]}, hostNetwork=True, initContainers=[box(ports=[{"containerPort": 1}])]),
    ),
    (
        "the host network with a host port that differs in an init container",
        pod(hostNetwork=True, initContainers=[box(ports=[{"containerPort": 1, "hostPort": 2}])]),
    ),
    (
        "the host network with one port twice in an init container",
        pod(hostNetwork=True, initContainers=[box(ports=[{"containerPort": 1}, {"containerPort": 1}])]),
    ),
]

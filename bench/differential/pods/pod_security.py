"""Pods to be judged by Pod Security levels: each is valid, and differs from a sound one in one thing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Pod = dict[str, Any]

_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/main"
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_HTTP = {"path": "/", "port": 80}
_SECCOMP_ON: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}


def restricted() -> Pod:
    """Return a Pod that every level takes."""
    return {
        "metadata": {"name": "judged"},
        "spec": {
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [
                {
                    "name": "main",
                    "image": "image",
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                }
            ],
        },
    }


def plain() -> Pod:
    """Return a Pod that says nothing of security."""
    return {"metadata": {"name": "judged"}, "spec": {"containers": [{"name": "main", "image": "image"}]}}


def _spec(**fields: Any) -> Pod:
    pod = restricted()
    pod["spec"] |= fields
    return pod


def _of_pod(**fields: Any) -> Pod:
    pod = restricted()
    pod["spec"]["securityContext"] |= fields
    return pod


def _of_container(**fields: Any) -> Pod:
    pod = restricted()
    pod["spec"]["containers"][0]["securityContext"] |= fields
    return pod


def _said(of_pod: dict[str, Any], of_container: dict[str, Any]) -> Pod:
    """Return a Pod of this security context, and this beside what its container must say."""
    pod = _of_container(**of_container)
    pod["spec"]["securityContext"] = of_pod
    return pod


def _container(**fields: Any) -> Pod:
    pod = restricted()
    pod["spec"]["containers"][0] |= fields
    return pod


def _without(pod: Pod, *fields: str) -> Pod:
    """Return a Pod without these fields of the security contexts of pod and containers."""
    made = deepcopy(pod)
    for context in (made["spec"]["securityContext"], made["spec"]["containers"][0]["securityContext"]):
        for field in fields:
            context.pop(field, None)
    return made


def _beside(**security: Any) -> Pod:
    """Return a Pod with an init container of this security context beside a sound one."""
    pod = restricted()
    pod["spec"]["initContainers"] = [{"name": "first", "image": "image", "securityContext": security}]
    return pod


def _volume(source: str, value: Any) -> Pod:
    return _spec(volumes=[{"name": "data", source: value}])


def _annotated(key: str, value: str) -> Pod:
    pod = restricted()
    pod["metadata"]["annotations"] = {key: value}
    return pod


def _own_users(pod: Pod) -> Pod:
    pod["spec"]["hostUsers"] = False
    return pod


def _windows() -> Pod:
    pod = plain()
    pod["spec"] |= {"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": True}}
    return pod


def _host_process(*, of_pod: bool) -> Pod:
    pod = _windows()
    pod["spec"]["hostNetwork"] = True
    context = (
        pod["spec"]["securityContext"] if of_pod else pod["spec"]["containers"][0].setdefault("securityContext", {})
    )
    context["windowsOptions"] = {"hostProcess": True}
    return pod


def _sysctl(name: str, value: str = "1") -> Pod:
    return _of_pod(sysctls=[{"name": name, "value": value}])


def _sound_init() -> Pod:
    return _beside(allowPrivilegeEscalation=False, capabilities={"drop": ["ALL"]})


PODS: dict[str, Pod] = {
    "sound": restricted(),
    "plain": plain(),
    "host network": _spec(hostNetwork=True),
    "host PID": _spec(hostPID=True),
    "host IPC": _spec(hostIPC=True),
    "no host namespace, said so": _spec(hostNetwork=False, hostPID=False, hostIPC=False),
    "privileged": _without(_of_container(privileged=True), "allowPrivilegeEscalation"),
    "not privileged, said so": _of_container(privileged=False),
    "a privileged init container": _beside(privileged=True),
    "escalation allowed": _of_container(allowPrivilegeEscalation=True),
    "escalation not said": _without(restricted(), "allowPrivilegeEscalation"),
    "capabilities not said": _without(restricted(), "capabilities"),
    "capabilities dropped but ALL": _of_container(capabilities={"drop": ["NET_RAW"]}),
    "ALL among others dropped": _of_container(capabilities={"drop": ["NET_RAW", "ALL"]}),
    "all in lower case": _of_container(capabilities={"drop": ["all"]}),
    "NET_BIND_SERVICE added": _of_container(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
    "CHOWN added": _of_container(capabilities={"drop": ["ALL"], "add": ["CHOWN"]}),
    "SYS_ADMIN added": _of_container(capabilities={"drop": ["ALL"], "add": ["SYS_PTRACE"]}),
    "NET_RAW added": _of_container(capabilities={"drop": ["ALL"], "add": ["NET_RAW"]}),
    "a default capability by its long name": _of_container(capabilities={"drop": ["ALL"], "add": ["CAP_CHOWN"]}),
    "ALL added": _of_container(capabilities={"add": ["ALL"]}),
    "a path of the host": _volume("hostPath", {"path": "/var"}),
    "an empty folder": _volume("emptyDir", {}),
    "a volume that says nothing": _spec(volumes=[{"name": "data"}]),
    "a claim": _volume("persistentVolumeClaim", {"claimName": "data"}),
    "a config map": _volume("configMap", {"name": "data"}),
    "a secret": _volume("secret", {"secretName": "data"}),
    "projected": _volume("projected", {"sources": [{"configMap": {"name": "data"}}]}),
    "the downward API": _volume("downwardAPI", {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}),
    "CSI": _volume("csi", {"driver": "example.com"}),
    "ephemeral": _volume(
        "ephemeral",
        {
            "volumeClaimTemplate": {
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
            }
        },
    ),
    "an image": _volume("image", {"reference": "image"}),
    "NFS": _volume("nfs", {"server": "example.com", "path": "/"}),
    "iSCSI": _volume("iscsi", {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:a", "lun": 0}),
    "CephFS": _volume("cephfs", {"monitors": ["10.0.0.1"]}),
    "RBD": _volume("rbd", {"monitors": ["10.0.0.1"], "image": "image"}),
    "a repository": _volume("gitRepo", {"repository": "https://example.com/a.git"}),
    "a flex volume": _volume("flexVolume", {"driver": "example.com/driver"}),
    "an Azure file": _volume("azureFile", {"secretName": "data", "shareName": "data"}),
    "a Google disk": _volume("gcePersistentDisk", {"pdName": "data"}),
    "a host port": _container(ports=[{"containerPort": 80, "hostPort": 8080}]),
    "host port 0": _container(ports=[{"containerPort": 80, "hostPort": 0}]),
    "AppArmor default": _of_pod(appArmorProfile={"type": "RuntimeDefault"}),
    "AppArmor local": _of_container(appArmorProfile={"type": "Localhost", "localhostProfile": "mine"}),
    "AppArmor off for the pod": _of_pod(appArmorProfile={"type": "Unconfined"}),
    "AppArmor off for a container": _of_container(appArmorProfile={"type": "Unconfined"}),
    "AppArmor off by annotation": _annotated(_APP_ARMOR, "unconfined"),
    "AppArmor local by annotation": _annotated(_APP_ARMOR, "localhost/mine"),
    "SELinux type of containers": _of_pod(seLinuxOptions={"type": "container_t"}),
    "SELinux type of engines": _of_pod(seLinuxOptions={"type": "container_engine_t"}),
    "SELinux type of the host": _of_container(seLinuxOptions={"type": "spc_t"}),
    "SELinux user": _of_pod(seLinuxOptions={"user": "root"}),
    "SELinux role": _of_container(seLinuxOptions={"role": "sysadm_r"}),
    "SELinux level": _of_pod(seLinuxOptions={"level": "s0:c1,c2"}),
    "/proc masked": _of_container(procMount="Default"),
    "/proc unmasked among its own users": _own_users(_of_container(procMount="Unmasked")),
    "no seccomp": _without(restricted(), "seccompProfile"),
    "seccomp off for the pod": _of_pod(seccompProfile={"type": "Unconfined"}),
    "seccomp off for a container": _of_container(seccompProfile={"type": "Unconfined"}),
    "seccomp of a container only": _said({"runAsNonRoot": True}, {"seccompProfile": {"type": "RuntimeDefault"}}),
    "seccomp local": _of_pod(seccompProfile={"type": "Localhost", "localhostProfile": "mine.json"}),
    "seccomp off by annotation": _without(_annotated(_SECCOMP, "unconfined"), "seccompProfile"),
    "seccomp local by annotation": _without(_annotated(_SECCOMP, "localhost/mine"), "seccompProfile"),
    "a safe sysctl": _sysctl("net.ipv4.tcp_syncookies"),
    "a sysctl that is safe since 1.27": _sysctl("net.ipv4.ip_local_reserved_ports", "8080"),
    "a sysctl that is safe since 1.29": _sysctl("net.ipv4.tcp_fin_timeout"),
    "a sysctl that is safe since 1.32": _sysctl("net.ipv4.tcp_rmem", "4096 8192 8192"),
    "an unsafe sysctl": _sysctl("kernel.msgmax", "65536"),
    "a safe sysctl with slashes": _sysctl("net/ipv4/tcp_syncookies"),
    "an HTTP probe of itself": _container(livenessProbe={"httpGet": _HTTP}),
    "an HTTP probe of another": _container(livenessProbe={"httpGet": {**_HTTP, "host": "10.0.0.1"}}),
    "a TCP probe of another": _container(readinessProbe={"tcpSocket": {"port": 80, "host": "10.0.0.1"}}),
    "a startup probe of another": _container(startupProbe={"tcpSocket": {"port": 80, "host": "example.com"}}),
    "a hook to another": _container(lifecycle={"preStop": {"httpGet": {**_HTTP, "host": "10.0.0.1"}}}),
    "a hook after the start to another": _container(
        lifecycle={"postStart": {"httpGet": {**_HTTP, "host": "10.0.0.1"}}}
    ),
    "may be root": _without(restricted(), "runAsNonRoot"),
    "may be root, said so": _of_pod(runAsNonRoot=False),
    "one container may be root": _of_container(runAsNonRoot=False),
    "may be root, but its container not": _said(_SECCOMP_ON, {"runAsNonRoot": True}),
    "may be root by the pod, not by its container": _said(
        _SECCOMP_ON | {"runAsNonRoot": False}, {"runAsNonRoot": True}
    ),
    "is root": _of_pod(runAsUser=0),
    "one container is root": _of_container(runAsUser=0),
    "is a user": _of_pod(runAsUser=1000),
    "its group is root": _of_pod(runAsGroup=0, fsGroup=0),
    "may be root among its own users": _own_users(_without(restricted(), "runAsNonRoot")),
    "is root among its own users": _own_users(_of_pod(runAsUser=0)),
    "has own users": _own_users(restricted()),
    "a sound init container": _sound_init(),
    "an init container that may gain privileges": _beside(capabilities={"drop": ["ALL"]}),
    "an init container with capabilities": _beside(allowPrivilegeEscalation=False),
    "on Windows": _windows(),
    "on Windows, may be root": _windows() | {"spec": plain()["spec"] | {"os": {"name": "windows"}}},
    "a process of the host on Windows": _host_process(of_pod=True),
    "a container that is one": _host_process(of_pod=False),
    "on Linux, said so": _spec(os={"name": "linux"}),
}

"""Security contexts, host settings and operating systems."""

from typing import Any

from bench.differential.pods import values
from bench.differential.pods.tricky.builder import Table, box, pod


def _of(**context: Any) -> dict[str, Any]:
    return pod({"securityContext": context})


def _all(**context: Any) -> dict[str, Any]:
    return pod(securityContext=context)


def _windows(*, spec: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    return pod(securityContext={"windowsOptions": options}, **(spec or {}))


_HOST_PROCESS = {"windowsOptions": {"hostProcess": True}}

SECURITY: Table = [
    ("privileged and no escalation", _of(privileged=True, allowPrivilegeEscalation=False)),
    ("privileged and escalation", _of(privileged=True, allowPrivilegeEscalation=True)),
    ("CAP_SYS_ADMIN and no escalation", _of(allowPrivilegeEscalation=False, capabilities={"add": ["CAP_SYS_ADMIN"]})),
    ("SYS_ADMIN and no escalation", _of(allowPrivilegeEscalation=False, capabilities={"add": ["SYS_ADMIN"]})),
    ("an unknown capability", _of(capabilities={"add": ["FLY"]})),
    ("an empty capability", _of(capabilities={"add": [""]})),
    ("a negative user", _of(runAsUser=-1)),
    ("a user of 2^31 - 1", _of(runAsUser=2**31 - 1)),
    ("a user of 2^31", _of(runAsUser=2**31)),
    ("root where root is refused", _of(runAsUser=0, runAsNonRoot=True)),
    ("a negative group", _of(runAsGroup=-1)),
    ("procMount Unmasked", _of(procMount="Unmasked")),
    ("procMount Unmasked with users of its own", pod({"securityContext": {"procMount": "Unmasked"}}, hostUsers=False)),
    ("an unknown procMount", _of(procMount="Open")),
    ("an empty procMount", _of(procMount="")),
    ("a seccomp profile without a type", _of(seccompProfile={})),
    ("a local seccomp profile without a file", _of(seccompProfile={"type": "Localhost"})),
    ("a local seccomp profile with an empty file", _of(seccompProfile={"type": "Localhost", "localhostProfile": ""})),
    (
        "a local seccomp profile with an absolute file",
        _of(seccompProfile={"type": "Localhost", "localhostProfile": "/a"}),
    ),
    (
        "a local seccomp profile with a file above",
        _of(seccompProfile={"type": "Localhost", "localhostProfile": "../a"}),
    ),
    (
        "a seccomp profile of the runtime with a file",
        _of(seccompProfile={"type": "RuntimeDefault", "localhostProfile": "a"}),
    ),
    (
        "a seccomp profile of the runtime with an empty file",
        _of(seccompProfile={"type": "RuntimeDefault", "localhostProfile": ""}),
    ),
    ("an unknown seccomp profile", _of(seccompProfile={"type": "None"})),
    ("an AppArmor profile without a type", _of(appArmorProfile={})),
    ("a local AppArmor profile without a name", _of(appArmorProfile={"type": "Localhost"})),
    ("a local AppArmor profile with a blank", _of(appArmorProfile={"type": "Localhost", "localhostProfile": " a"})),
    ("a local AppArmor profile of blanks", _of(appArmorProfile={"type": "Localhost", "localhostProfile": "  "})),
    (
        "a local AppArmor profile of 4096 characters",
        _of(appArmorProfile={"type": "Localhost", "localhostProfile": "a" * 4096}),
    ),
    (
        "an unconfined AppArmor profile with a name",
        _of(appArmorProfile={"type": "Unconfined", "localhostProfile": "a"}),
    ),
    (
        "an unconfined AppArmor profile with an empty name",
        _of(appArmorProfile={"type": "Unconfined", "localhostProfile": ""}),
    ),
    ("a seccomp profile of the pod without a file", _all(seccompProfile={"type": "Localhost"})),
    ("an AppArmor profile of the pod of an unknown type", _all(appArmorProfile={"type": "Strict"})),
    ("a negative group of files", _all(fsGroup=-1)),
    ("a supplemental group beyond 31 bits", _all(supplementalGroups=[1, 2**31])),
    ("an unknown policy of supplemental groups", _all(supplementalGroupsPolicy="All")),
    ("an unknown policy of the change of groups", _all(fsGroupChangePolicy="Never")),
    ("an empty policy of the change of groups", _all(fsGroupChangePolicy="")),
    ("an SELinux policy", _all(seLinuxChangePolicy="Recursive")),
    ("an unknown SELinux policy", _all(seLinuxChangePolicy="None")),
    ("one sysctl twice", _all(sysctls=[{"name": "kernel.a", "value": "1"}] * 2)),
    (
        "one sysctl in two spellings",
        _all(sysctls=[{"name": "kernel.a", "value": "1"}, {"name": "kernel/a", "value": "1"}]),
    ),
    ("a sysctl without a name", _all(sysctls=[{"value": "1"}])),
    ("a sysctl in capitals", _all(sysctls=[{"name": "Kernel.a", "value": "1"}])),
    (
        "a sysctl of the network with the host's network",
        pod(hostNetwork=True, securityContext={"sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}]}),
    ),
    (
        "a sysctl of the network in slashes with the host's network",
        pod(hostNetwork=True, securityContext={"sysctls": [{"name": "net/ipv4/tcp_syncookies", "value": "1"}]}),
    ),
    (
        "a sysctl of shared memory with the host's",
        pod(hostIPC=True, securityContext={"sysctls": [{"name": "kernel.shmmax", "value": "1"}]}),
    ),
    (
        "a sysctl of queues with the host's",
        pod(hostIPC=True, securityContext={"sysctls": [{"name": "fs.mqueue.msg_max", "value": "1"}]}),
    ),
    (
        "a sysctl of the kernel with the host's network",
        pod(hostNetwork=True, securityContext={"sysctls": [{"name": "kernel.shmmax", "value": "1"}]}),
    ),
    ("an unknown operating system", pod(os={"name": "plan9"})),
    ("an empty operating system", pod(os={"name": ""})),
    ("an operating system without a name", pod(os={})),
    ("Windows options on Linux", _windows(runAsUserName="a", spec={"os": {"name": "linux"}})),
    ("Windows options on no system", _windows(runAsUserName="a")),
    ("Windows options of a container on Linux", pod({"securityContext": {"windowsOptions": {}}}, os={"name": "linux"})),
    (
        "Windows options of an init container on Linux",
        pod(os={"name": "linux"}, initContainers=[box(securityContext={"windowsOptions": {}})]),
    ),
    *(
        (f"{field} on Windows", pod(os={"name": "windows"}, securityContext={field: value}))
        for field, value in {
            "runAsUser": 1,
            "runAsGroup": 1,
            "fsGroup": 1,
            "fsGroupChangePolicy": "Always",
            "supplementalGroups": [1],
            "supplementalGroupsPolicy": "Merge",
            "seLinuxOptions": {},
            "seLinuxChangePolicy": "Recursive",
            "seccompProfile": {"type": "RuntimeDefault"},
            "appArmorProfile": {"type": "Unconfined"},
            "sysctls": [{"name": "kernel.a", "value": "1"}],
            "runAsNonRoot": True,
            "windowsOptions": {},
        }.items()
    ),
    *(
        (f"{field} of a container on Windows", pod({"securityContext": {field: value}}, os={"name": "windows"}))
        for field, value in {
            "runAsUser": 1,
            "runAsGroup": 1,
            "procMount": "Default",
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {},
            "seLinuxOptions": {},
            "seccompProfile": {"type": "RuntimeDefault"},
            "appArmorProfile": {"type": "Unconfined"},
            "allowPrivilegeEscalation": True,
            "runAsNonRoot": True,
        }.items()
    ),
    *(
        (f"{field} of the pod on Windows", pod(os={"name": "windows"}, **dict[str, Any]({field: value})))
        for field, value in {
            "hostPID": True,
            "hostIPC": True,
            "hostNetwork": True,
            "shareProcessNamespace": False,
            "hostUsers": False,
            "setHostnameAsFQDN": True,
        }.items()
    ),
    *(
        (f"the Windows user {user[:40]!r} of {len(user)} characters", _windows(runAsUserName=user))
        for user in values.USERS
    ),
    ("an empty GMSA specification", _windows(gmsaCredentialSpec="")),
    ("a GMSA specification beyond 64 KiB", _windows(gmsaCredentialSpec="x" * 65537)),
    ("a GMSA name in capitals", _windows(gmsaCredentialSpecName="A")),
    ("host processes", pod(hostNetwork=True, os={"name": "windows"}, securityContext=_HOST_PROCESS)),
    ("host processes without the host's network", pod(os={"name": "windows"}, securityContext=_HOST_PROCESS)),
    ("host processes on no system", pod(hostNetwork=True, securityContext=_HOST_PROCESS)),
    (
        "a container against host processes",
        pod(
            {"securityContext": {"windowsOptions": {"hostProcess": False}}},
            hostNetwork=True,
            securityContext=_HOST_PROCESS,
        ),
    ),
    ("a container of host processes alone", pod({"securityContext": _HOST_PROCESS}, hostNetwork=True)),
    (
        "one of two containers with host processes",
        pod(hostNetwork=True, containers=[box("a", securityContext=_HOST_PROCESS), box("b")]),
    ),
    (
        "an init container without host processes",
        pod({"securityContext": _HOST_PROCESS}, hostNetwork=True, initContainers=[box("b")]),
    ),
    (
        "host processes that are false on the pod and true in the container",
        pod(
            {"securityContext": _HOST_PROCESS},
            hostNetwork=True,
            securityContext={"windowsOptions": {"hostProcess": False}},
        ),
    ),
]

HOST: Table = [
    ("own users with the host's network", pod(hostUsers=False, hostNetwork=True)),
    ("own users with the host's processes", pod(hostUsers=False, hostPID=True)),
    ("own users with the host's memory", pod(hostUsers=False, hostIPC=True)),
    ("the host's users with everything of the host", pod(hostUsers=True, hostNetwork=True, hostPID=True, hostIPC=True)),
    ("shared processes with the host's", pod(shareProcessNamespace=True, hostPID=True)),
    ("no shared processes with the host's", pod(shareProcessNamespace=False, hostPID=True)),
    ("an alias without an address", pod(hostAliases=[{"hostnames": ["a"]}])),
    ("an alias without names", pod(hostAliases=[{"ip": "10.0.0.1"}])),
    ("an alias with a broken address", pod(hostAliases=[{"ip": "10.0.0", "hostnames": ["a"]}])),
    ("an alias with leading zeros", pod(hostAliases=[{"ip": "010.0.0.1", "hostnames": ["a"]}])),
    ("an alias with a broken name", pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a_b"]}])),
    ("an alias with an empty name", pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": [""]}])),
    ("an alias with a dot at the end", pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a.b."]}])),
    (
        "one address twice",
        pod(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}]),
    ),
    ("an alias of IPv4 in IPv6", pod(hostAliases=[{"ip": "::ffff:10.0.0.1", "hostnames": ["a"]}])),
    ("aliases on the host's network", pod(hostNetwork=True, hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}])),
]

DNS: Table = [
    ("the policy None without a configuration", pod(dnsPolicy="None")),
    ("the policy None with an empty configuration", pod(dnsPolicy="None", dnsConfig={})),
    ("the policy None with a server", pod(dnsPolicy="None", dnsConfig={"nameservers": ["10.0.0.1"]})),
    ("an empty policy", pod(dnsPolicy="")),
    ("an unknown policy", pod(dnsPolicy="Cluster")),
    ("3 servers", pod(dnsConfig={"nameservers": ["10.0.0.1", "10.0.0.2", "10.0.0.3"]})),
    ("4 servers", pod(dnsConfig={"nameservers": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]})),
    ("one server twice", pod(dnsConfig={"nameservers": ["10.0.0.1", "10.0.0.1"]})),
    ("a server by name", pod(dnsConfig={"nameservers": ["dns.example.com"]})),
    ("a server with a zone", pod(dnsConfig={"nameservers": ["fe80::1%eth0"]})),
    ("32 searches", pod(dnsConfig={"searches": [f"s{index}" for index in range(32)]})),
    ("33 searches", pod(dnsConfig={"searches": [f"s{index}" for index in range(33)]})),
    (
        "searches of 2048 characters",
        pod(dnsConfig={"searches": [".".join(["a" * 60] * 3 + ["b" * 20])] * 10 + ["c" * 7]}),
    ),
    ("searches of 2049 characters and more", pod(dnsConfig={"searches": [".".join(["a" * 60] * 4)] * 9})),
    ("a search of a dot", pod(dnsConfig={"searches": ["."]})),
    ("a search of two dots", pod(dnsConfig={"searches": [".."]})),
    ("an empty search", pod(dnsConfig={"searches": [""]})),
    ("a search with an underscore", pod(dnsConfig={"searches": ["_tcp.example.com"]})),
    ("a search with an underscore at its end", pod(dnsConfig={"searches": ["tcp_"]})),
    ("a search in capitals", pod(dnsConfig={"searches": ["Example.com"]})),
    ("an option without a name", pod(dnsConfig={"options": [{"value": "1"}]})),
    ("an option with an empty name", pod(dnsConfig={"options": [{"name": ""}]})),
    ("one option twice", pod(dnsConfig={"options": [{"name": "a"}, {"name": "a"}]})),
    ("the cluster's with the host's network, without it", pod(dnsPolicy="ClusterFirstWithHostNet")),
]

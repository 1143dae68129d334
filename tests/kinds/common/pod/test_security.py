from typing import Any

from jobgate.kinds.common.pod import security
from tests.kinds.common.pod.builder import MAIN, Json, case, container, of_container, pod
from tests.kinds.common.pod.verdict import Case, judged

AT = "spec.securityContext"
WINDOWS: Json = {"name": "windows"}


def of_pod(sentence: str, context: Json, *expected: str, **spec: Any) -> Case:
    """Return a row about the security context of a pod."""
    return sentence, pod(securityContext=context, **spec), [f"{AT}.{begins}" for begins in expected]


def own(sentence: str, context: Json, *expected: str) -> Case:
    """Return a row about the security context of a container."""
    return of_container(sentence, {"securityContext": context}, *(f"securityContext.{begins}" for begins in expected))


def running_as(sentence: str, user: str, *expected: str) -> Case:
    """Return a row about a Windows user."""
    return own(
        sentence, {"windowsOptions": {"runAsUserName": user}}, *(f"windowsOptions.runAsUserName: {e}" for e in expected)
    )


def host_process(value: bool | None, name: str = "main") -> Json:
    return container(name, securityContext={"windowsOptions": {"hostProcess": value}})


CONTAINER_CASES: list[Case] = [
    own("a user is a number of 31 bits", {"runAsUser": 2147483647, "runAsGroup": 0}),
    own("not one more", {"runAsUser": 2147483648}, "runAsUser: Invalid value: 2147483648"),
    own("nor less than 0", {"runAsGroup": -1}, "runAsGroup: Invalid value: -1"),
    own("privileged containers are the cluster's to forbid", {"privileged": True}),
    own(
        "who is privileged may escalate",
        {"privileged": True, "allowPrivilegeEscalation": False},
        "allowPrivilegeEscalation: Invalid value",
    ),
    own(
        "who administers the system too",
        {"capabilities": {"add": ["CAP_SYS_ADMIN"]}, "allowPrivilegeEscalation": False},
        "allowPrivilegeEscalation: Invalid value",
    ),
    own(
        "only by its long name",
        {"capabilities": {"add": ["SYS_ADMIN"], "drop": ["ALL"]}, "allowPrivilegeEscalation": False},
    ),
    own("/proc is masked", {"procMount": "Default"}),
    own("or not, where users are the pod's own", {"procMount": "Unmasked"}, "procMount: Invalid value"),
    case(
        "and then it may be seen",
        pod(container(securityContext={"procMount": "Unmasked"}), hostUsers=False),
    ),
    own("there is no third way", {"procMount": "Hidden"}, 'procMount: Unsupported value: "Hidden"'),
    own("a seccomp profile has a type", {"seccompProfile": {}}, "seccompProfile.type: Required value"),
    own("that is known", {"seccompProfile": {"type": "Strict"}}, 'seccompProfile.type: Unsupported value: "Strict"'),
    own(
        "a local one has a path",
        {"seccompProfile": {"type": "Localhost"}},
        "seccompProfile.localhostProfile: Required value",
    ),
    own(
        "below the node's folder",
        {"seccompProfile": {"type": "Localhost", "localhostProfile": "/a/../b"}},
        "seccompProfile.localhostProfile: Invalid value",
        "seccompProfile.localhostProfile: Invalid value",
    ),
    own("and is well so", {"seccompProfile": {"type": "Localhost", "localhostProfile": "a/b.json"}}),
    own(
        "no other has one",
        {"seccompProfile": {"type": "Unconfined", "localhostProfile": "a"}},
        "seccompProfile.localhostProfile: Invalid value",
    ),
    own("an AppArmor profile has a type", {"appArmorProfile": {"type": ""}}, "appArmorProfile.type: Required value"),
    own(
        "and a name, if it is a local one",
        {"appArmorProfile": {"type": "Localhost", "localhostProfile": ""}},
        "appArmorProfile.localhostProfile: Required value",
    ),
    own("of any shape", {"appArmorProfile": {"type": "Localhost", "localhostProfile": "/a/../b"}}),
    own(
        "but for white space around it",
        {"appArmorProfile": {"type": "Localhost", "localhostProfile": " a"}},
        "appArmorProfile.localhostProfile: Invalid value",
    ),
    own(
        "and of 4095 bytes at most",
        {"appArmorProfile": {"type": "Localhost", "localhostProfile": "a" * 4096}},
        "appArmorProfile.localhostProfile: Too long",
    ),
    own(
        "the node's own has none",
        {"appArmorProfile": {"type": "RuntimeDefault", "localhostProfile": ""}},
        "appArmorProfile.localhostProfile: Invalid value",
    ),
]

POD_CASES: list[Case] = [
    of_pod("groups are numbers of 31 bits", {"fsGroup": 1, "supplementalGroups": [1, 2]}),
    of_pod(
        "each of them",
        {"fsGroup": -1, "supplementalGroups": [1, -2]},
        "fsGroup: Invalid value: -1",
        "supplementalGroups[1]: Invalid value: -2",
    ),
    of_pod("volumes change owners in known ways", {"fsGroupChangePolicy": "OnRootMismatch"}),
    of_pod("not in others", {"fsGroupChangePolicy": "Never"}, 'fsGroupChangePolicy: Unsupported value: "Never"'),
    of_pod("groups are merged or not", {"supplementalGroupsPolicy": "Strict"}),
    of_pod("not else", {"supplementalGroupsPolicy": ""}, 'supplementalGroupsPolicy: Unsupported value: ""'),
    of_pod("SELinux labels files one by one", {"seLinuxChangePolicy": "Recursive"}),
    of_pod("mounts wait for their feature", {"seLinuxChangePolicy": "MountOption"}, "seLinuxChangePolicy: Unsupported"),
    of_pod("a pod has a seccomp profile", {"seccompProfile": {"type": "Localhost"}}, "seccompProfile.localhost"),
    of_pod("sysctls may be written with slashes", {"sysctls": [{"name": "net/core/somaxconn", "value": "1"}]}),
    of_pod(
        "each once",
        {"sysctls": [{"name": "kernel.sem", "value": "1"}, {"name": "kernel.sem", "value": "2"}]},
        'sysctls[1].name: Duplicate value: "kernel.sem"',
    ),
    of_pod("by a name", {"sysctls": [{"name": "", "value": "1"}]}, "sysctls[0].name: Required value"),
    of_pod("a legal one", {"sysctls": [{"name": "Net.*", "value": "1"}]}, 'sysctls[0].name: Invalid value: "Net.*"'),
    of_pod(
        "not of the host's network",
        {"sysctls": [{"name": "net/core/somaxconn", "value": "1"}]},
        'sysctls[0].name: Invalid value: "net/core/somaxconn": may not be set when hostNetwork is true',
        hostNetwork=True,
    ),
    of_pod(
        "nor of its IPC",
        {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}, {"name": "fs.mqueue.a", "value": "1"}]},
        "sysctls[0].name: Invalid value",
        "sysctls[1].name: Invalid value",
        hostIPC=True,
    ),
    of_pod("others may be set there", {"sysctls": [{"name": "vm.swappiness", "value": "1"}]}, hostIPC=True),
]

WINDOWS_CASES: list[Case] = [
    running_as("a Windows user has a name", "ContainerUser"),
    running_as("which is not empty", "", "Required value"),
    running_as("nor only dots", "..", "Invalid value"),
    running_as("and has a domain", "NT AUTHORITY\\SYSTEM"),
    running_as("of a legal name", "a?b\\user", "Invalid value"),
    running_as("given once", "a\\b\\c", "Invalid value"),
    running_as("without control characters", "a\tb", "Invalid value"),
    running_as("nor some others", "a@b", "Invalid value"),
    running_as("of 104 bytes at most", "a" * 105, "Invalid value"),
    running_as("with a domain of 255", "a" * 256 + "\\user", "Invalid value"),
    running_as("that is not empty", "\\user", "Invalid value"),
    own(
        "a credential is named as objects are",
        {"windowsOptions": {"gmsaCredentialSpecName": "A b"}},
        "windowsOptions.gmsaCredentialSpecName: Invalid value",
    ),
    own(
        "and not empty",
        {"windowsOptions": {"gmsaCredentialSpec": ""}},
        "windowsOptions.gmsaCredentialSpec: Required value",
    ),
    own(
        "nor longer than 64 KiB",
        {"windowsOptions": {"gmsaCredentialSpec": "a" * 65537}},
        "windowsOptions.gmsaCredentialSpec: Forbidden",
    ),
    case("host processes share the host's network", pod(host_process(True), hostNetwork=True)),
    case("and nothing less", pod(host_process(True)), "spec.hostNetwork: Invalid value: false"),
    case(
        "all containers of a pod are such",
        pod(host_process(True, "a"), host_process(None, "b"), hostNetwork=True),
        "spec: Forbidden",
    ),
    case(
        "as the pod says",
        pod(host_process(False), securityContext={"windowsOptions": {"hostProcess": True}}),
        f"{MAIN}.securityContext.windowsOptions.hostProcess: Invalid value: false: must be true",
    ),
    of_pod("Linux has no Windows options", {"windowsOptions": {}}, "windowsOptions: Forbidden", os={"name": "linux"}),
    of_pod(
        "Windows has nothing of Linux",
        {"runAsUser": 1, "sysctls": [{"name": "a", "value": "1"}]},
        "sysctls: Forbidden",
        "runAsUser: Forbidden",
        os=WINDOWS,
    ),
    case(
        "nor its flags",
        pod(os=WINDOWS, hostPID=True, hostUsers=True, shareProcessNamespace=False, hostIPC=False),
        "spec.hostUsers: Forbidden",
        "spec.shareProcessNamespace: Forbidden",
        "spec.hostPID: Forbidden",
    ),
    case(
        "nor have its containers",
        pod(container(securityContext={"capabilities": {}, "privileged": False}), os=WINDOWS),
        f"{MAIN}.securityContext.capabilities: Forbidden",
        f"{MAIN}.securityContext.privileged: Forbidden",
    ),
    of_pod("it has users who are not administrators", {"runAsNonRoot": True}, os=WINDOWS),
]


test_security_contexts_of_containers = judged(security.FAMILY.check, CONTAINER_CASES)
test_security_contexts_of_pods = judged(security.FAMILY.check, POD_CASES)
test_windows = judged(security.FAMILY.check, WINDOWS_CASES)

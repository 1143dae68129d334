from typing import Any

from jobgate.podchecks import security
from tests.podchecks.builder import Json, case, container, of_container, pod
from tests.podchecks.verdict import Case, judged

AT = "spec.securityContext"


def of_pod(sentence: str, context: Json, *expected: str, **spec: Any) -> Case:
    """Return a row about the security context of a pod."""
    return sentence, pod(securityContext=context, **spec), [f"{AT}.{begins}" for begins in expected]


def own(sentence: str, context: Json, *expected: str) -> Case:
    """Return a row about the security context of a container."""
    return of_container(sentence, {"securityContext": context}, *(f"securityContext.{begins}" for begins in expected))


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
        {"sysctls": [{"name": "net/core/somaxconn", "value": "1"}, {"name": "net.core.somaxconn", "value": "1"}]},
        'sysctls[0].name: Invalid value: "net/core/somaxconn": may not be set when hostNetwork is true',
        'sysctls[1].name: Invalid value: "net.core.somaxconn": may not be set when hostNetwork is true',
        hostNetwork=True,
    ),
    of_pod(
        "nor of its IPC",
        {"sysctls": [{"name": "kernel.shmmax", "value": "1"}, {"name": "fs.mqueue.a", "value": "1"}]},
        "sysctls[0].name: Invalid value",
        "sysctls[1].name: Invalid value",
        hostIPC=True,
    ),
    of_pod("others may be set there", {"sysctls": [{"name": "vm.swappiness", "value": "1"}]}, hostIPC=True),
]

test_security_contexts_of_containers = judged(security.FAMILY.check, CONTAINER_CASES)
test_security_contexts_of_pods = judged(security.FAMILY.check, POD_CASES)

"""Containers, init containers, native sidecars, names."""

from typing import Any

from bench.differential.pods.tricky.builder import Table, box, pod

_LONG = "a" * 64


def _init(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return pod(initContainers=list(containers), **spec)


_HOOK = {"exec": {"command": ["true"]}}

CONTAINERS: Table = [
    ("no containers", {"metadata": {"name": "judged"}, "spec": {"containers": []}}),
    ("containers null", {"metadata": {"name": "judged"}, "spec": {"containers": None}}),
    ("containers absent", {"metadata": {"name": "judged"}, "spec": {}}),
    ("an empty container", {"metadata": {"name": "judged"}, "spec": {"containers": [{}]}}),
    ("no name", pod({"name": ...})),
    ("an empty name", pod({"name": ""})),
    ("a name of 63 characters", pod({"name": "a" * 63})),
    ("a name of 64 characters", pod({"name": _LONG})),
    ("a name with a line break", pod({"name": "main\n"})),
    ("a name in capitals", pod({"name": "Main"})),
    ("a name with a dot", pod({"name": "ma.in"})),
    ("a name of digits", pod({"name": "1"})),
    ("no image", pod({"image": ...})),
    ("an empty image", pod({"image": ""})),
    ("an image of a blank", pod({"image": " "})),
    ("an image with a blank before", pod({"image": " busybox"})),
    ("an image with a blank after", pod({"image": "busybox "})),
    ("an image with a no-break space after", pod({"image": "busybox\u00a0"})),
    ("an image with an ideographic space after", pod({"image": "busybox\u3000"})),
    ("an image with a zero-width space after", pod({"image": "busybox\u200b"})),
    ("an image with a unit separator after", pod({"image": "busybox\u001f"})),
    ("an image with a next-line character after", pod({"image": "busybox\u0085"})),
    ("an image with blanks within", pod({"image": "busy box"})),
    ("two of one name", pod(containers=[box("a"), box("a")])),
    ("two without names", pod(containers=[{"image": "a"}, {"image": "b"}])),
    ("three of one name", pod(containers=[box("a"), box("a"), box("a")])),
    ("restartPolicy Always in a container", pod({"restartPolicy": "Always"})),
    ("restartPolicy Never in a container", pod({"restartPolicy": "Never"})),
    ("restartPolicy OnFailure in a container", pod({"restartPolicy": "OnFailure"})),
    ("an unknown restartPolicy in a container", pod({"restartPolicy": "Sometimes"})),
    ("an empty restartPolicy in a container", pod({"restartPolicy": ""})),
    ("an empty restartPolicy of the pod", pod(restartPolicy="")),
    ("a lower-case restartPolicy of the pod", pod(restartPolicy="never")),
    (
        "restart rules without a policy",
        pod({"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]}),
    ),
    (
        "restart rules with a policy",
        pod(
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
            }
        ),
    ),
    (
        "a restart rule without exit codes",
        pod({"restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart"}]}),
    ),
    (
        "a restart rule of all containers",
        pod(
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [
                    {"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0]}}
                ],
            }
        ),
    ),
    (
        "21 restart rules",
        pod(
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}] * 21,
            }
        ),
    ),
    (
        "256 exit codes",
        pod(
            {
                "restartPolicy": "Never",
                "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1] * 256}}],
            }
        ),
    ),
    (
        "exit codes without values",
        pod({"restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In"}}]}),
    ),
    ("an empty pull policy", pod({"imagePullPolicy": ""})),
    ("an unknown pull policy", pod({"imagePullPolicy": "Sometimes"})),
    ("an empty termination message policy", pod({"terminationMessagePolicy": ""})),
    ("an unknown termination message policy", pod({"terminationMessagePolicy": "Log"})),
    ("stdinOnce without stdin", pod({"stdinOnce": True})),
    ("empty command and args", pod({"command": [], "args": []})),
    ("an empty word in the command", pod({"command": [""]})),
    ("null in args", pod({"args": [None]})),
    (
        "resize of an unknown resource",
        pod({"resizePolicy": [{"resourceName": "disk", "restartPolicy": "NotRequired"}]}),
    ),
    (
        "resize with a restart where the pod never restarts",
        pod({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}, restartPolicy="Never"),
    ),
    (
        "resize without a restart where the pod never restarts",
        pod({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]}, restartPolicy="Never"),
    ),
    (
        "resize of one resource twice",
        pod({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2}),
    ),
    ("ephemeral containers", pod(ephemeralContainers=[box("debug")])),
    ("an empty list of ephemeral containers", pod(ephemeralContainers=[])),
    ("an ephemeral container aimed at nothing", pod(ephemeralContainers=[box("debug", targetContainerName="none")])),
    ("200 containers", pod(containers=[box(f"c{index}") for index in range(200)])),
]

INIT_CONTAINERS: Table = [
    ("a sound init container", _init(box("prepare"))),
    ("named as a container", _init(box("main"))),
    ("two of one name", _init(box("a"), box("a"))),
    ("two without names", _init({"image": "a"}, {"image": "b"})),
    ("without a name, as the container", pod({"name": ...}, initContainers=[{"image": "a"}])),
    ("no image", _init({"name": "prepare"})),
    ("an image with a blank after", _init(box("prepare", image="busybox "))),
    ("a native sidecar", _init(box("side", restartPolicy="Always"))),
    (
        "a native sidecar with every probe",
        _init(box("side", restartPolicy="Always", livenessProbe=_HOOK, readinessProbe=_HOOK, startupProbe=_HOOK)),
    ),
    (
        "a native sidecar with hooks",
        _init(box("side", restartPolicy="Always", lifecycle={"preStop": _HOOK, "postStart": _HOOK})),
    ),
    ("restartPolicy Never", _init(box("prepare", restartPolicy="Never"))),
    ("restartPolicy OnFailure", _init(box("prepare", restartPolicy="OnFailure"))),
    ("an empty restartPolicy", _init(box("prepare", restartPolicy=""))),
    ("an unknown restartPolicy", _init(box("prepare", restartPolicy="Sometimes"))),
    ("restartPolicy null", _init(box("prepare", restartPolicy=None))),
    (
        "a sidecar with restart rules",
        _init(
            box(
                "side",
                restartPolicy="Always",
                restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
            )
        ),
    ),
    (
        "restart rules without a policy",
        _init(
            box("prepare", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}])
        ),
    ),
    (
        "restart rules with Never",
        _init(
            box(
                "prepare",
                restartPolicy="Never",
                restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
            )
        ),
    ),
    ("a liveness probe", _init(box("prepare", livenessProbe=_HOOK))),
    ("a readiness probe", _init(box("prepare", readinessProbe=_HOOK))),
    ("a startup probe", _init(box("prepare", startupProbe=_HOOK))),
    ("an empty liveness probe", _init(box("prepare", livenessProbe={}))),
    ("a lifecycle", _init(box("prepare", lifecycle={"preStop": _HOOK}))),
    ("an empty lifecycle", _init(box("prepare", lifecycle={}))),
    ("an empty lifecycle of a sidecar", _init(box("side", restartPolicy="Always", lifecycle={}))),
    ("a probe with restartPolicy OnFailure", _init(box("prepare", restartPolicy="OnFailure", livenessProbe=_HOOK))),
    ("a bad probe of a sidecar", _init(box("side", restartPolicy="Always", livenessProbe={"periodSeconds": 1}))),
    ("a resize policy", _init(box("prepare", resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]))),
    (
        "a resize policy with a restart",
        _init(box("prepare", resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}])),
    ),
    (
        "a resize policy of a sidecar",
        _init(
            box(
                "side",
                restartPolicy="Always",
                resizePolicy=[{"resourceName": "cpu", "restartPolicy": "RestartContainer"}],
            )
        ),
    ),
    ("an init container that is an empty object", _init({})),
    ("init containers null", pod(initContainers=None)),
]

NAMES: Table = [
    ("a host name of 63 characters", pod(hostname="a" * 63)),
    ("a host name of 64 characters", pod(hostname=_LONG)),
    ("a host name with a dot", pod(hostname="a.b")),
    ("an empty host name", pod(hostname="")),
    ("a subdomain with a dot", pod(subdomain="a.b")),
    ("a subdomain in capitals", pod(subdomain="Sub")),
    ("a host name override", pod(hostnameOverride="a.b")),
    ("an empty host name override", pod(hostnameOverride="")),
    ("a host name override of 64 characters", pod(hostnameOverride=f"{'a' * 31}.{'b' * 32}")),
    ("a host name override of 65 characters", pod(hostnameOverride=f"{'a' * 31}.{'b' * 33}")),
    ("a host name override of one label of 64 characters", pod(hostnameOverride=_LONG)),
    ("a host name override and setHostnameAsFQDN", pod(hostnameOverride="a", setHostnameAsFQDN=True)),
    ("a host name override and no setHostnameAsFQDN", pod(hostnameOverride="a", setHostnameAsFQDN=False)),
    ("a host name override and hostNetwork", pod(hostnameOverride="a", hostNetwork=True)),
    ("a service account with a dot", pod(serviceAccountName="a.b")),
    ("a service account in capitals", pod(serviceAccountName="Trainer")),
    ("only the old field of the service account, in capitals", pod(serviceAccount="Trainer")),
    ("both fields of the service account, different", pod(serviceAccount="a", serviceAccountName="b")),
    ("the old field wrong, the new one right", pod(serviceAccount="A", serviceAccountName="b")),
    ("the new field empty, the old one wrong", pod(serviceAccount="A", serviceAccountName="")),
    ("a node name in capitals", pod(nodeName="Node")),
    ("a node name with a dot", pod(nodeName="node.example.com")),
    ("a node name and scheduling gates", pod(nodeName="node", schedulingGates=[{"name": "a"}])),
    ("an image pull secret without a name", pod(imagePullSecrets=[{}])),
    ("an image pull secret with an empty name", pod(imagePullSecrets=[{"name": ""}])),
    ("two image pull secrets of one name", pod(imagePullSecrets=[{"name": "a"}, {"name": "a"}])),
    ("an image pull secret in capitals", pod(imagePullSecrets=[{"name": "A B"}])),
    ("an image pull secret that is null", pod(imagePullSecrets=[None])),
]

METADATA: Table = [
    ("a label with an empty value", pod(metadata={"labels": {"a": ""}})),
    ("a label with a null value", pod(metadata={"labels": {"a": None}})),
    ("a label with a blank in the value", pod(metadata={"labels": {"a": "b c"}})),
    ("a label value of 64 characters", pod(metadata={"labels": {"a": _LONG}})),
    ("a label key with two slashes", pod(metadata={"labels": {"a/b/c": "d"}})),
    ("a label key with a prefix in capitals", pod(metadata={"labels": {"A.b/c": "d"}})),
    ("an annotation key with a prefix in capitals", pod(metadata={"annotations": {"A.b/c": "d"}})),
    ("an annotation key in capitals", pod(metadata={"annotations": {"ABC": "d"}})),
    ("an annotation key with a blank", pod(metadata={"annotations": {"a b": "d"}})),
    ("an annotation key with a prefix of 254 characters", pod(metadata={"annotations": {"a." * 126 + "aa/b": "c"}})),
    ("annotations of 256 KiB", pod(metadata={"annotations": {"a": "x" * (262144 - 1)}})),
    ("annotations of one byte more than 256 KiB", pod(metadata={"annotations": {"a": "x" * 262144}})),
    ("annotations of 256 KiB in characters of two bytes", pod(metadata={"annotations": {"a": "ä" * 131072}})),
    ("a mirror pod without a node", pod(metadata={"annotations": {"kubernetes.io/config.mirror": "x"}})),
    ("a mirror pod with a node", pod(metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}, nodeName="n")),
    (
        "a mirror pod with resource claims",
        pod(
            metadata={"annotations": {"kubernetes.io/config.mirror": "x"}},
            nodeName="n",
            resourceClaims=[{"name": "a", "resourceClaimName": "b"}],
        ),
    ),
    ("a deletion cost", pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "10"}})),
    (
        "a deletion cost with a sign",
        pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "+10"}}),
    ),
    (
        "a deletion cost with a leading zero",
        pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "010"}}),
    ),
    ("a deletion cost of -0", pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-0"}})),
    (
        "a deletion cost that is text",
        pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "much"}}),
    ),
    ("an empty deletion cost", pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": ""}})),
    (
        "a deletion cost beyond 32 bits",
        pod(metadata={"annotations": {"controller.kubernetes.io/pod-deletion-cost": "2147483648"}}),
    ),
    (
        "tolerations in an annotation",
        pod(
            metadata={"annotations": {"scheduler.alpha.kubernetes.io/tolerations": '[{"key":"a","operator":"Exists"}]'}}
        ),
    ),
    (
        "tolerations in an annotation that is no JSON",
        pod(metadata={"annotations": {"scheduler.alpha.kubernetes.io/tolerations": "["}}),
    ),
    (
        "bad tolerations in an annotation",
        pod(metadata={"annotations": {"scheduler.alpha.kubernetes.io/tolerations": '[{"key":"a b"}]'}}),
    ),
    (
        "a seccomp annotation",
        pod(metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}}),
    ),
    (
        "an unknown seccomp annotation",
        pod(metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "none"}}),
    ),
    (
        "a seccomp annotation of a file",
        pod(metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "localhost/a"}}),
    ),
    (
        "a seccomp annotation of a file above",
        pod(metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "localhost/../a"}}),
    ),
    (
        "a seccomp annotation of a container",
        pod(metadata={"annotations": {"container.seccomp.security.alpha.kubernetes.io/main": "unconfined"}}),
    ),
    (
        "an unknown seccomp annotation of a container",
        pod(metadata={"annotations": {"container.seccomp.security.alpha.kubernetes.io/main": "none"}}),
    ),
    (
        "a seccomp annotation of no container",
        pod(metadata={"annotations": {"container.seccomp.security.alpha.kubernetes.io/other": "none"}}),
    ),
    (
        "a seccomp annotation and field that differ",
        pod(
            metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"}},
            securityContext={"seccompProfile": {"type": "RuntimeDefault"}},
        ),
    ),
    (
        "a seccomp annotation and field that agree",
        pod(
            metadata={"annotations": {"seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}},
            securityContext={"seccompProfile": {"type": "RuntimeDefault"}},
        ),
    ),
    (
        "a seccomp annotation and field of a container that differ",
        pod(
            {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}},
            metadata={"annotations": {"container.seccomp.security.alpha.kubernetes.io/main": "unconfined"}},
        ),
    ),
    (
        "an AppArmor annotation",
        pod(metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "runtime/default"}}),
    ),
    (
        "an AppArmor annotation of no container",
        pod(metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/other": "runtime/default"}}),
    ),
    (
        "an unknown AppArmor annotation",
        pod(metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "none"}}),
    ),
    (
        "an empty AppArmor annotation",
        pod(metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": ""}}),
    ),
    (
        "an AppArmor annotation of a profile",
        pod(metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "localhost/one"}}),
    ),
    (
        "an AppArmor annotation of an init container",
        pod(
            metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/prepare": "unconfined"}},
            initContainers=[box("prepare")],
        ),
    ),
    (
        "an AppArmor annotation and field that differ",
        pod(
            {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}},
            metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}},
        ),
    ),
    (
        "an AppArmor annotation and field of the pod that differ",
        pod(
            metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}},
            securityContext={"appArmorProfile": {"type": "RuntimeDefault"}},
        ),
    ),
    (
        "AppArmor profiles in annotation and field that differ",
        pod(
            {"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "two"}}},
            metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "localhost/one"}},
        ),
    ),
]

from typing import Any

from jobgate.kinds.common.pod import metadata
from tests.kinds.common.pod.verdict import Case, findings, judged, pod

SECCOMP = "container.seccomp.security.alpha.kubernetes.io/main"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/main"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
COST = "controller.kubernetes.io/pod-deletion-cost"
MIRROR = "kubernetes.io/config.mirror"


def annotated(annotations: dict[str, Any], spec: dict[str, Any] | None = None) -> dict[str, Any]:
    return pod(spec, annotations=annotations)


def profiled(annotations: dict[str, Any], field: str, **profile: str) -> dict[str, Any]:
    container = {"name": "main", "image": "i", "securityContext": {field: profile}}
    return annotated(annotations, {"containers": [container]})


NAMES: list[Case] = [
    ("a name is a domain", pod(name="a.b"), []),
    ("of lower case", pod(name="A"), ['metadata.name: Invalid value: "A"']),
    ("generateName begins one", pod(name=None, generateName="worker-"), []),
    ("it may be longer than what is kept", pod(name=None, generateName="a" * 100), []),
    (
        "it does not begin with a dash",
        pod(name=None, generateName="-a"),
        ['metadata.generateName: Invalid value: "-a"'],
    ),
    ("a dot may not end it", pod(name=None, generateName="a."), ['metadata.generateName: Invalid value: "a."']),
    ("labels are labels", pod(labels={"app": "a", "example.com/b": ""}), []),
    (
        "in key and value",
        pod(labels={"a b": "c", "d": "e f"}),
        ['metadata.labels: Invalid value: "a b"', 'metadata.labels[d]: Invalid value: "e f"'],
    ),
    ("finalizers have qualified names", pod(finalizers=["example.com/wait", "orphan"]), []),
    ("all of them", pod(finalizers=["a b"]), ['metadata.finalizers[0]: Invalid value: "a b"']),
    (
        "and do not contradict each other",
        pod(finalizers=["orphan", "foregroundDeletion"]),
        ["metadata.finalizers: Invalid value"],
    ),
]

ANNOTATIONS: list[Case] = [
    ("an annotation may be any text", annotated({"a": "any text\n", "Example.com/B": ""}), []),
    ("its key is a name", annotated({"a b": ""}), ['metadata.annotations: Invalid value: "a b"']),
    ("with one slash", annotated({"a/b/c": ""}), ['metadata.annotations: Invalid value: "a/b/c"']),
    ("256 KiB are the most", annotated({"a": "x" * (256 * 1024 - 1)}), []),
    (
        "and no byte more",
        annotated({"a": "x" * (256 * 1024 - 2) + "é"}),
        ['metadata.annotations: Too long: "262145 bytes": may not be more than 262144 bytes'],
    ),
    ("a mirror pod is on a node", annotated({MIRROR: "x"}, {"nodeName": "n"}), []),
    ("or is none", annotated({MIRROR: "x"}), [f"metadata.annotations[{MIRROR}]: Forbidden"]),
    *(
        (f"a deletion cost may be {cost}", annotated({COST: cost}), [])
        for cost in ("0", "-0", "10", "-2147483648", "2147483647", "-0000000000007")
    ),
    *(
        (f"a deletion cost may not be {cost!r}", annotated({COST: cost}), [f"metadata.annotations[{COST}]: Forbidden"])
        for cost in ("", "+1", "007", "2147483648", "-2147483649", "1.5", "-", "1e3", "9" * 5000, "--1", "²")
    ),
    ("tolerations may be an annotation", annotated({TOLERATIONS: '[{"Key": "gpu", "operator": "Exists"}]'}), []),
    ("or an empty one", annotated({TOLERATIONS: ""}), []),
    ("but are JSON", annotated({TOLERATIONS: "gpu"}), [f"metadata.annotations[{TOLERATIONS}]: Forbidden"]),
    ("a list", annotated({TOLERATIONS: "{}"}), [f"metadata.annotations[{TOLERATIONS}]: Forbidden"]),
    (
        "of sound ones",
        annotated({TOLERATIONS: '[{"key": "gpu", "operator": "Near"}]'}),
        [f"metadata.annotations[{TOLERATIONS}][0].operator: Unsupported value"],
    ),
]

PROFILES: list[Case] = [
    *(
        (f"a seccomp profile may be {profile}", annotated({SECCOMP: profile, SECCOMP_POD: profile}), [])
        for profile in ("runtime/default", "docker/default", "unconfined", "localhost/a/b.json")
    ),
    *(
        (
            f"a seccomp profile may not be {profile!r}",
            annotated({SECCOMP: profile}),
            [f"metadata.annotations[{SECCOMP}]: Forb"],
        )
        for profile in ("", "none", "localhost//a", "localhost/../a")
    ),
    (
        "the field may say the same as the annotation",
        profiled({SECCOMP: "docker/default"}, "seccompProfile", type="RuntimeDefault"),
        [],
    ),
    (
        "but nothing else",
        profiled({SECCOMP: "unconfined"}, "seccompProfile", type="RuntimeDefault"),
        ["spec.containers[0].securityContext.seccompProfile.type: Forbidden"],
    ),
    (
        "nor another profile of the node",
        profiled({SECCOMP: "localhost/a"}, "seccompProfile", type="Localhost", localhostProfile="b"),
        ["spec.containers[0].securityContext.seccompProfile: Forbidden"],
    ),
    (
        "the pod's field neither",
        annotated({SECCOMP_POD: "unconfined"}, {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}),
        ["spec.securityContext.seccompProfile.type: Forbidden"],
    ),
    ("an AppArmor profile may be an annotation", annotated({APPARMOR: "runtime/default"}), []),
    ("or an empty one", annotated({APPARMOR: ""}), []),
    ("or of the node", annotated({APPARMOR: "localhost/mine"}), []),
    ("but not any text", annotated({APPARMOR: "mine"}), [f"metadata.annotations[{APPARMOR}]: Forbidden"]),
    (
        "it is of a container that there is",
        annotated({APPARMOR + "2": "unconfined"}),
        [f'metadata.annotations[{APPARMOR}2]: Invalid value: "main2"'],
    ),
    (
        "and says what the field says",
        profiled({APPARMOR: "unconfined"}, "appArmorProfile", type="RuntimeDefault"),
        ["spec.containers[0].securityContext.appArmorProfile.type: Forbidden"],
    ),
    (
        "unless the field is the whole pod's",
        annotated({APPARMOR: "unconfined"}, {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}),
        [],
    ),
    (
        "an empty one cannot stand in for the container's field, and so contradicts the pod's",
        annotated({APPARMOR: ""}, {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}),
        ["spec.containers[0].securityContext.appArmorProfile.type: Forbidden"],
    ),
]

CASES = NAMES + ANNOTATIONS + PROFILES


test_pods_have_names_that_can_be = judged(metadata.FAMILY.check, NAMES)
test_annotations_are_small_and_those_of_kubernetes_are_sound = judged(metadata.FAMILY.check, ANNOTATIONS)
test_security_profiles_in_annotations_agree_with_the_fields = judged(metadata.FAMILY.check, PROFILES)


def test_a_namespace_is_a_label() -> None:
    assert findings(metadata.FAMILY.check, pod(namespace="a.b"))[0].startswith(
        'metadata.namespace: Invalid value: "a.b"'
    )


def test_no_message_shows_what_an_annotation_says() -> None:
    secret = "tell-nobody"
    keys = (SECCOMP, SECCOMP_POD, APPARMOR, TOLERATIONS, COST, MIRROR, "a b")
    found = findings(metadata.FAMILY.check, annotated(dict.fromkeys(keys, secret)))
    assert len(found) == len(keys)
    assert not [says for says in found if secret in says]

from typing import Any

from jobgate.podchecks import scheduling
from tests.podchecks.verdict import Case, judged, pod


def claiming(*claims: dict[str, Any]) -> dict[str, Any]:
    return pod({"resourceClaims": list(claims)})


#: The classes and runtimes that these name are no cluster's own: what they say can be judged without one.
CASES: list[Case] = [
    ("an empty pod is valid", pod(), []),
    ("any scheduler may be named", pod({"schedulerName": "My Scheduler!"}), []),
    ("restartPolicy is one of three", pod({"restartPolicy": "OnFailure"}), []),
    ("or empty, which is Always", pod({"restartPolicy": ""}), []),
    (
        "and no other",
        pod({"restartPolicy": "Sometimes"}),
        ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ),
    ("a grace period may be any", pod({"terminationGracePeriodSeconds": -5}), []),
    ("a deadline may be far away", pod({"activeDeadlineSeconds": 2**31 - 1}), []),
    (
        "not farther than 31 bits",
        pod({"activeDeadlineSeconds": 2**31}),
        ["spec.activeDeadlineSeconds: Invalid value: 2147483648"],
    ),
    (
        "a deadline is in the future",
        pod({"activeDeadlineSeconds": 0}),
        ["spec.activeDeadlineSeconds: Invalid value: 0"],
    ),
    (
        "a service account is named by a domain",
        pod({"serviceAccountName": "Robot"}),
        ['spec.serviceAccountName: Invalid value: "Robot"'],
    ),
    ("by its old field too", pod({"serviceAccount": "Robot"}), ['spec.serviceAccount: Invalid value: "Robot"']),
    ("which does not count beside the new one", pod({"serviceAccountName": "robot", "serviceAccount": "Robot"}), []),
    ("a pull secret may be named anyhow", pod({"imagePullSecrets": [{"name": "Any Thing"}, {}]}), []),
    (
        "a priority class is named by a domain",
        pod({"priorityClassName": "High"}),
        ['spec.priorityClassName: Invalid value: "High"'],
    ),
    ("a system class says how much", pod({"priorityClassName": "system-node-critical", "priority": 2000001000}), []),
    (
        "and the number says the same",
        pod({"priorityClassName": "system-node-critical", "priority": 1}),
        ["spec.priority: Forbidden: must match the priority class, which has 2000001000"],
    ),
    ("no class is worth nothing", pod({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}), []),
    (
        "and no number makes it more",
        pod({"priority": 10}),
        ["spec.priority: Forbidden: must match the priority class, which has 0"],
    ),
    (
        "nor peaceful",
        pod({"preemptionPolicy": "Never"}),
        ["spec.preemptionPolicy: Forbidden: must match the priority class"],
    ),
    (
        "a policy is one of two",
        pod({"preemptionPolicy": "Maybe"}),
        ['spec.preemptionPolicy: Unsupported value: "Maybe"'],
    ),
    ("an empty runtime class is refused", pod({"runtimeClassName": ""}), ['spec.runtimeClassName: Invalid value: ""']),
    ("so is a bad name", pod({"runtimeClassName": "K_VM"}), ['spec.runtimeClassName: Invalid value: "K_VM"']),
    (
        "overhead comes from a runtime class",
        pod({"overhead": {"cpu": "100m"}}),
        ["spec.overhead: Forbidden: is set from the runtime class"],
    ),
    ("gates have names", pod({"schedulingGates": [{"name": "quota"}, {"name": "example.com/queue"}]}), []),
    (
        "of their own",
        pod({"schedulingGates": [{"name": "a b"}, {"name": "q"}, {"name": "q"}]}),
        ['spec.schedulingGates[0].name: Invalid value: "a b"', 'spec.schedulingGates[2].name: Duplicate value: "q"'],
    ),
    ("readiness waits for conditions", pod({"readinessGates": [{"conditionType": "example.com/ready"}]}), []),
    (
        "that have names",
        pod({"readinessGates": [{"conditionType": ""}]}),
        ['spec.readinessGates[0].conditionType: Invalid value: ""'],
    ),
    ("a claim names a claim", claiming({"name": "gpu", "resourceClaimName": "my-gpu"}), []),
    ("or a template", claiming({"name": "gpu", "resourceClaimTemplateName": "gpus"}), []),
    (
        "not both",
        claiming({"name": "gpu", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}),
        ["spec.resourceClaims[0]: Invalid value: "],
    ),
    ("nor neither", claiming({"name": "gpu"}), ["spec.resourceClaims[0]: Invalid value: {}: must set exactly one"]),
    (
        "claims have names of their own",
        claiming(*({"name": name, "resourceClaimName": "a"} for name in ("gpu", "gpu", "", "a.b"))),
        [
            "spec.resourceClaims[2].name: Required value",
            'spec.resourceClaims[3].name: Invalid value: "a.b"',
            'spec.resourceClaims[1].name: Duplicate value: "gpu"',
        ],
    ),
    (
        "and what they name has one that can be",
        claiming({"name": "gpu", "resourceClaimTemplateName": ""}),
        ['spec.resourceClaims[0].resourceClaimTemplateName: Invalid value: ""'],
    ),
    ("a system is linux or windows", pod({"os": {"name": "linux"}}), []),
    ("and no other", pod({"os": {"name": "plan9"}}), ['spec.os.name: Unsupported value: "plan9"']),
    ("and has a name", pod({"os": {"name": ""}}), ["spec.os.name: Required value"]),
]


test_a_pod_can_be_scheduled_and_run = judged(scheduling.FAMILY.check, CASES)

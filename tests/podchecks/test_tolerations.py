from typing import Any

from jobgate.podchecks import placement
from tests.podchecks.verdict import Case, judged, pod


def tolerating(**toleration: Any) -> dict[str, Any]:
    return pod({"tolerations": [toleration]})


AT = "spec.tolerations[0]"

CASES: list[Case] = [
    ("none is fine", pod({"tolerations": None}), []),
    ("Equal compares a value", tolerating(key="gpu", operator="Equal", value="yes", effect="NoSchedule"), []),
    ("Equal is the default", tolerating(key="gpu", value="yes"), []),
    ("an empty operator is the default", tolerating(key="gpu", operator="", value=""), []),
    ("Exists takes no value", tolerating(key="gpu", operator="Exists"), []),
    ("everything is tolerated by Exists alone", tolerating(operator="Exists"), []),
    (
        "Exists with a value is refused",
        tolerating(key="gpu", operator="Exists", value="yes"),
        [f'{AT}.value: Invalid value: "yes": must be empty when the operator is Exists'],
    ),
    ("no key means Exists", tolerating(value=""), [f'{AT}.operator: Invalid value: "": must be Exists']),
    (
        "no key with Equal is refused",
        tolerating(operator="Equal"),
        [f'{AT}.operator: Invalid value: "Equal": must be Exists'],
    ),
    ("a key is a label's", tolerating(key="gpu!", operator="Exists"), [f'{AT}.key: Invalid value: "gpu!"']),
    ("a value is a label's", tolerating(key="gpu", value="a b"), [f'{AT}.value: Invalid value: "a b"']),
    (
        "comparing numbers is behind a gate that is off",
        tolerating(key="gpu", operator="Gt", value="1"),
        [f'{AT}.operator: Unsupported value: "Gt": supported values: "Equal", "Exists"'],
    ),
    (
        "another effect is refused",
        tolerating(operator="Exists", effect="Evict"),
        [f'{AT}.effect: Unsupported value: "Evict"'],
    ),
    ("eviction can be put off", tolerating(operator="Exists", effect="NoExecute", tolerationSeconds=-1), []),
    (
        "nothing else can",
        tolerating(operator="Exists", effect="NoSchedule", tolerationSeconds=60),
        [f'{AT}.effect: Invalid value: "NoSchedule": must be NoExecute'],
    ),
    (
        "not even with any effect",
        tolerating(operator="Exists", tolerationSeconds=60),
        [f'{AT}.effect: Invalid value: "": must be NoExecute'],
    ),
]


test_tolerations_are_ones_that_taints_can_match = judged(placement.FAMILY.check, CASES)

from typing import Any

from jobgate.podchecks import placement
from tests.podchecks.verdict import Case, judged, pod

AT = "spec.topologySpreadConstraints"
ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


def spreading(labels: dict[str, str] | None = None, **constraint: Any) -> dict[str, Any]:
    return pod({"topologySpreadConstraints": [{**ZONE, **constraint}]}, labels=labels or {})


CASES: list[Case] = [
    ("none is fine", pod({"topologySpreadConstraints": []}), []),
    ("a skew, a key and an action are enough", spreading(), []),
    ("a skew of 0 is refused", spreading(maxSkew=0), [f"{AT}[0].maxSkew: Invalid value: 0: must be at least 1"]),
    ("a skew below 0 is refused", spreading(maxSkew=-2), [f"{AT}[0].maxSkew: Invalid value: -2"]),
    ("an empty key is refused", spreading(topologyKey=""), [f"{AT}[0].topologyKey: Required value"]),
    ("any other key is taken", spreading(topologyKey="not a label/at/all"), []),
    (
        "another action is refused",
        spreading(whenUnsatisfiable="Never"),
        [f'{AT}[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"'],
    ),
    ("domains can be asked for", spreading(minDomains=2), []),
    ("at least one", spreading(minDomains=0), [f"{AT}[0].minDomains: Invalid value: 0: must be at least 1"]),
    (
        "only where pods would wait for them",
        spreading(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
        [f"{AT}[0].minDomains: Invalid value: 2: may only be set when whenUnsatisfiable is DoNotSchedule"],
    ),
    ("policies are Honor and Ignore", spreading(nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor"), []),
    (
        "and no other",
        spreading(nodeAffinityPolicy="No", nodeTaintsPolicy=""),
        [f'{AT}[0].nodeAffinityPolicy: Unsupported value: "No"', f'{AT}[0].nodeTaintsPolicy: Unsupported value: ""'],
    ),
    (
        "the selector is well-formed",
        spreading(labelSelector={"matchLabels": {"a": "b c"}}),
        [f'{AT}[0].labelSelector.matchLabels[a]: Invalid value: "b c"'],
    ),
    ("label keys add to the selector", spreading({"a": "b"}, labelSelector={}, matchLabelKeys=["a"]), []),
    ("which has to be there", spreading(matchLabelKeys=["a"]), [f"{AT}[0].matchLabelKeys: Forbidden"]),
    (
        "two constraints differ in key or action",
        pod({"topologySpreadConstraints": [ZONE, {**ZONE, "whenUnsatisfiable": "ScheduleAnyway"}]}),
        [],
    ),
    (
        "or the second is refused",
        pod({"topologySpreadConstraints": [ZONE, {**ZONE, "maxSkew": 5}]}),
        [f'{AT}[1]: Duplicate value: "{{zone, DoNotSchedule}}"'],
    ),
]


test_spread_constraints_are_ones_that_the_scheduler_can_keep = judged(placement.FAMILY.check, CASES)

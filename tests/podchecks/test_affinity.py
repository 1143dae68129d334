from typing import Any

from jobgate.podchecks import placement
from tests.podchecks.verdict import Case, judged, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODE = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"
TERM = f"spec.affinity.podAntiAffinity.{REQUIRED}[0]"


def nodes(**term: Any) -> dict[str, Any]:
    return pod({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}})


def expression(**requirement: Any) -> dict[str, Any]:
    return nodes(matchExpressions=[requirement])


def preferring(weight: int, **term: Any) -> dict[str, Any]:
    return pod({"affinity": {"nodeAffinity": {PREFERRED: [{"weight": weight, "preference": term}]}}})


def pods(labels: dict[str, str] | None = None, **term: Any) -> dict[str, Any]:
    spec = {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "kubernetes.io/hostname", **term}]}}}
    return pod(spec, labels=labels or {})


NODE_CASES: list[Case] = [
    ("no affinity is fine", pod({"affinity": {}}), []),
    ("null is no affinity", pod({"affinity": {"nodeAffinity": None, "podAffinity": None}}), []),
    ("In has values", expression(key="zone", operator="In", values=["a", "b"]), []),
    (
        "In without values is refused",
        expression(key="zone", operator="In", values=[]),
        [f"{NODE}.matchExpressions[0].values: Required value"],
    ),
    ("Exists has none", expression(key="zone", operator="Exists"), []),
    (
        "Exists with values is refused",
        expression(key="zone", operator="Exists", values=["a"]),
        [f"{NODE}.matchExpressions[0].values: Forbidden"],
    ),
    ("Gt compares with one value", expression(key="cores", operator="Gt", values=["8"]), []),
    (
        "Gt with two is refused",
        expression(key="cores", operator="Gt", values=["8", "9"]),
        [f"{NODE}.matchExpressions[0].values: Required value: must have exactly one"],
    ),
    ("what Gt compares with need not be a number", expression(key="cores", operator="Gt", values=["many"]), []),
    (
        "another operator is refused",
        expression(key="zone", operator="Equals", values=["a"]),
        [f'{NODE}.matchExpressions[0].operator: Invalid value: "Equals"'],
    ),
    (
        "a bad key is refused",
        expression(key="zone!", operator="Exists"),
        [f'{NODE}.matchExpressions[0].key: Invalid value: "zone!"'],
    ),
    (
        "a value that no label can have is refused where it is required",
        expression(key="zone", operator="In", values=["a b"]),
        [f'{NODE}.matchExpressions[0].values[0]: Invalid value: "a b"'],
    ),
    (
        "and let be where it is preferred",
        preferring(1, matchExpressions=[{"key": "zone", "operator": "In", "values": ["a b"]}]),
        [],
    ),
    ("a term may be empty", nodes(), []),
    (
        "a selector without terms is refused",
        pod({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}}),
        [f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms: Required value"],
    ),
    ("a weight of 100 is the most", preferring(100), []),
    (
        "a weight of 0 is refused",
        preferring(0),
        [f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be between 1 and 100"],
    ),
    (
        "a weight of 101 is refused",
        preferring(101),
        [f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 101"],
    ),
    (
        "a preferred term is well-formed too",
        preferring(1, matchExpressions=[{"key": "zone", "operator": "In"}]),
        [f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].values: Required value"],
    ),
    (
        "a node is matched by name",
        nodes(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["n1"]}]),
        [],
    ),
]

POD_CASES: list[Case] = [
    ("a term needs a topology key only", pods(), []),
    ("an empty topology key is refused", pods(topologyKey=""), [f"{TERM}.topologyKey: Required value"]),
    (
        "a topology key is a label's",
        pods(topologyKey="rack/of/nodes"),
        [f'{TERM}.topologyKey: Invalid value: "rack/of/nodes"'],
    ),
    ("namespaces are named", pods(namespaces=["team-a"]), []),
    (
        "by names that they can have",
        pods(namespaces=["team-a", "Team_B"]),
        [f'{TERM}.namespaces[1]: Invalid value: "Team_B"'],
    ),
    ("selectors match labels", pods(labelSelector={"matchLabels": {"a": "b"}}, namespaceSelector={}), []),
    (
        "with well-formed pairs",
        pods(labelSelector={"matchLabels": {"a": "b c"}}),
        [f'{TERM}.labelSelector.matchLabels[a]: Invalid value: "b c"'],
    ),
    (
        "and expressions",
        pods(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
        [f'{TERM}.namespaceSelector.matchExpressions[0].operator: Invalid value: "Gt"'],
    ),
    (
        "that have values where they need them",
        pods(labelSelector={"matchExpressions": [{"key": "a", "operator": "NotIn"}]}),
        [f"{TERM}.labelSelector.matchExpressions[0].values: Required value"],
    ),
    (
        "and none where they do not",
        pods(labelSelector={"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": ["b"]}]}),
        [f"{TERM}.labelSelector.matchExpressions[0].values: Forbidden"],
    ),
    (
        "of the format of labels",
        pods(labelSelector={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "?"]}]}),
        [f'{TERM}.labelSelector.matchExpressions[0].values[1]: Invalid value: "?"'],
    ),
    ("label keys add to a selector", pods({"a": "b"}, labelSelector={}, matchLabelKeys=["a"]), []),
    (
        "that has to be there",
        pods(matchLabelKeys=["a"], mismatchLabelKeys=["b"]),
        [f"{TERM}.matchLabelKeys: Forbidden", f"{TERM}.mismatchLabelKeys: Forbidden"],
    ),
    (
        "label keys are label keys",
        pods(labelSelector={}, matchLabelKeys=["a b"]),
        [f'{TERM}.matchLabelKeys[0]: Invalid value: "a b"'],
    ),
    (
        "and let be where it has not",
        pods(labelSelector={"matchLabels": {"a": "b"}}, matchLabelKeys=["a"]),
        [],
    ),
    (
        "a key may be reported by one expression where the pod has no such label",
        pods(labelSelector={"matchExpressions": [{"key": "a", "operator": "Exists"}]}, matchLabelKeys=["a"]),
        [],
    ),
    ("and let be where it has not the label", pods(labelSelector={}, matchLabelKeys=["a", "a"]), []),
    (
        "no key is to match and to mismatch",
        pods(labelSelector={}, matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
        [f'{TERM}.matchLabelKeys[0]: Invalid value: "a": may not also be listed in mismatchLabelKeys'],
    ),
    (
        "a mismatched key may be reported by the selector",
        pods({"a": "b"}, labelSelector={"matchLabels": {"a": "b"}}, mismatchLabelKeys=["a"]),
        [],
    ),
    (
        "a preferred term is a term with a weight",
        pod({"affinity": {"podAffinity": {PREFERRED: [{"weight": -1, "podAffinityTerm": {"topologyKey": ""}}]}}}),
        [
            f"spec.affinity.podAffinity.{PREFERRED}[0].weight: Invalid value: -1",
            f"spec.affinity.podAffinity.{PREFERRED}[0].podAffinityTerm.topologyKey: Required value",
        ],
    ),
]

CASES = NODE_CASES + POD_CASES


test_nodes_are_chosen_by_well_formed_terms = judged(placement.FAMILY.check, NODE_CASES)
test_pods_are_chosen_by_well_formed_terms = judged(placement.FAMILY.check, POD_CASES)

"""Affinity, tolerations, topology spread and the rest of scheduling."""

from typing import Any

from bench.differential.pods.tricky.builder import Table, pod


def _required(*terms: Any) -> dict[str, Any]:
    return pod(
        affinity={
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        }
    )


def _node(key: str, operator: str, *values: str) -> dict[str, Any]:
    return _required({"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]})


def _field(key: str, operator: str, *values: str) -> dict[str, Any]:
    return _required({"matchFields": [{"key": key, "operator": operator, "values": list(values)}]})


def _preferred(**term: Any) -> dict[str, Any]:
    return pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}})


def _near(kind: str = "podAffinity", **term: Any) -> dict[str, Any]:
    return pod(affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", **term}]}})


def _selector(key: str, operator: str, *values: str) -> dict[str, Any]:
    return _near(labelSelector={"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]})


_APP = {"matchLabels": {"app": "a"}}

AFFINITY: Table = [
    ("empty", pod(affinity={})),
    ("no terms", _required()),
    ("an empty term", _required({})),
    (
        "terms that are null",
        pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": None}}}),
    ),
    ("an empty requirement", pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}})),
    ("In without values", _node("a", "In")),
    ("Exists with a value", _node("a", "Exists", "b")),
    ("Gt with two values", _node("a", "Gt", "1", "2")),
    ("Gt with text", _node("a", "Gt", "many")),
    ("Lt with an empty value", _node("a", "Lt", "")),
    ("an unknown operator", _node("a", "Like", "b")),
    ("an empty operator", _node("a", "", "b")),
    ("an empty key", _node("", "In", "b")),
    ("a key with two slashes", _node("a/b/c", "In", "b")),
    ("a value of 64 characters", _node("a", "In", "v" * 64)),
    ("a value with a blank", _node("a", "In", "b c")),
    ("one value twice", _node("a", "In", "b", "b")),
    ("a field", _field("metadata.name", "In", "node")),
    ("an unknown field", _field("metadata.labels", "In", "node")),
    ("a field with two values", _field("metadata.name", "In", "a", "b")),
    ("a field with no value", _field("metadata.name", "In")),
    ("a field that exists", _field("metadata.name", "Exists")),
    ("a field with a broken node name", _field("metadata.name", "In", "Node A")),
    (
        "a preference of weight 0",
        _preferred(weight=0, preference={"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
    ),
    (
        "a preference of weight 101",
        _preferred(weight=101, preference={"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
    ),
    (
        "a preference without a weight",
        _preferred(preference={"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
    ),
    ("an empty preference", _preferred(weight=1, preference={})),
    (
        "a preference with a broken value",
        _preferred(weight=1, preference={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]}),
    ),
    (
        "a preference with Exists and a value",
        _preferred(weight=1, preference={"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}),
    ),
    ("near pods by nothing", _near()),
    ("near pods by an empty selector", _near(labelSelector={})),
    ("near pods without a topology key", _near(topologyKey="", labelSelector=_APP)),
    ("near pods with a broken topology key", _near(topologyKey="a b", labelSelector=_APP)),
    ("near pods of a namespace in capitals", _near(labelSelector=_APP, namespaces=["A"])),
    ("near pods of an empty namespace", _near(labelSelector=_APP, namespaces=[""])),
    (
        "near pods of a broken selector of namespaces",
        _near(labelSelector=_APP, namespaceSelector={"matchLabels": {"a b": "c"}}),
    ),
    ("near pods In nothing", _selector("a", "In")),
    ("near pods Exists something", _selector("a", "Exists", "b")),
    ("near pods Gt", _selector("a", "Gt", "1")),
    ("near pods with a broken key", _selector("a b", "Exists")),
    ("near pods with a broken value", _selector("a", "In", "b c")),
    ("near pods with a broken label", _near(labelSelector={"matchLabels": {"a": "b c"}})),
    ("near pods by a label key", _near(labelSelector=_APP, matchLabelKeys=["rev"])),
    ("near pods by a label key without a selector", _near(matchLabelKeys=["rev"])),
    ("near pods by a label key with a null selector", _near(matchLabelKeys=["rev"], labelSelector=None)),
    ("near pods by a broken label key", _near(labelSelector=_APP, matchLabelKeys=["a b"])),
    ("near pods by one label key twice", _near(labelSelector=_APP, matchLabelKeys=["a", "a"])),
    ("near pods by a label key of the selector", _near(labelSelector=_APP, matchLabelKeys=["app"])),
    (
        "near pods by a label key of the selector that the pod has",
        pod(
            metadata={"labels": {"app": "a"}},
            affinity={
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "z", "labelSelector": _APP, "matchLabelKeys": ["app"]}
                    ]
                }
            },
        ),
    ),
    (
        "near pods by a label key of an expression",
        _near(labelSelector={"matchExpressions": [{"key": "app", "operator": "Exists"}]}, matchLabelKeys=["app"]),
    ),
    (
        "near pods by a label key of two expressions that the pod has",
        pod(
            metadata={"labels": {"app": "a"}},
            affinity={
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "topologyKey": "z",
                            "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                            "matchLabelKeys": ["app"],
                        }
                    ]
                }
            },
        ),
    ),
    (
        "near pods by a mismatch key of the selector that the pod has",
        pod(
            metadata={"labels": {"app": "a"}},
            affinity={
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "z", "labelSelector": _APP, "mismatchLabelKeys": ["app"]}
                    ]
                }
            },
        ),
    ),
    (
        "near pods by a key that matches and mismatches",
        _near(labelSelector=_APP, matchLabelKeys=["a"], mismatchLabelKeys=["a"]),
    ),
    ("near pods by a mismatch without a selector", _near(mismatchLabelKeys=["a"])),
    ("away from pods by nothing", _near("podAntiAffinity")),
    ("away from pods without a topology key", _near("podAntiAffinity", topologyKey="")),
    (
        "a preferred nearness of weight 0",
        pod(
            affinity={
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 0, "podAffinityTerm": {"topologyKey": "z"}}
                    ]
                }
            }
        ),
    ),
    (
        "a preferred nearness without a term",
        pod(affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}),
    ),
]


def _tolerate(**toleration: Any) -> dict[str, Any]:
    return pod(tolerations=[toleration])


TOLERATIONS: Table = [
    ("an empty toleration", _tolerate()),
    ("Exists of everything", _tolerate(operator="Exists")),
    ("Equal of everything", _tolerate(operator="Equal")),
    ("a value without a key", _tolerate(value="a")),
    ("Exists with a value", _tolerate(key="a", operator="Exists", value="b")),
    ("Exists with an empty value", _tolerate(key="a", operator="Exists", value="")),
    ("an unknown operator", _tolerate(key="a", operator="In")),
    ("Gt", _tolerate(key="a", operator="Gt", value="1")),
    ("Lt", _tolerate(key="a", operator="Lt", value="1")),
    ("Gt with text", _tolerate(key="a", operator="Gt", value="x")),
    ("a value with a blank", _tolerate(key="a", value="b c")),
    ("a value of 64 characters", _tolerate(key="a", value="v" * 64)),
    ("a key with two slashes", _tolerate(key="a/b/c", operator="Exists")),
    ("an unknown effect", _tolerate(key="a", operator="Exists", effect="Never")),
    ("an empty effect", _tolerate(key="a", operator="Exists", effect="")),
    ("seconds with NoSchedule", _tolerate(key="a", operator="Exists", effect="NoSchedule", tolerationSeconds=1)),
    ("seconds without an effect", _tolerate(key="a", operator="Exists", tolerationSeconds=1)),
    ("seconds with NoExecute", _tolerate(key="a", operator="Exists", effect="NoExecute", tolerationSeconds=1)),
    (
        "negative seconds with NoExecute",
        _tolerate(key="a", operator="Exists", effect="NoExecute", tolerationSeconds=-1),
    ),
    ("one toleration twice", pod(tolerations=[{"operator": "Exists"}] * 2)),
    ("tolerations null", pod(tolerations=None)),
]


def _spread(**constraint: Any) -> dict[str, Any]:
    full = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": _APP,
        **constraint,
    }
    return pod(topologySpreadConstraints=[{name: value for name, value in full.items() if value is not ...}])


SPREAD: Table = [
    ("a skew of 0", _spread(maxSkew=0)),
    ("no skew", _spread(maxSkew=...)),
    ("a negative skew", _spread(maxSkew=-1)),
    ("no topology key", _spread(topologyKey=...)),
    ("an empty topology key", _spread(topologyKey="")),
    ("a broken topology key", _spread(topologyKey="a b")),
    ("no action", _spread(whenUnsatisfiable=...)),
    ("an unknown action", _spread(whenUnsatisfiable="Wait")),
    ("domains of 0", _spread(minDomains=0)),
    ("domains with ScheduleAnyway", _spread(minDomains=1, whenUnsatisfiable="ScheduleAnyway")),
    ("an unknown affinity policy", _spread(nodeAffinityPolicy="Maybe")),
    ("an empty taints policy", _spread(nodeTaintsPolicy="")),
    ("no selector", _spread(labelSelector=...)),
    ("a broken selector", _spread(labelSelector={"matchExpressions": [{"key": "a", "operator": "In"}]})),
    ("a selector with a broken value", _spread(labelSelector={"matchLabels": {"a": "b c"}})),
    ("a label key", _spread(matchLabelKeys=["rev"])),
    ("a label key without a selector", _spread(matchLabelKeys=["rev"], labelSelector=...)),
    ("a label key with an empty selector", _spread(matchLabelKeys=["rev"], labelSelector={})),
    ("a label key of the selector", _spread(matchLabelKeys=["app"])),
    (
        "a label key of an expression",
        _spread(labelSelector={"matchExpressions": [{"key": "app", "operator": "Exists"}]}, matchLabelKeys=["app"]),
    ),
    (
        "a label key of the selector that the pod has",
        pod(
            metadata={"labels": {"app": "a"}},
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "z",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": _APP,
                    "matchLabelKeys": ["app"],
                }
            ],
        ),
    ),
    ("a broken label key", _spread(matchLabelKeys=["a b"])),
    ("an empty label key", _spread(matchLabelKeys=[""])),
    (
        "one constraint twice",
        pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}] * 2),
    ),
    (
        "one constraint with two actions",
        pod(
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"},
            ]
        ),
    ),
]

SCHEDULING: Table = [
    ("one gate twice", pod(schedulingGates=[{"name": "a"}, {"name": "a"}])),
    ("an empty gate", pod(schedulingGates=[{"name": ""}])),
    ("a gate without a name", pod(schedulingGates=[{}])),
    ("a gate with two slashes", pod(schedulingGates=[{"name": "a/b/c"}])),
    ("a gate in capitals", pod(schedulingGates=[{"name": "A"}])),
    ("a readiness gate without a type", pod(readinessGates=[{}])),
    ("a readiness gate with a blank", pod(readinessGates=[{"conditionType": "a b"}])),
    ("a readiness gate twice", pod(readinessGates=[{"conditionType": "a"}] * 2)),
    ("a node selector with a broken key", pod(nodeSelector={"a b": "c"})),
    ("a node selector with a broken value", pod(nodeSelector={"a": "b c"})),
    ("a node selector with a null value", pod(nodeSelector={"a": None})),
    ("a priority class", pod(priorityClassName="judged-class")),
    ("a priority class in capitals", pod(priorityClassName="Class")),
    ("a priority without a class", pod(priority=5)),
    ("a priority of 0 without a class", pod(priority=0)),
    ("a priority class and another priority", pod(priorityClassName="judged-class", priority=5)),
    ("a system priority class", pod(priorityClassName="system-node-critical")),
    ("a preemption policy", pod(preemptionPolicy="PreemptLowerPriority")),
    ("a preemption policy that differs from the class", pod(preemptionPolicy="Never")),
    ("an unknown preemption policy", pod(preemptionPolicy="Often")),
    ("an empty preemption policy", pod(preemptionPolicy="")),
    ("a runtime class", pod(runtimeClassName="judged-class")),
    ("a runtime class in capitals", pod(runtimeClassName="Class")),
    ("an empty runtime class", pod(runtimeClassName="")),
    ("a scheduler's name in capitals", pod(schedulerName="My Scheduler")),
    ("an empty scheduler's name", pod(schedulerName="")),
    ("a deadline of 0", pod(activeDeadlineSeconds=0)),
    ("a deadline of 2^31", pod(activeDeadlineSeconds=2**31)),
    ("a scheduling group", pod(schedulingGroup={"podGroupName": "a"})),
    ("an empty scheduling group", pod(schedulingGroup={})),
    ("a scheduling group in capitals", pod(schedulingGroup={"podGroupName": "A"})),
]

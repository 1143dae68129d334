"""Cases of admission policies, with the verdicts of a real API server."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen.cases import Suite
from tests.crdgen.diff.builder import definition, obj, version

GROUP = "/apis/admissionregistration.k8s.io/v1"
OF_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
SECRETS = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}]
POLICIES: list[dict[str, Any]] = [
    {
        "matchConditions": [{"name": "a", "expression": "object.metadata.name != 'free'"}],
        "variables": [
            {"name": "level", "expression": "int(object.data.level)"},
            {"name": "twice", "expression": "variables.level * 2"},
        ],
        "validations": [
            {"expression": "variables.twice <= 10", "messageExpression": "'level ' + string(variables.level) + ' is too high'"},
            {"expression": "oldObject == null || object.data.level == oldObject.data.level", "message": "level is immutable"},
            {"expression": "!has(object.data.url) || url(object.data.url).getScheme() == 'https'"},
            {"expression": "request.userInfo.username != 'system:anonymous' && request.operation != 'DELETE'", "message": "no"},
        ],
    },
    {"failurePolicy": "Ignore", "validations": [{"expression": "object.data.absent == 'x'"}]},
    {"validations": [{"expression": "object.data.?mood.orValue('') in ['', 'good']", "message": "only good moods"}], "warn": True},
    {"failurePolicy": "Ignore", "matchConditions": [{"name": "a", "expression": "object.data.absent == 'x'"}], "validations": [{"expression": "false"}]},
    {"validations": [{"expression": "false"}], "binding": {"matchResources": {"resourceRules": SECRETS}}},
    {"validations": [{"expression": "false", "message": "strict"}], "match": {"namespaceSelector": {"matchLabels": {"level": "strict"}}}},
    {"validations": [{"expression": "false", "message": "in params"}], "binding": {"matchResources": {"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["params"]}]}}}},
    {"validations": [{"expression": "false", "message": "marked"}], "match": {"objectSelector": {"matchLabels": {"marked": "yes"}}}, "rules": {"operations": ["UPDATE"]}},
    {"validations": [{"expression": "namespaceObject.metadata.labels.?level.orValue('') != 'bad'", "message": "bad"}]},
    {"paramKind": OF_MAPS, "validations": [{"expression": "!has(object.data.size) || int(object.data.size) <= int(params.data.most)", "message": "too large"}], "binding": {"paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}}},
    {"paramKind": OF_MAPS, "validations": [{"expression": "!has(object.data.word) || object.data.word != params.data.word", "message": "a bad word"}], "binding": {"paramRef": {"selector": {"matchLabels": {"words": "bad"}}, "namespace": "params", "parameterNotFoundAction": "Allow"}}},
    {"paramKind": OF_MAPS, "validations": [{"expression": "false"}], "binding": {"paramRef": {"name": "absent", "parameterNotFoundAction": "Allow"}}},
    {"paramKind": OF_MAPS, "failurePolicy": "Ignore", "validations": [{"expression": "false"}], "binding": {"paramRef": {"name": "absent", "parameterNotFoundAction": "Deny"}}},
    {"validations": [{"expression": "false"}], "rules": {"scope": "Cluster"}},
    {"validations": [{"expression": "false", "message": "named"}], "rules": {"scope": "Namespaced", "resourceNames": ["named"]}},
    {"validations": [{"expression": "namespaceObject != null", "message": "a strict namespace"}], "match": {"namespaceSelector": {"matchLabels": {"level": "strict"}}}, "rules": {"resources": ["namespaces"]}},
    {"paramKind": OF_MAPS, "validations": [{"expression": "true"}], "binding": {"paramRef": {"name": "limits", "parameterNotFoundAction": "Allow"}}, "rules": {"resources": ["nodes"]}},
]  # fmt: skip


def map_of(name: str = "one", namespace: str = "default", labels: Any = None, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


STRICT, BAD = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"level": name}}}
    for name in ("strict", "bad")
)
BARE, OF_PARAMS = ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("bare", "params"))
PARAMS = [
    *(map_of("limits", name, most="10") for name in ("default", "strict", "params", "bad")),
    map_of("a", "params", {"words": "bad"}, word="a"),
    map_of("b", "params", {"words": "bad"}, word="b"),
    map_of("c", "params", {"words": "good"}, word="c"),
    map_of("d", "default", {"words": "bad"}, word="d"),
]


WRITES: list[tuple[str, dict[str, Any], dict[str, Any] | None, str]] = [
    ("accepted", map_of(level="5"), None, ""),
    ("the message of an expression", map_of(level="6"), None, "level 6 is too high"),
    ("a variable that fails", map_of(level="x"), None, "type conversion error"),
    ("a field that is missing", map_of(other="1"), None, "no such key: level"),
    ("a condition does not match", map_of("free", level="99"), None, ""),
    ("without a message", map_of(level="1", url="http://a"), None, "failed expression: !has(object.data.url)"),
    ("a function of Kubernetes", map_of(level="1", url="https://a"), None, ""),
    ("an update", map_of(level="2"), map_of(level="1"), "level is immutable"),
    ("an update without a change", map_of(level="1"), map_of(level="1"), ""),
    ("a warning", map_of(level="1", mood="bad"), None, ""),
    ("a namespace that is selected", map_of("one", "strict", level="1"), None, "strict"),
    ("a namespace that is selected by its name", map_of("one", "params", level="1"), None, "in params"),
    ("a label of the namespace", map_of("one", "bad", level="1"), None, "bad"),
    ("an object that is selected", map_of(labels={"marked": "yes"}, level="1"), map_of(level="1"), "marked"),
    ("a selected object at another operation", map_of(labels={"marked": "yes"}, level="1"), None, ""),
    ("an object that is no longer selected", map_of(level="1"), map_of(labels={"marked": "yes"}, level="1"), "marked"),
    ("a parameter by its name", map_of(level="1", size="11"), None, "too large"),
    ("a parameter that accepts", map_of(level="1", size="10"), None, ""),
    ("a parameter that is not there", map_of("one", "bare", level="1"), None, "no params found for policy binding"),
    ("the second of several parameters", map_of(level="1", word="b"), None, "a bad word"),
    ("a parameter that is not selected", map_of(level="1", word="c"), None, ""),
    ("a parameter of another namespace", map_of(level="1", word="d"), None, ""),
    ("a name that a rule lists", map_of("named", level="1"), None, "named"),
    (
        "a Namespace with its own labels",
        STRICT | {"metadata": {"name": "x", "labels": {"level": "strict"}}},
        None,
        "a strict namespace",
    ),
    ("a Namespace with other labels", BARE | {"metadata": {"name": "x", "labels": {"level": "low"}}}, None, ""),
    (
        "a node, which no namespace excludes",
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}},
        None,
        "cannot use namespaced paramRef",
    ),
]
#: Texts of cel-go, and what the CEL library says instead.
OTHER_WORDS = {"type conversion error": "", "no such key: level": "Key not found in map"}


def objects() -> list[dict[str, Any]]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
    made = []
    for number, given in enumerate(POLICIES):
        spec = {key: value for key, value in given.items() if key not in {"warn", "binding", "match", "rules"}}
        match = {"resourceRules": [rule | given.get("rules", {})]} | given.get("match", {})
        head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": f"policy-{number}"}}
        made.append(head | {"kind": "ValidatingAdmissionPolicy", "spec": {"matchConstraints": match} | spec})
        actions = ["Warn"] if given.get("warn") else ["Deny"]
        made.append(head | {"kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": f"policy-{number}", "validationActions": actions} | given.get("binding", {})})  # fmt: skip
    return made


def write(folder: Path, *cases: dict[str, Any], **more: Any) -> Suite:
    (folder / "policies.yaml").write_text(yaml.safe_dump_all(objects()))
    content = {
        "policies": ["policies.yaml"],
        "params": PARAMS,
        "object": map_of(level="1"),
        "cases": list(cases),
    } | more
    (folder / "a.cases.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return Suite(folder / "a.cases.yaml")


@pytest.mark.parametrize(("new", "old", "words"), [each[1:] for each in WRITES], ids=[each[0] for each in WRITES])
def test_a_policy_gives_the_expected_verdict(tmp_path: Path, new: Any, old: Any, words: str) -> None:
    case = {"name": "a", "object": new} | ({"from": old} if old else {})
    namespace = {"strict": STRICT, "bad": BAD}.get(new["metadata"].get("namespace"), BARE)
    expected: dict[str, Any] = {"rejected": [{"words": OTHER_WORDS.get(words, words)}]} if words else {}
    other: dict[str, Any] = {} if expected else {"rejected": []}
    for given in (expected, other):
        suite = write(tmp_path, case | given, namespace=namespace)
        assert bool(suite.run(suite.cases[0])) == (given != expected)


def test_a_policy_that_warns_does_not_reject(tmp_path: Path) -> None:
    suite = write(tmp_path, {"name": "a", "patch": {"data": {"mood": "bad"}}, "warnings": ["only good moods"]})
    assert suite.run(suite.cases[0]) == []


def test_what_is_not_evaluated_decides_no_case(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(yaml.safe_dump_all(objects()[:1]).replace("'DELETE'", "authorizer.group('')"))
    suite = write(tmp_path, {"name": "a"}, policies=["p.yaml"])
    assert suite.run(suite.cases[0]) == [
        "not decided: policy-0: validations[3]: asks the authorizer, which only a cluster has: it is not judged here"
    ]


FAILS = [{"name": "a", "expression": "object.data.absent == 'x'"}]
IS_FALSE = {"name": "b", "expression": "false"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"matchConditions": FAILS, "failurePolicy": "Ignore"}, ""),
        ({"matchConditions": FAILS}, "rejected: matchConditions[0]: "),
        ({"matchConditions": [*FAILS, IS_FALSE]}, ""),
    ],
)
def test_a_condition_that_fails_leaves_the_verdict_to_the_failure_policy(
    tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    policy, binding = objects()[:2]
    policy["spec"] = {"matchConstraints": policy["spec"]["matchConstraints"], "validations": [{"expression": "false"}, {"expression": "false"}]} | change  # fmt: skip
    (tmp_path / "p.yaml").write_text(yaml.safe_dump_all([policy, binding]))
    suite = write(tmp_path, {"name": "a"}, policies=["p.yaml"])
    problems = suite.run(suite.cases[0])
    assert problems[0].startswith(expected) if expected else problems == []


@pytest.mark.parametrize(
    ("binding", "problem"),
    [
        ({}, "rejected: no"),
        ({"matchResources": {"resourceRules": SECRETS}}, ""),
        ({"matchResources": {"excludeResourceRules": SECRETS}}, "rejected: no"),
        ({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}, ""),
        ({"paramRef": {"name": "a"}}, "not decided: policy-0: paramRef of its binding needs the objects"),
    ],
)  # fmt: skip
def test_a_binding_limits_if_its_policy_applies(tmp_path: Path, binding: dict[str, Any], problem: str) -> None:
    policy, bound = objects()[:2]
    policy["spec"] |= {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "validations": [{"expression": "false", "message": "no"}]}  # fmt: skip
    bound["spec"] |= binding
    (tmp_path / "p.yaml").write_text(yaml.safe_dump_all([policy, bound]))
    suite = write(tmp_path, {"name": "a"}, policies=["p.yaml"], params=None)
    problems = suite.run(suite.cases[0])
    assert problems[0].startswith(problem) if problem else problems == []


def test_a_policy_about_another_resource_judges_nothing(tmp_path: Path) -> None:
    suite = write(tmp_path, {"name": "a", "object": {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}})
    assert suite.run(suite.cases[0])[0].startswith("nothing judges v1 Secret")


def test_coverage_has_the_validations_of_policies(tmp_path: Path) -> None:
    suite = write(tmp_path, {"name": "a", "patch": {"data": {"level": "6"}}})
    suite.run(suite.cases[0])
    assert list(suite.coverage["policy-0"].values()) == [True, False, False, False]


@pytest.fixture
def policies(cluster_api: ClusterApi) -> Iterator[ClusterApi]:
    kinds = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings"}  # fmt: skip
    for namespace in (STRICT, BAD, BARE, OF_PARAMS):
        cluster_api.post("/api/v1/namespaces", namespace)
    for param in PARAMS:
        assert cluster_api.post(f"/api/v1/namespaces/{param['metadata']['namespace']}/configmaps", param)[0] == 201
    for each in objects():
        status, answer = cluster_api.post(f"{GROUP}/{kinds[each['kind']]}", each)
        assert status == 201, answer.get("message")
    yield cluster_api
    for each in objects():
        cluster_api.delete(f"{GROUP}/{kinds[each['kind']]}/{each['metadata']['name']}")
    for param in (each["metadata"] for each in PARAMS):
        cluster_api.delete(f"/api/v1/namespaces/{param['namespace']}/configmaps/{param['name']}")


def path_of(written: dict[str, Any]) -> str:
    namespace = written["metadata"].get("namespace")
    return f"/api/v1/namespaces/{namespace}/configmaps" if namespace else f"/api/v1/{written['kind'].lower()}s"


def test_the_api_server_gives_the_same_verdicts(policies: ClusterApi) -> None:
    for probe, _, words in (write[1:] for write in WRITES if write[3] and write[2] is None):
        enforced = partial(policies.post, path_of(probe), probe, {"dryRun": "All"})
        wait_for(lambda: words in str(enforced()[1].get("message")), what=f"the policy is enforced: {words}")  # noqa: B023
    for case, new, old, words in WRITES:
        path = path_of(new)
        if old:
            assert policies.post(path, old)[0] == 201
            change = {"metadata": {"labels": {"marked": None} | new["metadata"]["labels"]}, "data": new["data"]}
            status, answer = policies.patch(f"{path}/one", change)
            policies.delete(f"{path}/one")
        else:
            status, answer = policies.post(path, new, {"dryRun": "All"})
        assert (status >= 400) == bool(words), (case, answer)
        assert words in str(answer.get("message", "")), case


def test_policies_see_the_objects_of_crds_as_they_are_stored(tmp_path: Path) -> None:
    policy = objects()[0]
    policy["spec"] = {
        "matchConstraints": {"resourceRules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["widgets"]}]},
        "validations": [{"expression": "(object == null ? oldObject : object).spec.size == 5", "message": "must be 5"}],
    }  # fmt: skip
    spec = obj(size={"type": "integer", "default": 5, "maximum": 9})
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([policy, definition(version(spec=spec))]))
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": {}}
    cases: list[dict[str, Any]] = [
        {"name": "the default"},
        {"name": "another", "patch": {"spec": {"size": 6}}, "rejected": [{"words": "must be 5"}]},
        {"name": "not of the schema", "patch": {"spec": {"size": 10}}, "rejected": [{"field": "spec.size"}]},
        {"name": "a deletion", "delete": True},
        {"name": "a deletion of another", "delete": True, "from": {"spec": {"size": 6}}, "rejected": [{"words": "5"}]},
    ]
    suite = write(tmp_path, *cases, crds=["a.yaml"], policies=["a.yaml"], object=widget)
    assert [suite.run(case) for case in suite.cases] == [[]] * len(cases)

"""Cases of admission policies, with the verdicts of a real API server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen.cases import Suite
from tests.crdgen.diff.builder import definition, obj, version

GROUP = "/apis/admissionregistration.k8s.io/v1"
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
]  # fmt: skip


def map_of(name: str = "one", **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


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
]
#: Texts of cel-go, and what the CEL library says instead.
OTHER_WORDS = {"type conversion error": "", "no such key: level": "Key not found in map"}


def objects() -> list[dict[str, Any]]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
    made = []
    for number, given in enumerate(POLICIES):
        spec = {key: value for key, value in given.items() if key != "warn"}
        head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": f"policy-{number}"}}
        made.append(
            head | {"kind": "ValidatingAdmissionPolicy", "spec": {"matchConstraints": {"resourceRules": [rule]}} | spec}
        )
        actions = ["Warn"] if given.get("warn") else ["Deny"]
        made.append(head | {"kind": "ValidatingAdmissionPolicyBinding", "spec": {"policyName": f"policy-{number}", "validationActions": actions}})  # fmt: skip
    return made


def write(folder: Path, *cases: dict[str, Any], **more: Any) -> Suite:
    (folder / "policies.yaml").write_text(yaml.safe_dump_all(objects()))
    content = {"policies": ["policies.yaml"], "object": map_of(level="1"), "cases": list(cases), **more}
    (folder / "a.cases.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return Suite(folder / "a.cases.yaml")


@pytest.mark.parametrize(("new", "old", "words"), [each[1:] for each in WRITES], ids=[each[0] for each in WRITES])
def test_a_policy_gives_the_expected_verdict(tmp_path: Path, new: Any, old: Any, words: str) -> None:
    case = {"name": "a", "object": new} | ({"from": old} if old else {})
    expected: dict[str, Any] = {"rejected": [{"words": OTHER_WORDS.get(words, words)}]} if words else {}
    other: dict[str, Any] = {} if expected else {"rejected": []}
    for given in (expected, other):
        suite = write(tmp_path, case | given)
        assert bool(suite.run(suite.cases[0])) == (given != expected)


def test_a_policy_that_warns_does_not_reject(tmp_path: Path) -> None:
    suite = write(tmp_path, {"name": "a", "patch": {"data": {"mood": "bad"}}, "warnings": ["only good moods"]})
    assert suite.run(suite.cases[0]) == []


def test_what_is_not_evaluated_decides_no_case(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(yaml.safe_dump_all(objects()[:1]).replace("resourceRules", "objectSelector: {matchLabels: {a: b}}\n    resourceRules").replace("'DELETE'", "authorizer.group('')"))  # fmt: skip
    suite = write(tmp_path, {"name": "a"}, policies=["p.yaml"])
    objectselector, authorizer = suite.run(suite.cases[0])
    assert objectselector == "not decided: policy-0: objectSelector is not evaluated"
    assert authorizer.startswith("not decided: validations[3]: at character ")


FAILS = [{"name": "a", "expression": "object.data.absent == 'x'"}]
IS_FALSE = {"name": "b", "expression": "false"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"matchConditions": FAILS, "failurePolicy": "Ignore"}, "nothing judges"),
        ({"matchConditions": FAILS}, "rejected: matchConditions[0]: "),
        ({"matchConditions": [*FAILS, IS_FALSE]}, "nothing judges"),
    ],
)
def test_a_condition_that_fails_leaves_the_verdict_to_the_failure_policy(
    tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    policy, binding = objects()[:2]
    policy["spec"] = {"matchConstraints": policy["spec"]["matchConstraints"], "validations": [{"expression": "false"}, {"expression": "false"}]} | change  # fmt: skip
    (tmp_path / "p.yaml").write_text(yaml.safe_dump_all([policy, binding]))
    suite = write(tmp_path, {"name": "a"}, policies=["p.yaml"])
    (problem,) = suite.run(suite.cases[0])
    assert problem.startswith(expected)


SECRETS = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}]


@pytest.mark.parametrize(
    ("binding", "problem"),
    [
        ({}, "rejected: no"),
        ({"matchResources": {"resourceRules": SECRETS}}, "nothing judges v1 ConfigMap"),
        ({"matchResources": {"excludeResourceRules": SECRETS}}, "rejected: no"),
        ({"matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}, "not decided: policy-0: matchResources.namespaceSelector"),
        ({"paramRef": {"name": "a"}}, "not decided: policy-0: paramRef of its binding"),
    ],
)  # fmt: skip
def test_a_binding_limits_where_its_policy_applies(tmp_path: Path, binding: dict[str, Any], problem: str) -> None:
    policy, bound = objects()[:2]
    policy["spec"] |= {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "validations": [{"expression": "false", "message": "no"}]}  # fmt: skip
    bound["spec"] |= binding
    (tmp_path / "p.yaml").write_text(yaml.safe_dump_all([policy, bound]))
    suite = write(tmp_path, {"name": "a"}, policies=["p.yaml"])
    assert suite.run(suite.cases[0])[0].startswith(problem)


def test_coverage_has_the_validations_of_policies(tmp_path: Path) -> None:
    suite = write(tmp_path, {"name": "a", "patch": {"data": {"level": "6"}}})
    suite.run(suite.cases[0])
    assert list(suite.coverage["policy-0"].values()) == [True, False, False, False]


@pytest.fixture
def policies(cluster_api: ClusterApi) -> Iterator[ClusterApi]:
    kinds = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings"}  # fmt: skip
    for each in objects():
        status, answer = cluster_api.post(f"{GROUP}/{kinds[each['kind']]}", each)
        assert status == 201, answer.get("message")
    yield cluster_api
    for each in objects():
        cluster_api.delete(f"{GROUP}/{kinds[each['kind']]}/{each['metadata']['name']}")


def test_the_api_server_gives_the_same_verdicts(policies: ClusterApi) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    probe = map_of("probe", level="6")
    wait_for(lambda: policies.post(path, probe, {"dryRun": "All"})[0] == 422, what="the policy is enforced")
    for case, new, old, words in WRITES:
        if old:
            assert policies.post(path, old)[0] == 201
            status, answer = policies.patch(f"{path}/one", {"data": new["data"]})
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

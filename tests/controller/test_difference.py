"""The verdict on an existing object."""

import copy
from typing import Any

import pytest

from jobgate.controller.difference import Ownership, judge
from jobgate.plugins import Crew
from tests.controller.builder import crew, wanted
from tests.controller.cluster import merged

pytestmark = pytest.mark.usefixtures("trial")

JOB = crew(policy=True, secret=True)
HOSTS = "train-work-0.train\ntrain-work-1.train"


def stored(kind: str, changes: dict[str, Any] | None = None, of: Crew = JOB) -> Any:
    """An object as the API server stores it, with what it fills in, and then these changes."""
    result = merged(wanted(of, kind).manifest_to_create(), {"metadata": {"uid": "u", "resourceVersion": "1"}})
    if kind == "Service":
        more = {
            "sessionAffinity": "None",
            "clusterIPs": ["None"],
            "internalTrafficPolicy": "Cluster",
            "type": "ClusterIP",
        }
        ports = [{**port, "protocol": "TCP", "targetPort": port["port"]} for port in result["spec"]["ports"]]
        result = merged(result, {"spec": {**more, "ports": ports}})
    return merged(result, changes or {})


@pytest.mark.parametrize("kind", ["ConfigMap", "Service", "NetworkPolicy", "Secret"])
def test_what_is_as_it_was_made_is_left_as_it_is(kind: str) -> None:
    assert judge(wanted(JOB, kind), stored(kind)).verdict is Ownership.FINE


OTHER_OWNER = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": "train", "uid": "uid-0"}
FOREIGN_OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "train", "uid": "uid-0"}


@pytest.mark.parametrize(
    "changes, verdict, why",
    [
        ({"metadata": {"labels": None, "ownerReferences": None}}, Ownership.FOREIGN, "was not created by jobgate"),
        (
            {"metadata": {"labels": None, "ownerReferences": [FOREIGN_OWNER]}},
            Ownership.FOREIGN,
            "was not created by jobgate",
        ),
        ({"metadata": {"ownerReferences": None}}, Ownership.FOREIGN, "has another owner"),
        ({"metadata": {"ownerReferences": [FOREIGN_OWNER]}}, Ownership.FOREIGN, "has another owner"),
        ({"metadata": {"labels": None}}, Ownership.FOREIGN, "lacks the label app.kubernetes.io/managed-by=jobgate"),
        ({"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm"}}}, Ownership.FOREIGN, "lacks the label"),
        ({"metadata": {"ownerReferences": [OTHER_OWNER]}}, Ownership.LEFT, "of an earlier job of this name"),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, Ownership.GOING, "is being deleted"),
    ],
)
@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_what_is_not_ours_or_is_going_is_not_touched(
    kind: str, changes: dict[str, Any], verdict: Ownership, why: str
) -> None:
    judgement = judge(wanted(JOB, kind), stored(kind, changes))
    assert (judgement.verdict, judgement.changes) == (verdict, {})
    assert judgement.why.startswith(f"{kind} train-trial {why}")


def test_an_owner_more_does_not_matter() -> None:
    owners = [FOREIGN_OWNER, *stored("ConfigMap")["metadata"]["ownerReferences"]]
    result = stored("ConfigMap", {"metadata": {"ownerReferences": owners}, "data": {"work.host": "x"}})
    assert judge(wanted(JOB, "ConfigMap"), result).verdict is Ownership.CHANGED


@pytest.mark.parametrize(
    "kind, changes, patch",
    [
        ("ConfigMap", {"data": {"work.host": "evil"}}, {"data": {"work.host": HOSTS}}),
        ("ConfigMap", {"data": {"more": "x"}}, {"data": {"more": None}}),
        ("ConfigMap", {"data": None}, {"data": {"work.host": HOSTS}}),
        ("ConfigMap", {"binaryData": {"more": "eA=="}}, {"binaryData": {"more": None}}),
        ("ConfigMap", {"metadata": {"labels": {"jobgate.dev/job": "other"}}},
         {"metadata": {"labels": {"jobgate.dev/job": "train"}}}),
        ("ConfigMap", {"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}}, {}),
        ("Service", {"spec": {"selector": {"job": "other"}}}, {"spec": {"selector": {"job": "train"}}}),
        ("Service", {"spec": {"selector": {"more": "x"}}}, {"spec": {"selector": {"more": None}}}),
        ("Service", {"spec": {"selector": None}}, {"spec": {"selector": {"job": "train"}}}),
        ("Service", {"spec": {"ports": None}}, {"spec": {"ports": [{"name": "trial", "port": 22}]}}),
        ("Service", {"spec": {"ports": [{"name": "trial", "port": 22, "protocol": "UDP"}]}},
         {"spec": {"ports": [{"name": "trial", "port": 22}]}}),
        ("Service", {"spec": {"clusterIP": "10.0.0.1"}}, {"spec": {"clusterIP": "None"}}),
        ("Service", {"spec": {"sessionAffinity": "ClientIP"}}, {}),
        ("NetworkPolicy", {"spec": {"podSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}},
         {"spec": {"podSelector": {"matchExpressions": None}}}),
        ("NetworkPolicy", {"spec": {"ingress": [{}]}},
         {"spec": {"ingress": [{"from": [{"podSelector": {"matchLabels": {"job": "train"}}}]}]}}),
        ("NetworkPolicy",
         {"spec": {"ingress": [{"from": [{"podSelector": {"matchLabels": {"job": "train"}}, "namespaceSelector": {}}]}]}},
         {"spec": {"ingress": [{"from": [{"podSelector": {"matchLabels": {"job": "train"}}}]}]}}),
        ("Secret", {"data": {"key": "a2V5", "more": "eA=="}}, {}),
    ],
)  # fmt: skip
def test_what_was_changed_is_changed_back_and_nothing_else(
    kind: str, changes: dict[str, Any], patch: dict[str, Any]
) -> None:
    result = stored(kind, changes)
    judgement = judge(wanted(JOB, kind), result)
    assert judgement.changes == patch
    assert judgement.verdict is (Ownership.CHANGED if patch else Ownership.FINE)
    assert judge(wanted(JOB, kind), merged(result, patch)).verdict is Ownership.FINE


def test_the_lists_of_a_scaled_job_follow() -> None:
    larger = crew(replicas=3)
    patch = judge(wanted(larger, "ConfigMap"), stored("ConfigMap")).changes
    assert patch == {"data": {"work.host": f"{HOSTS}\ntrain-work-2.train"}}


def test_a_secret_that_lost_its_key_cannot_be_repaired() -> None:
    judgement = judge(wanted(JOB, "Secret"), stored("Secret", {"stringData": {"key": None}}))
    assert judgement.verdict is Ownership.INCOMPLETE
    assert judgement.why.endswith("delete it, and it is created again")


def test_judging_changes_nothing() -> None:
    result, one = stored("ConfigMap", {"data": {"more": "x"}}), wanted(JOB, "ConfigMap")
    before = copy.deepcopy((result, one.manifest))
    judge(one, result)
    assert (result, one.manifest) == before

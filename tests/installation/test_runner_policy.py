"""What the runner's account may change of pods, by the expression of its admission policy."""

import re
from functools import cache
from typing import Any

import pytest

from crdgen import cel
from jobgate.installation import Installation, objects
from jobgate.kinds import built_in, installed

TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
LIST = {"type": "array", "items": {"type": "string"}}
METADATA = {"labels": TEXTS, "annotations": TEXTS, "finalizers": LIST, "ownerReferences": LIST}
POD = {
    "type": "object",
    "properties": {
        "about": {"type": "object", "properties": METADATA},
        "spec": {"type": "object", "properties": {"nodeName": {"type": "string"}}},
    },
}
TRACKING, OTHER = "batch.kubernetes.io/job-tracking", "example.com/x"
RETRIABLE = "kueue.x-k8s.io/retriable-in-group"


@cache
def expression() -> str:
    """The condition for pods, with the names that a rule of a CRD has for the objects."""
    run = tuple(kind.qualified_plural for kind in built_in())
    policies = (
        one for one in objects(installed(), Installation(run=run)) if one["kind"] == "ValidatingAdmissionPolicy"
    )
    (policy,) = (one for one in policies if one["metadata"]["name"] == "jobgate-runner")
    (found,) = (one["expression"] for one in policy["spec"]["validations"] if "resource != 'pods'" in one["expression"])
    condition = found.partition(" || object == null || ")[2].replace("metadata", "about")
    return re.sub(r"\bobject\.", "self.", re.sub(r"\boldObject\.", "oldSelf.", condition))


def pod(*finalizers: str, **annotations: str) -> dict[str, Any]:
    """A pod with finalizers, and with the annotation `retriable`, or others."""
    about: dict[str, Any] = {"finalizers": [*finalizers]} if finalizers else {}
    named = {RETRIABLE if key == "retriable" else key: value for key, value in annotations.items()}
    return {"about": {**about, **({"annotations": named} if named else {})}, "spec": {"nodeName": "a"}}


@pytest.mark.parametrize(
    ("old", "new", "allowed"),
    [
        (pod(TRACKING, OTHER), pod(OTHER), True),
        (pod(TRACKING), pod(), True),
        (pod(TRACKING, OTHER), pod(TRACKING), False),
        (pod(OTHER), pod(), False),
        (pod(), pod(TRACKING), False),
        (pod(OTHER), pod(OTHER, "example.com/y"), False),
        (pod(), pod(retriable="false"), True),
        (pod(retriable="true"), pod(retriable="false"), True),
        (pod(retriable="true"), pod(TRACKING, retriable="true"), False),
        (pod(TRACKING, retriable="true"), pod(retriable="true"), True),
        (pod(), pod(retriable="true"), False),
        (pod(retriable="false"), pod(), False),
        (pod(a="b"), pod(a="c"), False),
        (pod(), {**pod(), "spec": {"nodeName": "b"}}, False),
    ],
)
def test_the_runner_may_only_remove_one_finalizer_and_end_a_group(old: Any, new: Any, allowed: bool) -> None:
    compiled = cel.compile_expression(expression(), POD)
    assert compiled.run(compiled.activation(new, old), old=True) is allowed


@pytest.mark.parametrize(("seconds", "reads"), [(300, True), (0, False)])
def test_nodes_are_read_only_if_lost_pods_are_replaced(seconds: int, reads: bool) -> None:
    run = tuple(kind.qualified_plural for kind in built_in())
    rendered = objects(installed(), Installation(run=run, replace_lost_after=seconds))
    (role,) = (one for one in rendered if one["kind"] == "ClusterRole" and one["metadata"]["name"] == "jobgate-runner")
    assert any("nodes" in rule["resources"] for rule in role["rules"]) is reads


@pytest.mark.parametrize(
    ("queues", "on", "lists"), [("queues: []", True, True), ("", True, False), ("a: b", False, False)]
)
def test_nodes_are_listed_only_if_their_room_counts(queues: str, on: bool, lists: bool) -> None:
    run = tuple(kind.qualified_plural for kind in built_in())
    rendered = objects(installed(), Installation(run=run, queues=queues, elastic_nodes=on))
    (role,) = (one for one in rendered if one["kind"] == "ClusterRole" and one["metadata"]["name"] == "jobgate-runner")
    verbs = {verb for rule in role["rules"] if "nodes" in rule["resources"] for verb in rule["verbs"]}
    assert verbs == {"get", *(("list", "watch") if lists else ())}
    (deployed,) = (
        one for one in rendered if one["kind"] == "Deployment" and one["metadata"]["name"] == "jobgate-runner"
    )
    assert ("--elastic-nodes" in str(deployed)) is lists


def test_only_kinds_that_own_jobs_let_the_runner_block_their_deletion() -> None:
    run = tuple(kind.qualified_plural for kind in built_in())
    rendered = objects(installed(), Installation(run=run))
    (role,) = (
        each for each in rendered if each["kind"] == "ClusterRole" and each["metadata"]["name"] == "jobgate-runner"
    )
    resources = {resource for rule in role["rules"] for resource in rule["resources"]}
    assert "jobflows/finalizers" in resources
    assert "jobtemplates/status" in resources
    assert "jobtemplates/finalizers" not in resources


def test_the_server_of_dijobs_is_installed_only_if_it_is_asked_for() -> None:
    run = ("dijobs.diengine.opendilab.org",)
    without, served = (
        objects(installed(), Installation(run=run, network_policy=True, di_server=on)) for on in (False, True)
    )
    assert "di-server" not in str(without)
    assert "tokenreviews" not in str(without)
    (service,) = (one for one in served if one["metadata"]["name"] == "jobgate-di-server")
    (policy,) = (
        one for one in served if one["kind"] == "NetworkPolicy" and one["metadata"]["name"] == "jobgate-runner"
    )
    (deployed,) = (one for one in served if one["kind"] == "Deployment" and one["metadata"]["name"] == "jobgate-runner")
    pod = deployed["spec"]["template"]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert {"protocol": "TCP", "port": service["spec"]["ports"][0]["targetPort"]} in policy["spec"]["ingress"][0][
        "ports"
    ]
    assert (
        "--di-server-url=https://jobgate-di-server.jobgate-system.svc.cluster.local"
        in pod["spec"]["containers"][0]["args"]
    )
    assert pod["spec"]["volumes"] == [
        {"name": "di-server", "secret": {"secretName": "jobgate-di-server-tls", "optional": True}}
    ]

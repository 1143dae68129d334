"""The pod template's schema: Kubernetes' own, and no stricter than it is on Pods."""

from typing import Any

import pytest

from crdgen import check_structural
from crdgen.evaluate import Evaluator
from crdgen.podtemplate import FILE, load
from crdgen.podtemplate.__main__ import main
from crdgen.podtemplate.convert import structural


def evaluator() -> Evaluator:
    return Evaluator({"type": "object", "properties": {"template": load()["PodTemplateSpec"]}})


def template(**container: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [{"name": "main", "image": "busybox", **container}]}}}


def pod(**spec: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [{"name": "main"}], **spec}}}


def test_the_file_is_what_the_definitions_give() -> None:
    assert main(["--check"]) == 0, f"`python -m crdgen.podtemplate` writes {FILE} anew"


@pytest.mark.parametrize("name", ["PodTemplateSpec", "Volume"])
def test_the_schemas_are_structural(name: str) -> None:
    assert check_structural({"type": "object", "properties": {"field": load()[name]}}) == []


@pytest.mark.parametrize("name", ["PodTemplateSpec", "Volume"])
def test_the_schemas_hold_no_descriptions_and_no_defaults(name: str) -> None:
    def keywords(node: Any) -> set[str]:
        if not isinstance(node, dict):
            return set()
        fields = node.get("properties", {})
        children = [*fields.values(), node.get("items"), node.get("additionalProperties")]
        return set(node).union(*(keywords(child) for child in children))

    assert not keywords(load()[name]) & {"default", "description", "$ref", "oneOf"}


@pytest.mark.parametrize(
    "case, job",
    [
        ("two variables of one name", template(env=[{"name": "A"}, {"name": "A", "value": "x"}])),
        ("a port without a protocol, twice", template(ports=[{"containerPort": 1}, {"containerPort": 1}])),
        ("a header without a value", template(livenessProbe={"httpGet": {"port": 1, "httpHeaders": [{"name": "A"}]}})),
        ("a sleep without seconds", template(lifecycle={"preStop": {"sleep": {}}})),
        ("two requests of one claim", template(resources={"claims": [{"name": "a", "request": "x"}, {"name": "a"}]})),
        ("a named port", template(readinessProbe={"tcpSocket": {"port": "http"}})),
        ("quantities as numbers and texts", template(resources={"limits": {"cpu": 1, "memory": "1.5Gi"}})),
        ("a secret without a name", pod(imagePullSecrets=[{}, {}])),
        ("an address twice", pod(hostAliases=[{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}])),
        ("a kernel parameter without a value", pod(securityContext={"sysctls": [{"name": "kernel.msgmax"}]})),
        ("nulls", pod(nodeSelector=None, tolerations=None, securityContext={"runAsUser": None})),
        (
            "metadata as programs print it",
            {"template": {"metadata": {"creationTimestamp": None, "labels": {"a": "b"}}}},
        ),
        (
            "a preference that prefers nothing",
            pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}),
        ),
    ],
)
def test_what_a_pod_may_say_is_taken(case: str, job: dict[str, Any]) -> None:
    assert evaluator().validate(evaluator().default(job)) == []


@pytest.mark.parametrize(
    "case, job, path",
    [
        ("no containers", {"template": {"spec": {}}}, "spec.containers"),
        ("a nameless container", {"template": {"spec": {"containers": [{}]}}}, "spec.containers.0.name"),
        ("two containers of one name", pod(containers=[{"name": "a"}, {"name": "a"}]), "spec.containers.1"),
        ("a port in quotes", template(ports=[{"containerPort": "80"}]), "spec.containers.0.ports.0.containerPort"),
        ("a number as a variable", template(env=[{"name": "A", "value": 1}]), "spec.containers.0.env.0.value"),
        (
            "a quantity that no client can decode",
            template(resources={"requests": {"cpu": "1e1.5"}}),
            "spec.containers.0.resources.requests.cpu",
        ),
        (
            "a mount twice",
            template(volumeMounts=[{"name": "a", "mountPath": "/a"}] * 2),
            "spec.containers.0.volumeMounts.1",
        ),
        ("a volume twice", pod(volumes=[{"name": "a"}, {"name": "a"}]), "spec.volumes.1"),
        ("priority of 33 bits", pod(priority=2**31), "spec.priority"),
    ],
)
def test_what_no_pod_may_say_is_refused(case: str, job: dict[str, Any], path: str) -> None:
    (violation,) = evaluator().validate(job)
    assert ".".join(str(step) for step in violation.path[1:]) == path


def test_labels_and_annotations_survive_and_typing_errors_do_not() -> None:
    metadata = {"name": "a", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["x/y"]}
    job = template(imagePullPolciy="Always")
    job["template"]["metadata"] = {**metadata, "lables": {}}
    pruned = evaluator().prune(job)
    assert pruned["template"]["metadata"] == metadata
    assert "imagePullPolciy" not in pruned["template"]["spec"]["containers"][0]


def test_a_definition_that_contains_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="A → B → A"):
        structural({"A": {"$ref": "#/$defs/B"}, "B": {"properties": {"a": {"$ref": "#/$defs/A"}}}}, "A")

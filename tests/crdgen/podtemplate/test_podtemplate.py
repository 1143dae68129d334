"""The schema of pod templates equals that of Kubernetes, and is no stricter than the API server for Pods."""

from importlib.resources import files
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from crdgen import SchemaError, check_structural, size, structural_schema
from crdgen.evaluate import Evaluator
from crdgen.podtemplate import (
    FILE,
    KUBERNETES,
    MINORS,
    PodTemplate,
    core_type,
    definitions_of,
    load,
    pod_template,
    volumes,
)
from tools.pod_definitions import WANTED, definitions, published


def evaluator(kubernetes: str = KUBERNETES) -> Evaluator:
    return Evaluator({"type": "object", "properties": {"template": load(kubernetes)["PodTemplateSpec"]}})


def template(**container: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [{"name": "main", "image": "busybox", **container}]}}}


def pod(**spec: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [{"name": "main"}], **spec}}}


@pytest.mark.parametrize("minor", [MINORS[0], MINORS[-1]])
def test_the_file_is_up_to_date(minor: str) -> None:
    # All minors are checked by `make check`; reading each takes a second.
    assert definitions(published(minor), WANTED) == definitions_of(minor), (
        f"`python -m tools.pod_definitions` writes {FILE}"
    )


def test_the_file_is_small() -> None:
    assert len(files("crdgen.podtemplate").joinpath(FILE).read_bytes()) < 100_000


@pytest.mark.parametrize("minor", [MINORS[0], KUBERNETES, MINORS[-1]])
def test_the_schemas_are_structural(minor: str) -> None:
    assert check_structural({"type": "object", "properties": dict(load(minor))}) == []


@pytest.mark.parametrize("minor", MINORS)
def test_a_template_takes_a_quarter_of_the_annotation_limit(minor: str) -> None:
    assert 45_000 < size(load(minor)["PodTemplateSpec"]) < 65_000


@pytest.mark.parametrize(
    "field, since",
    [
        ("spec.schedulingGates", "1.26"),
        ("spec.initContainers.restartPolicy", "1.28"),
        ("spec.securityContext.appArmorProfile", "1.30"),
        ("spec.volumes.image", "1.31"),
        ("spec.resources", "1.32"),
        ("spec.hostnameOverride", "1.34"),
    ],
)
def test_a_field_exists_since_its_minor(field: str, since: str) -> None:
    def has(minor: str) -> bool:
        node: Any = load(minor)["PodTemplateSpec"]
        for name in field.split("."):
            node = node.get("items", node).get("properties", {}).get(name)
            if node is None:
                return False
        return True

    assert [minor for minor in MINORS if has(minor)] == list(MINORS[MINORS.index(since) :])


def test_each_field_can_pin_a_minor() -> None:
    class Spec(BaseModel):
        today: PodTemplate
        old: Annotated[dict[str, Any], pod_template("1.25")]
        disks: Annotated[list[dict[str, Any]], volumes("1.31")]
        limits: Annotated[dict[str, Any], core_type("ResourceRequirements", "1.30")]

    fields = structural_schema(Spec)["properties"]
    assert fields["today"] == load(KUBERNETES)["PodTemplateSpec"]
    assert fields["old"] == load("1.25")["PodTemplateSpec"]
    assert fields["disks"]["items"] == load("1.31")["Volume"]
    assert sorted(fields["limits"]["properties"]) == ["claims", "limits", "requests"]


@pytest.mark.parametrize(
    "case, make, path, problem, fix",
    [
        (
            "an older minor",
            lambda: pod_template("1.24"),
            'core_type("PodTemplateSpec", "1.24")',
            "1.24 is not",
            "1.25 to",
        ),
        (
            "a patch release",
            lambda: volumes("1.36.3"),
            'volumes("1.36.3")',
            "1.36.3 is not known",
            "1.25 to 1.37",
        ),
        (
            "another type",
            lambda: core_type("PodContainer"),
            'core_type("PodContainer", "1.36")',
            "holds a PodContainer",
            "as `Container`",
        ),
        (
            "a newer type",
            lambda: core_type("AppArmorProfile", "1.29"),
            'core_type("AppArmorProfile", "1.29")',
            "no",
            "",
        ),
        (
            "an unknown type",
            lambda: core_type("Deployment"),
            'core_type("Deployment", "1.36")',
            "holds a Deployment",
            "a pod temp",
        ),
    ],
)
def test_unknown_minors_and_types_are_rejected(case: str, make: Any, path: str, problem: str, fix: str) -> None:
    with pytest.raises(SchemaError) as raised:
        make()
    assert raised.value.path == path
    assert problem in raised.value.problem
    assert fix in raised.value.fix


@pytest.mark.parametrize("name", ["PodTemplateSpec", "Volume"])
def test_the_schemas_contain_no_descriptions_and_no_defaults(name: str) -> None:
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
        ("two variables with the same name", template(env=[{"name": "A"}, {"name": "A", "value": "x"}])),
        ("a port without a protocol, twice", template(ports=[{"containerPort": 1}, {"containerPort": 1}])),
        ("a header without a value", template(livenessProbe={"httpGet": {"port": 1, "httpHeaders": [{"name": "A"}]}})),
        ("a sleep without seconds", template(lifecycle={"preStop": {"sleep": {}}})),
        (
            "two requests of the same claim",
            template(resources={"claims": [{"name": "a", "request": "x"}, {"name": "a"}]}),
        ),
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
            "a preference without terms",
            pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}),
        ),
    ],
)
def test_a_valid_pod_is_accepted(case: str, job: dict[str, Any]) -> None:
    assert evaluator().validate(evaluator().default(job)) == []


@pytest.mark.parametrize(
    "case, job, path",
    [
        ("no containers", {"template": {"spec": {}}}, "spec.containers"),
        ("a nameless container", {"template": {"spec": {"containers": [{}]}}}, "spec.containers.0.name"),
        ("two containers with the same name", pod(containers=[{"name": "a"}, {"name": "a"}]), "spec.containers.1"),
        ("a port in quotes", template(ports=[{"containerPort": "80"}]), "spec.containers.0.ports.0.containerPort"),
        ("a number as a variable", template(env=[{"name": "A", "value": 1}]), "spec.containers.0.env.0.value"),
        (
            "an invalid quantity",
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
def test_an_invalid_pod_is_rejected(case: str, job: dict[str, Any], path: str) -> None:
    (violation,) = evaluator().validate(job)
    assert ".".join(str(step) for step in violation.path[1:]) == path


def test_pruning_keeps_metadata_and_drops_misspelled_fields() -> None:
    metadata = {"name": "a", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["x/y"]}
    job = template(imagePullPolciy="Always")
    job["template"]["metadata"] = {**metadata, "lebels": {}}
    pruned = evaluator().prune(job)
    assert pruned["template"]["metadata"] == metadata
    assert "imagePullPolciy" not in pruned["template"]["spec"]["containers"][0]


def test_two_definitions_with_the_same_short_name_are_rejected() -> None:
    source: dict[str, dict[str, Any]] = {
        "x.A": {"properties": {"b": {"$ref": "#/$defs/y.A"}}},
        "y.A": {"type": "string"},
    }
    with pytest.raises(ValueError, match=r"x\.A .*y\.A|y\.A and x\.A are both called A"):
        definitions(source, ["x.A"])

"""A real API server accepts our CRDs, and returns the same verdicts as our evaluation."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen import Model, crd
from crdgen.evaluate import Evaluator
from tests.differential.zoo import (
    PLAIN,
    Bounds,
    Enums,
    Kubernetes,
    Lists,
    Nested,
    Optionals,
    Scalars,
    WithPods,
    resource,
)

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DRY_RUN = {"dryRun": "All", "fieldValidation": "Ignore"}


@pytest.mark.parametrize("model", [*PLAIN, WithPods], ids=lambda model: model.__name__)
def test_the_api_server_accepts_the_crd(cluster_api: ClusterApi, model: type[Model]) -> None:
    status, answer = cluster_api.post(CRDS, crd(resource(model)), {"dryRun": "All", "fieldValidation": "Strict"})
    assert status == 201, answer.get("message")


class Installed:
    """A kind on the API server, and an evaluator of the same schema."""

    def __init__(self, api: ClusterApi, model: type[Model]) -> None:
        # A unique name: another test may have created a CRD with the name of the model.
        self.plural = f"{model.__name__.lower()}{secrets.token_hex(3)}"
        definition = crd(resource(model, self.plural))
        names = definition["spec"]["names"]
        names["kind"] = names["kind"] + self.plural[-6:]
        names["listKind"] = names["kind"] + "List"
        names["singular"] = names["kind"].lower()
        names.pop("shortNames")
        self.kind = names["kind"]
        self.api = api
        self.evaluator = Evaluator(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        status, answer = api.post(CRDS, definition)
        assert status == 201, answer
        wait_for(lambda: api.get(self.collection)[0] == 200, what=f"{self.plural} is served")

    @property
    def collection(self) -> str:
        return f"/apis/zoo.example.com/v1/namespaces/default/{self.plural}"

    def with_spec(self, spec: Any) -> dict[str, Any]:
        metadata = {"name": "one", "namespace": "default"}
        return {"apiVersion": "zoo.example.com/v1", "kind": self.kind, "metadata": metadata, "spec": spec}


MODELS: tuple[type[Model], ...] = (*PLAIN, WithPods)


@pytest.fixture(scope="module")
def installed(cluster_api: ClusterApi) -> Iterator[dict[type[Model], Installed]]:
    kinds = {model: Installed(cluster_api, model) for model in MODELS}
    yield kinds
    for kind in kinds.values():
        cluster_api.delete(f"{CRDS}/{kind.plural}.zoo.example.com")


def spec_with_pod(**container: Any) -> dict[str, Any]:
    return {"template": {"spec": {"containers": [{"name": "main", **container}]}}}


# A model, the rest of the spec, and values of one more field.
FIELDS: list[tuple[type[Model], dict[str, Any], str, list[Any]]] = [
    (Scalars, {}, "needed", ["x", None, 1]),
    (Scalars, {"needed": "x"}, "count", [3, 3.0, 3.5, "3", True, None, 2**63 - 1, 1e19, [], {"a": 1}]),
    (Scalars, {"needed": "x"}, "flag", [True, "yes", 1, None]),
    (Scalars, {"needed": "x"}, "ratio", [1, 1.5, "1", None]),
    (Bounds, {}, "small", [0, 1, 9, 10, 2**31]),
    (Bounds, {}, "above", [2, 3, 9, 10]),
    (Bounds, {}, "even", [2, 3]),
    (Bounds, {}, "word", ["", "a", "äöü", "abcd"]),
    (Bounds, {}, "code", ["a", "A", "a\n", ""]),
    (Enums, {}, "color", ["red", "blue", 1, None]),
    (Enums, {}, "level", [1, 1.0, 3, "1", True]),
    (Optionals, {}, "mustSay", [None, "x"]),
    (Optionals, {"mustSay": "x"}, "orDefault", [None, 0]),
    (Optionals, {"mustSay": "x"}, "size", [None, 0, 1]),
    (Optionals, {"mustSay": "x"}, "color", [None, "red", "blue"]),
    (Nested, {}, "inner", [{}, {"name": "a"}, {"name": "a", "weight": None, "x": 1}]),
    (Nested, {"inner": {"name": "a"}}, "many", [[{}, {"name": "a"}], [None], None, {}]),
    (Nested, {"inner": {"name": "a"}}, "byName", [{"b": None}, {"b": {"name": "c", "note": None}}, {"b": {}}]),
    (Nested, {"inner": {"name": "a"}}, "ready", [None, {"name": "a"}]),
    (Lists, {}, "atomic", [[], ["a"], ["a", "a"], [None], ["a", "b", "c", "d"], "a", {}]),
    (Lists, {"atomic": ["a"]}, "names", [["a", "b"], ["a", "a"], ["a", "a", "a"]]),
    (Lists, {"atomic": ["a"]}, "merged", [[{"name": "a"}, {"name": "b"}], [{"name": "a"}, {"name": "a"}], [1]]),
    (Lists, {"atomic": ["a"]}, "numbers", [[None, 1], ["1"]]),
    (Lists, {"atomic": ["a"]}, "nested", [[[1], []], [None]]),
    (Kubernetes, {}, "port", [80, "http", 1.5, 80.0, True, None, 2**63]),
    (Kubernetes, {}, "memory", [1, "1Gi", ".5", "5.", "1e3", "1e1.5", "", "m", "Pi", "1e0003", "1e1000"]),
    (Kubernetes, {}, "since", ["2026-01-02T03:04:05Z", "2026-01-02", 5, None]),
    (Kubernetes, {}, "anything", [[{"a": None}], None, 1]),
    (Kubernetes, {}, "open", [{"a": {"b": None}}, {"a": None}]),
    (Kubernetes, {}, "free", [{"c": [1, {"d": {}}]}]),
    (Kubernetes, {}, "counts", [{"a": {"b": 1}}, {"a": {"b": "1"}}, {"a": None}, {"a": {"b": None}}]),
    (Kubernetes, {}, "unknown", [1]),
    (
        WithPods,
        {},
        "template",
        [{}, None, {"spec": {}}, {"metadata": {"creationTimestamp": None, "labels": {"a": "b"}}}],
    ),
    (WithPods, spec_with_pod(env=[{"name": "A"}, {"name": "A"}], ports=[{"containerPort": 1}] * 2), "volumes", [None]),
    (WithPods, spec_with_pod(args=["a", None]), "volumes", [None]),
    (WithPods, spec_with_pod(resources={"limits": {"cpu": 1.5}}, imagePullPolciy="x"), "volumes", [None]),
    (
        WithPods,
        spec_with_pod(),
        "volumes",
        [[], [{"name": "a"}, {"name": "a"}], [{}], [{"name": "a", "emptyDir": None}]],
    ),
]
EMPTY: list[Any] = [{}, None, [], "x"]
CASES: list[tuple[type[Model], Any]] = [
    *((model, rest | {field: value}) for model, rest, field, values in FIELDS for value in values),
    *((Scalars, spec) for spec in EMPTY),
    *((Bounds, spec) for spec in EMPTY),
]


@pytest.mark.parametrize("model, spec", CASES, ids=lambda value: str(getattr(value, "__name__", value))[:60])
def test_the_api_server_returns_the_same_verdict(
    installed: dict[type[Model], Installed], model: type[Model], spec: Any
) -> None:
    kind = installed[model]
    submitted = kind.with_spec(spec)
    status, answer = kind.api.post(kind.collection, submitted, DRY_RUN)
    evaluated = kind.evaluator.default(kind.evaluator.prune(submitted))
    violations = kind.evaluator.validate(evaluated)
    assert (status == 201) == (not violations), (answer.get("message"), violations)
    if status == 201:
        assert answer.get("spec") == evaluated.get("spec")
    else:
        causes = {cause["field"] for cause in answer["details"]["causes"]}
        assert {text(violation.path) for violation in violations} <= causes


def text(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]

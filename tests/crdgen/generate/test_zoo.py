"""Schemas of plain models accept the same values, here and on a real API server; other models have good errors."""

import json
import secrets
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen import CustomResource, Names, SchemaError, Version, check_structural, crd, structural_schema
from crdgen.evaluate import Evaluator
from tests.differential.zoo.plain import MODELS, REJECTED, SPECIMENS, Specimen

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DRY_RUN = {"dryRun": "All", "fieldValidation": "Ignore"}


@cache
def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return structural_schema(model)


@cache
def evaluator_of(model: type[BaseModel]) -> Evaluator:
    return Evaluator({"type": "object", "properties": {"spec": schema_of(model)}, "required": ["spec"]})


def of_model(specimen: Specimen) -> str:
    return specimen.model.__name__


def stored(model: type[BaseModel], sample: Any) -> tuple[Any, list[str]]:
    """Return the stored value, and the messages of its violations."""
    evaluator = evaluator_of(model)
    whole = evaluator.default(evaluator.prune({"spec": sample}))
    return whole.get("spec"), [violation.message for violation in evaluator.validate(whole)]


def test_the_zoo_is_large() -> None:
    assert len(MODELS) >= 80


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_plain_model_has_a_structural_schema(model: type[BaseModel]) -> None:
    whole = {"type": "object", "properties": {"spec": schema_of(model)}}
    assert check_structural(whole) == []
    assert "x-crdgen" not in json.dumps(whole)


@pytest.mark.parametrize("specimen", SPECIMENS, ids=of_model)
def test_the_schema_accepts_what_the_model_accepts(specimen: Specimen) -> None:
    for sample in specimen.takes:
        specimen.model.model_validate_json(json.dumps(sample))
        value, problems = stored(specimen.model, sample)
        assert problems == [], sample
        # The model also reads the stored value.
        assert specimen.model.model_validate_json(json.dumps(value)) is not None


@pytest.mark.parametrize("specimen", SPECIMENS, ids=of_model)
def test_the_schema_rejects_what_the_model_rejects(specimen: Specimen) -> None:
    for sample in (*specimen.rejects, *specimen.by_rule):
        with pytest.raises(ValidationError):
            specimen.model.model_validate_json(json.dumps(sample))
    for sample in specimen.rejects:
        assert stored(specimen.model, sample)[1], sample


@pytest.mark.parametrize("specimen", SPECIMENS, ids=of_model)
def test_schema_and_model_have_the_same_defaults(specimen: Specimen) -> None:
    for sample in specimen.takes:
        value = stored(specimen.model, sample)[0]
        actual, expected = (specimen.model.model_validate_json(json.dumps(document)) for document in (value, sample))
        # Written sets have no order, and lazily read values are never equal.
        dumps = [model.model_dump(mode="json", round_trip=True) for model in (actual, expected)]
        assert actual == expected or dumps[0] == dumps[1]


@pytest.mark.parametrize("model, error", REJECTED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_model_without_a_structural_schema_is_an_error_with_path_and_fix(model: type[BaseModel], error: str) -> None:
    with pytest.raises(SchemaError) as raised:
        structural_schema(model)
    assert str(raised.value).startswith(error)
    assert raised.value.fix


class Nothing(BaseModel):
    """Placeholder: the models are put into its schema."""


@pytest.fixture(scope="module")
def collection(cluster_api: ClusterApi) -> Iterator[tuple[str, str]]:
    """Return kind and path of a resource with a field for each model in its spec."""
    name = f"zoo{secrets.token_hex(4)}"
    names = Names(kind=name.capitalize(), plural=name, singular=name)
    version = Version("v1", spec=Nothing)
    definition = crd(CustomResource(group="plain.example.com", names=names, versions=(version,)))
    spec = {"type": "object", "properties": {model.__name__: schema_of(model) for model in MODELS}}
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = spec
    status, answer = cluster_api.post(CRDS, definition, {"fieldValidation": "Strict"})
    assert status == 201, answer.get("message")
    path = f"/apis/plain.example.com/v1/namespaces/default/{name}"
    wait_for(lambda: cluster_api.get(path)[0] == 200, what=f"{name} is served")
    yield definition["spec"]["names"]["kind"], path
    cluster_api.delete(f"{CRDS}/{name}.plain.example.com")


def test_an_api_server_has_the_verdicts_of_the_models(cluster_api: ClusterApi, collection: tuple[str, str]) -> None:
    kind, path = collection

    def answer(model: type[BaseModel], sample: Any) -> tuple[int, dict[str, Any]]:
        metadata = {"name": "one", "namespace": "default"}
        spec = {model.__name__: sample}
        body = {"apiVersion": "plain.example.com/v1", "kind": kind, "metadata": metadata, "spec": spec}
        return cluster_api.post(path, body, DRY_RUN)

    for specimen in SPECIMENS:
        name = specimen.model.__name__
        for sample in specimen.takes:
            status, response = answer(specimen.model, sample)
            assert status == 201, (name, sample, response.get("message"))
            assert response["spec"][name] == stored(specimen.model, sample)[0], (name, sample)
        for sample in (*specimen.rejects, *specimen.by_rule):
            status, response = answer(specimen.model, sample)
            assert status == 422, (name, sample, response)

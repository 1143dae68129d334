"""The page lists where CRD and model differ; a real API server agrees with the CRD."""

import secrets
from typing import Any

import pytest

from controlplane.client import ClusterApi
from controlplane.waiting import wait_for
from crdgen import CustomResource, Names, Version, crd
from tests.differential.zoo.fidelity import PAGE, TYPES, Type, parts, written

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_the_page_is_up_to_date() -> None:
    _, table, _ = parts(PAGE.read_text(encoding="utf-8"))
    assert table == written(), "`python -m tests.differential.zoo.fidelity` generates it"


@pytest.mark.parametrize("case", TYPES, ids=lambda case: case.name)
def test_each_type_has_a_sample_that_both_accept(case: Type) -> None:
    assert any(case.taken_by_model(sample) and case.taken_by_crd(sample) for sample in case.samples)


@pytest.mark.parametrize("case", [case for case in TYPES if case.advice], ids=lambda case: case.name)
def test_types_with_advice_differ(case: Type) -> None:
    assert case.stricter or case.looser


def test_an_api_server_accepts_and_rejects_the_same_samples(cluster_api: ClusterApi) -> None:
    name = f"fidelity{secrets.token_hex(3)}"
    names = Names(kind=name.capitalize(), plural=name, singular=name)
    version = Version("v1", spec=TYPES[0].model)
    definition = crd(CustomResource(group="fidelity.example.com", names=names, versions=(version,)))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = {
        "type": "object",
        "properties": {f"f{index}": case.schema for index, case in enumerate(TYPES)},
    }
    status, answer = cluster_api.post(CRDS, definition, {"fieldValidation": "Strict"})
    assert status == 201, answer.get("message")
    path = f"/apis/fidelity.example.com/v1/namespaces/default/{name}"
    try:
        wait_for(lambda: cluster_api.get(path)[0] == 200, what=f"{name} is served")
        for index, case in enumerate(TYPES):
            for sample in case.samples:
                body: dict[str, Any] = {
                    "apiVersion": "fidelity.example.com/v1",
                    "kind": definition["spec"]["names"]["kind"],
                    "metadata": {"name": "one", "namespace": "default"},
                    "spec": {f"f{index}": {"value": sample}},
                }
                status, answer = cluster_api.post(path, body, {"dryRun": "All", "fieldValidation": "Ignore"})
                assert (status == 201) is case.taken_by_crd(sample), (case.name, sample, answer.get("message"))
    finally:
        cluster_api.delete(f"{CRDS}/{name}.fidelity.example.com")

"""The page tells where CRD and model differ, and a real API server differs there too."""

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


@pytest.mark.parametrize("one", TYPES, ids=lambda one: one.name)
def test_each_type_has_a_sample_that_both_take(one: Type) -> None:
    assert any(one.taken_by_model(sample) and one.taken_by_crd(sample) for sample in one.samples)


@pytest.mark.parametrize("one", [one for one in TYPES if one.advice], ids=lambda one: one.name)
def test_advice_is_given_where_they_differ(one: Type) -> None:
    assert one.stricter or one.looser


def test_an_api_server_takes_and_rejects_the_same_samples(cluster_api: ClusterApi) -> None:
    name = f"fidelity{secrets.token_hex(3)}"
    names = Names(kind=name.capitalize(), plural=name, singular=name)
    version = Version("v1", spec=TYPES[0].model)
    definition = crd(CustomResource(group="fidelity.example.com", names=names, versions=(version,)))
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = {
        "type": "object",
        "properties": {f"f{at}": one.schema for at, one in enumerate(TYPES)},
    }
    status, answer = cluster_api.post(CRDS, definition, {"fieldValidation": "Strict"})
    assert status == 201, answer.get("message")
    path = f"/apis/fidelity.example.com/v1/namespaces/default/{name}"
    try:
        wait_for(lambda: cluster_api.get(path)[0] == 200, what=f"{name} is served")
        for at, one in enumerate(TYPES):
            for sample in one.samples:
                body: dict[str, Any] = {
                    "apiVersion": "fidelity.example.com/v1",
                    "kind": definition["spec"]["names"]["kind"],
                    "metadata": {"name": "one", "namespace": "default"},
                    "spec": {f"f{at}": {"value": sample}},
                }
                status, found = cluster_api.post(path, body, {"dryRun": "All", "fieldValidation": "Ignore"})
                assert (status == 201) is one.taken_by_crd(sample), (one.name, sample, found.get("message"))
    finally:
        cluster_api.delete(f"{CRDS}/{name}.fidelity.example.com")

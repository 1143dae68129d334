"""The installation of a kind in several versions: its CRD, and the rotation of its bundle."""

import base64
from typing import Any

import pytest

from jobgate.installation import Installation, objects
from jobgate.jobs.binding import bind
from jobgate.kinds import built_in
from tests.versions import CREW, down, resource, up
from webhook import OtherVersion, Registry

CREWS = CREW.qualified_plural
KINDS = Registry([*built_in(), CREW])


def rendered(kind: str, name: str, **choices: Any) -> Any:
    manifests = objects(KINDS, Installation(**choices))
    return next(item for item in manifests if (item["kind"], item["metadata"]["name"]) == (kind, name))


def test_the_api_server_is_told_to_call_the_server_for_conversions() -> None:
    crd = rendered("CustomResourceDefinition", CREWS, namespace="training", service="hook", service_port=8443)
    assert crd["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {
                "service": {"namespace": "training", "name": "hook", "port": 8443, "path": "/convert"},
            },
            "conversionReviewVersions": ["v1"],
        },
    }
    assert "conversion" not in rendered("CustomResourceDefinition", "dijobs.diengine.opendilab.org")["spec"]


def test_the_bundle_is_rotated_injected_or_rendered() -> None:
    deployment = rendered("Deployment", "jobgate-certificates")
    assert f"--crd={CREWS}" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    rules = rendered("ClusterRole", "jobgate-certificates")["rules"]
    assert [rule["resourceNames"] for rule in rules if "customresourcedefinitions" in rule["resources"]] == [[CREWS]]
    crd = rendered("CustomResourceDefinition", CREWS, rotation="cert-manager")
    assert crd["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": "jobgate-system/jobgate-webhook"}
    pem = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    crd = rendered("CustomResourceDefinition", CREWS, rotation="none", ca_bundle=pem)
    assert base64.b64decode(crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"]) == pem


def test_a_kind_that_is_off_is_not_rotated() -> None:
    deployment = rendered("Deployment", "jobgate-certificates", kinds={CREWS: False})
    assert f"--crd={CREWS}" not in deployment["spec"]["template"]["spec"]["containers"][0]["args"]


def test_all_other_versions_must_be_convertible() -> None:
    versions = {"v1alpha2": OtherVersion(up, down)}
    with pytest.raises(TypeError, match="versions of Crew has v1alpha2, and must have v1alpha1: the versions of its"):
        bind(resource(), versions=versions)

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobgate.podchecks.newer_fields import FIELDS, check_newer_fields, without_newer_fields
from webhook.cause import Forbidden
from webhook.path import Path

OLDEST, NEWEST = 21, 36


def template(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main"}], **spec}}


def container(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", **fields}]}}


def init_container(**fields: Any) -> dict[str, Any]:
    return template(initContainers=[{"name": "init", **fields}])


def volume(**source: Any) -> dict[str, Any]:
    return template(volumes=[{"name": "v", **source}])


def anti_affinity(**term: Any) -> dict[str, Any]:
    return template(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


#: The dropped field, the minor version that added it, the template, and its path.
FATAL: list[tuple[str, int, dict[str, Any], str]] = [
    ("a native sidecar", 28, init_container(restartPolicy="Always"), "initContainers[0].restartPolicy"),
    ("a gRPC liveness probe", 23, container(livenessProbe={"grpc": {"port": 1}}), "containers[0].livenessProbe.grpc"),
    (
        "a gRPC startup probe",
        23,
        init_container(startupProbe={"grpc": {"port": 1}}),
        "initContainers[0].startupProbe.grpc",
    ),
    (
        "a sleep before the stop",
        29,
        container(lifecycle={"preStop": {"sleep": {"seconds": 1}}}),
        "containers[0].lifecycle.preStop.sleep",
    ),
    ("users of the pod's own", 25, template(hostUsers=False), "hostUsers"),
    (
        "a pod's AppArmor profile",
        30,
        template(securityContext={"appArmorProfile": {"type": "RuntimeDefault"}}),
        "securityContext.appArmorProfile",
    ),
    (
        "a container's AppArmor profile",
        30,
        container(securityContext={"appArmorProfile": {"type": "Localhost"}}),
        "containers[0].securityContext.appArmorProfile",
    ),
    (
        "strict groups",
        31,
        template(securityContext={"supplementalGroupsPolicy": "Strict"}),
        "securityContext.supplementalGroupsPolicy",
    ),
    (
        "a mount that is read-only all the way down",
        30,
        container(volumeMounts=[{"recursiveReadOnly": "Enabled"}]),
        "containers[0].volumeMounts[0].recursiveReadOnly",
    ),
    (
        "a host process",
        22,
        container(securityContext={"windowsOptions": {"hostProcess": True}}),
        "containers[0].securityContext.windowsOptions.hostProcess",
    ),
    ("claims of devices", 26, template(resourceClaims=[{"name": "gpu"}]), "resourceClaims"),
    (
        "the source of a claim",
        31,
        template(resourceClaims=[{"name": "gpu", "resourceClaimName": "a"}]),
        "resourceClaims[0].resourceClaimName",
    ),
    ("an image as a volume", 31, volume(image={"reference": "a"}), "volumes[0].image"),
    (
        "a trust bundle",
        29,
        volume(projected={"sources": [{"clusterTrustBundle": {"path": "a"}}]}),
        "volumes[0].projected.sources[0].clusterTrustBundle",
    ),
    (
        "a certificate",
        34,
        volume(projected={"sources": [{"podCertificate": {"keyType": "ED25519"}}]}),
        "volumes[0].projected.sources[0].podCertificate",
    ),
    (
        "a volume's source of data",
        22,
        volume(ephemeral={"volumeClaimTemplate": {"spec": {"dataSourceRef": {"name": "a"}}}}),
        "volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef",
    ),
    (
        "the namespace of that source",
        26,
        volume(ephemeral={"volumeClaimTemplate": {"spec": {"dataSourceRef": {"namespace": "a"}}}}),
        "volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace",
    ),
    (
        "a variable from a file",
        34,
        container(env=[{"name": "A"}, {"valueFrom": {"fileKeyRef": {"key": "a"}}}]),
        "containers[0].env[1].valueFrom.fileKeyRef",
    ),
]

REPORTED: list[tuple[str, int, dict[str, Any], str]] = [
    ("the host's users, which is the default", 25, template(hostUsers=True), "hostUsers"),
    ("the operating system", 23, template(os={"name": "linux"}), "os"),
    ("gates of scheduling", 26, template(schedulingGates=[{"name": "a"}]), "schedulingGates"),
    ("a pod's own resources", 32, template(resources={"limits": {"cpu": "1"}}), "resources"),
    ("a name instead of the hostname", 34, template(hostnameOverride="a"), "hostnameOverride"),
    ("a group of pods", 36, template(schedulingGroup={"podGroupName": "a"}), "schedulingGroup"),
    ("when a container restarts", 28, container(restartPolicy="Never"), "containers[0].restartPolicy"),
    ("when an init container restarts", 28, init_container(restartPolicy="Never"), "initContainers[0].restartPolicy"),
    (
        "by which exit code",
        34,
        container(restartPolicyRules=[{"action": "Restart"}]),
        "containers[0].restartPolicyRules",
    ),
    ("how it is resized", 27, container(resizePolicy=[{"resourceName": "cpu"}]), "containers[0].resizePolicy"),
    ("how it is stopped", 33, container(lifecycle={"stopSignal": "SIGUSR1"}), "containers[0].lifecycle.stopSignal"),
    (
        "which devices of a claim",
        31,
        container(resources={"claims": [{"name": "a", "request": "b"}]}),
        "containers[0].resources.claims[0].request",
    ),
    (
        "no AppArmor at all",
        30,
        template(securityContext={"appArmorProfile": {"type": "Unconfined"}}),
        "securityContext.appArmorProfile",
    ),
    (
        "labels of volumes",
        32,
        template(securityContext={"seLinuxChangePolicy": "Recursive"}),
        "securityContext.seLinuxChangePolicy",
    ),
    (
        "read-only where possible",
        30,
        container(volumeMounts=[{"recursiveReadOnly": "IfPossible"}]),
        "containers[0].volumeMounts[0].recursiveReadOnly",
    ),
    (
        "keys of affinity",
        29,
        anti_affinity(matchLabelKeys=["a"]),
        "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys",
    ),
    (
        "a least number of domains",
        24,
        template(topologySpreadConstraints=[{"minDomains": 2}]),
        "topologySpreadConstraints[0].minDomains",
    ),
    (
        "tainted nodes",
        25,
        template(topologySpreadConstraints=[{"nodeTaintsPolicy": "Honor"}]),
        "topologySpreadConstraints[0].nodeTaintsPolicy",
    ),
    (
        "keys of spreading",
        25,
        template(topologySpreadConstraints=[{"matchLabelKeys": ["a"]}]),
        "topologySpreadConstraints[0].matchLabelKeys",
    ),
    (
        "a volume's attributes",
        29,
        volume(ephemeral={"volumeClaimTemplate": {"spec": {"volumeAttributesClassName": "a"}}}),
        "volumes[0].ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName",
    ),
    (
        "words for the signer",
        35,
        volume(projected={"sources": [{"podCertificate": {"userAnnotations": {"a/b": "c"}}}]}),
        "volumes[0].projected.sources[0].podCertificate.userAnnotations",
    ),
]

#: Dropped by newer types too.
UNREPORTED: list[tuple[str, int, dict[str, Any]]] = [
    ("nothing, written as a list", 26, template(schedulingGates=[])),
    ("nothing, written as null", 23, template(os=None)),
]


def ids(case: tuple[Any, ...]) -> str:
    return str(case[0])


@pytest.mark.parametrize("case", FATAL, ids=ids)
def test_a_job_that_cannot_do_without_is_rejected(case: tuple[str, int, dict[str, Any], str]) -> None:
    _, since, pod_template, where = case
    result = list(check_newer_fields(pod_template, Path("template"), minor=since - 1, operator="Trainer"))
    assert [(type(finding), str(finding.path)) for finding in result] == [(Forbidden, f"template.spec.{where}")]
    says = f"Forbidden: Trainer, built for Kubernetes 1.{since - 1}, drops this field (added in 1.{since}): "
    assert result[0].message.startswith(says)
    assert len(result[0].message) > len(says) + 20


@pytest.mark.parametrize("case", REPORTED, ids=ids)
def test_a_job_that_can_do_without_is_reported(case: tuple[str, int, dict[str, Any], str]) -> None:
    _, since, pod_template, where = case
    result = list(check_newer_fields(pod_template, Path("template"), minor=since - 1, operator="Trainer"))
    assert [(isinstance(finding, Forbidden), str(finding.path)) for finding in result] == [
        (False, f"template.spec.{where}")
    ]
    assert result[0].message.startswith("Trainer, built for Kubernetes 1.")


@pytest.mark.parametrize("case", [*FATAL, *REPORTED], ids=ids)
def test_types_of_the_version_that_a_field_came_with_keep_it(case: tuple[str, int, dict[str, Any], str]) -> None:
    _, since, pod_template, _ = case
    assert list(check_newer_fields(pod_template, Path(), minor=since, operator="Trainer")) == []
    assert without_newer_fields(pod_template, since) is pod_template


@pytest.mark.parametrize("case", UNREPORTED, ids=ids)
def test_what_is_empty_is_dropped_without_a_word(case: tuple[str, int, dict[str, Any]]) -> None:
    _, since, pod_template = case
    assert list(check_newer_fields(pod_template, Path(), minor=since - 1, operator="Trainer")) == []
    assert without_newer_fields(pod_template, since - 1) != pod_template


def test_an_operator_rewrites_the_template_without_what_it_drops() -> None:
    probe = {"grpc": {"port": 1}, "periodSeconds": 5}
    written = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "os": {"name": "linux"},
            "containers": [{"name": "a", "image": "i"}, {"name": "b", "livenessProbe": probe}],
            "volumes": [{"name": "v", "image": {"reference": "r"}}],
        },
    }
    before = copy.deepcopy(written)
    assert without_newer_fields(written, 21) == {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "containers": [{"name": "a", "image": "i"}, {"name": "b", "livenessProbe": {"periodSeconds": 5}}],
            "volumes": [{"name": "v"}],
        },
    }
    assert written == before


def test_what_loses_nothing_is_shared_with_the_template() -> None:
    written: dict[str, Any] = {"spec": {"os": {"name": "linux"}, "containers": [{"name": "a"}]}}
    assert without_newer_fields(written, 21)["spec"]["containers"] is written["spec"]["containers"]


def test_an_object_of_which_all_is_dropped_stays_empty() -> None:
    written = container(livenessProbe={"grpc": {"port": 1}}, lifecycle={"stopSignal": "SIGUSR1"})
    kept = without_newer_fields(written, 21)["spec"]["containers"][0]
    assert kept == {"name": "main", "livenessProbe": {}, "lifecycle": {}}


def test_a_field_that_came_later_into_a_newer_field_is_lost_with_it() -> None:
    written = template(resourceClaims=[{"name": "gpu", "resourceClaimName": "a"}])
    result = check_newer_fields(written, Path(), minor=25, operator="Trainer")
    assert [str(finding.path) for finding in result] == ["spec.resourceClaims"]
    assert without_newer_fields(written, 28)["spec"]["resourceClaims"] == [{"name": "gpu"}]


ENTRY_NAMES = (
    "spec",
    "containers",
    "securityContext",
    "livenessProbe",
    "grpc",
    "os",
    "hostUsers",
    "volumes",
    "resources",
    "claims",
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(ENTRY_NAMES), inner, max_size=4),
    max_leaves=15,
)


@given(pod_template=st.dictionaries(st.sampled_from(ENTRY_NAMES), ANY_JSON), minor=st.integers(OLDEST - 5, NEWEST + 3))
@settings(max_examples=100, deadline=None)
def test_any_template_is_rewritten_once(pod_template: dict[str, Any], minor: int) -> None:
    before = json.dumps(pod_template)
    kept = without_newer_fields(pod_template, minor)
    assert json.dumps(pod_template) == before
    assert without_newer_fields(kept, minor) is kept
    assert list(check_newer_fields(kept, Path(), minor=minor, operator="Trainer")) == []


def test_every_entry_of_the_table_is_of_a_version() -> None:
    assert len(FIELDS) > 60
    for field in FIELDS.values():
        assert OLDEST < field.since <= NEWEST

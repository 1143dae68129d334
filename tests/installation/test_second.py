"""Two installations side by side: what the name, the namespace and the selectors change, and what they do not."""

from typing import Any

import pytest

from jobgate.installation import Installation, objects
from jobgate.kinds import installed

KINDS = installed()
RUN = "dijobs.diengine.opendilab.org"
SELECTOR: dict[str, Any] = {
    "matchLabels": {"channel": "canary"},
    "matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["web"]}],
}
#: Names of objects in all namespaces before installations had names.
FIRST = {
    "ClusterRole": {
        *(f"jobgate-{each}" for each in ("webhook", "controller", "certificates", "runner", "jobs-view", "jobs-edit")),
        *(f"jobgate-prerequisites-{each}" for each in ("view", "edit")),
        *(f"jobgate-clusterprerequisites-{each}" for each in ("use", "edit")),
    },
    "ClusterRoleBinding": {f"jobgate-{each}" for each in ("webhook", "controller", "certificates", "runner")},
    "MutatingWebhookConfiguration": {"jobgate"},
    "ValidatingWebhookConfiguration": {"jobgate"},
    "Namespace": {"jobgate-system"},
    "ValidatingAdmissionPolicy": {
        *(f"jobgate-{each}" for each in ("installation", "controller", "certificates")),
        *(f"jobgate-runner{each}" for each in ("", "-labels", "-deletions")),
    },
}
FIRST["ValidatingAdmissionPolicyBinding"] = FIRST["ValidatingAdmissionPolicy"]


def rendered(**choices: Any) -> list[dict[str, Any]]:
    return objects(KINDS, Installation(**{"crds": False, "run": (RUN,), "monitoring": True, **choices}))


def second(**choices: Any) -> list[dict[str, Any]]:
    return rendered(name="canary", namespace="canary-system", **choices)


def everywhere(manifests: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the names of the objects in all namespaces, by kind."""
    names: dict[str, set[str]] = {}
    for each in manifests:
        if "namespace" not in each["metadata"]:
            names.setdefault(each["kind"], set()).add(each["metadata"]["name"])
    return names


def test_the_first_installation_keeps_its_names() -> None:
    assert everywhere(rendered()) == FIRST


def test_no_object_has_two_installations() -> None:
    keys = [
        {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in made}
        for made in (rendered(secrets_in=("team",)), second(secrets_in=("team",)))
    ]
    assert not keys[0] & keys[1]
    assert len(keys[0]) == len(keys[1])


def test_all_objects_and_pods_name_their_installation() -> None:
    for each in second(crds=True):
        labelled = [each, *([each["spec"]["template"]] if each["kind"] == "Deployment" else [])]
        for one in labelled:
            labels = one["metadata"]["labels"]
            names = labels["app.kubernetes.io/instance"], labels["jobgate.dev/installation-namespace"]
            assert names == ("canary", "canary-system"), each["metadata"]


def test_selectors_of_pods_are_those_of_the_first_version() -> None:
    """Selectors of Deployments cannot be changed, and another installation is in another namespace."""
    for each in rendered():
        if each["kind"] == "Deployment":
            keys = each["spec"]["selector"]["matchLabels"].keys()
            assert keys == {"app.kubernetes.io/name", "app.kubernetes.io/component"}


def test_names_are_those_that_the_objects_refer_to() -> None:
    by_kind = everywhere(second())
    for each in second():
        reference = each.get("roleRef", {"kind": ""})
        if reference["kind"] == "ClusterRole":
            assert reference["name"] in by_kind["ClusterRole"]
        if each["kind"] == "ValidatingAdmissionPolicyBinding":
            assert each["spec"]["policyName"] in by_kind["ValidatingAdmissionPolicy"]
        if each["metadata"]["name"] == "canary-certificates" and each["kind"] == "ClusterRole":
            assert each["rules"][0]["resourceNames"] == ["canary"]


@pytest.mark.parametrize("name", ["controller", "runner", "certificates"])
def test_each_lease_has_the_name_of_the_installation_and_the_right_to_it(name: str) -> None:
    made = {(each["kind"], each["metadata"]["name"]): each for each in second()}
    args = made["Deployment", f"jobgate-{name}"]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert f"--lease-name=canary-{name}" in args
    named = [
        rule["resourceNames"]
        for rule in made["Role", f"jobgate-{name}"]["rules"]
        if "leases" in rule["resources"][0] and "resourceNames" in rule
    ]
    assert named == [[f"canary-{name}"]]


def test_the_metrics_of_an_installation_have_its_name() -> None:
    (monitor,) = (each for each in second() if each["kind"] == "ServiceMonitor")
    assert monitor["spec"]["endpoints"][0]["relabelings"] == [{"targetLabel": "installation", "replacement": "canary"}]


def test_webhooks_controllers_and_policies_serve_the_selected_namespaces() -> None:
    made = second(namespace_selector=SELECTOR)
    for each in made:
        if each["kind"].endswith("WebhookConfiguration"):
            for entry in each["webhooks"]:
                selector = entry["namespaceSelector"]
                assert selector["matchLabels"] == SELECTOR["matchLabels"]
                assert selector["matchExpressions"][-1] == SELECTOR["matchExpressions"][0]
                assert len(selector["matchExpressions"]) == 3
    policies = {each["metadata"]["name"]: each["spec"] for each in made if each["kind"] == "ValidatingAdmissionPolicy"}
    for name in ("labels", "deletions"):
        assert policies[f"canary-runner-{name}"]["matchConstraints"]["namespaceSelector"] == SELECTOR
    flags = {
        each["metadata"]["name"]: [
            arg for arg in each["spec"]["template"]["spec"]["containers"][0]["args"] if "selector" in arg
        ]
        for each in made
        if each["kind"] == "Deployment"
    }
    text = (
        '{"matchExpressions":[{"key":"team","operator":"NotIn","values":["web"]}],"matchLabels":{"channel":"canary"}}'
    )
    flag = [f"--namespace-selector={text}"]
    empty: list[str] = []
    assert flags == {
        "jobgate-webhook": empty, "jobgate-controller": flag, "jobgate-runner": flag, "jobgate-certificates": empty
    }  # fmt: skip


def test_an_object_selector_is_for_jobs_and_not_for_their_pods() -> None:
    made = second(run=(), object_selector={"matchLabels": {"channel": "canary"}})
    for each in made:
        if each["kind"].endswith("WebhookConfiguration"):
            selectors = {entry["name"].split(".")[0]: entry.get("objectSelector", {}) for entry in each["webhooks"]}
            assert selectors["dijobs"] == {"matchLabels": {"channel": "canary"}}
            others = [selectors[name] for name in selectors if name in {"pods", "scale", "prerequisites", "workloads"}]
            assert others
            assert not any("channel" in str(selector) for selector in others)


def test_of_one_installation_no_selector_is_rendered() -> None:
    for each in rendered():
        for entry in each.get("webhooks", ()):
            assert set(entry["namespaceSelector"]) == {"matchExpressions"}
            assert len(entry["namespaceSelector"]["matchExpressions"]) == 2
        if each["kind"] == "ValidatingAdmissionPolicy" and each["metadata"]["name"] != "jobgate-certificates":
            assert "namespaceSelector" not in each["spec"]["matchConstraints"]

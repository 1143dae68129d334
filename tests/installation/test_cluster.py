"""A real API server accepts all rendered objects, and gives each account its rights and no others."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from certs import issue_generation, service_names
from controlplane.client import JSON_PATCH, ClusterApi
from controlplane.fixtures import new_namespace
from controlplane.objects import ClusterObjects, read, written
from controlplane.plane import ControlPlane
from controlplane.waiting import wait_for
from jobgate.installation import Installation, objects
from jobgate.installation.installation import RotationMode
from jobgate.installation.kustomize import CHOICES, key_of
from jobgate.installation.objects import base
from jobgate.kinds import installed

KINDS = installed()
SYSTEM = "jobgate-system"
#: A CRD with objects that the installation converts.
CONVERTED = "things.example.com"
_CRDS = "customresourcedefinitions"
#: Kinds of others, which take anything here.
FOREIGN = {
    "cert-manager.io/v1": ["Issuer", "Certificate"],
    "monitoring.coreos.com/v1": ["ServiceMonitor", "PrometheusRule"],
}
_RIGHTS = {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
_POLICY = {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
CA = issue_generation(service_names("jobgate-webhook", SYSTEM), datetime.now(UTC)).ca_certificate
_CHOSEN: dict[str, dict[str, Any]] = {
    "plain": {},
    "cronjob": {"rotation": "cronjob", **CHOICES["dev"]},
    "cert-manager": {**CHOICES["cert-manager"], **CHOICES["network-policy"]},
    "a certificate of one's own": {"rotation": "none", "ca_bundle": CA},
    "everything": {
        **CHOICES["ha"],
        **CHOICES["network-policy"],
        **CHOICES["monitoring"],
        "secrets_in": (SYSTEM,),
        "queueing": "volcano",
        "conversion_crds": (CONVERTED,),
        "kind_settings": {"mxjobs.mxnet.mlkube.io": "{}\n"},
    },
}


@pytest.fixture(scope="module")
def plane(controlplane: ControlPlane) -> Iterator[ControlPlane]:
    """A control plane with our namespace and rights, and with stand-ins for the CRDs of others."""
    groups = base(KINDS, Installation(secrets_in=(SYSTEM,), conversion_crds=(CONVERTED,)))
    real = [each for group in groups.values() for each in group if each["kind"] in {"Namespace", *_RIGHTS, *_POLICY}]
    foreign = [definition(api_version, kind) for api_version, kinds in FOREIGN.items() for kind in kinds]
    controlplane.kubectl("apply", "-f", "-", input=written([*real, *foreign]))
    stored = ClusterObjects(controlplane.client)
    stored.established(*(entry["metadata"]["name"] for entry in foreign))
    yield controlplane
    for one in foreign:
        controlplane.client.delete(stored.path(one))


def definition(api_version: str, kind: str) -> dict[str, Any]:
    """A CRD that takes anything."""
    group, _, version = api_version.partition("/")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


def test_the_api_server_takes_everything_without_a_warning(plane: ControlPlane) -> None:
    rendered: list[dict[str, Any]] = []
    for choice, chosen in _CHOSEN.items():
        # The CRDs are the same whatever is chosen, and much else is.
        result = objects(KINDS, Installation(**chosen, crds=choice == "plain"))
        rendered += [each for each in result if each not in rendered]
    done = plane.kubectl(
        "apply", "--dry-run=server", "--validate=strict", "-f", "-", input=written(rendered), check=False
    )
    # kubectl itself warns of objects that another test has created in another way.
    warnings = [line for line in done.stderr.splitlines() if "last-applied-configuration annotation" not in line]
    assert (done.returncode, warnings) == (0, [])
    assert len(done.stdout.splitlines()) == len(rendered)


@pytest.mark.parametrize("choice", CHOICES)
def test_kustomize_makes_of_an_overlay_what_the_choice_renders(plane: ControlPlane, choice: str) -> None:
    built = plane.kubectl("kustomize", f"manifests/overlays/{choice}").stdout
    assert {key_of(each): each for each in read(built)} == _chosen(CHOICES[choice])


def test_components_can_be_combined(plane: ControlPlane, tmp_path: Path) -> None:
    names = ("ha", "network-policy", "monitoring", "policies", "openshift")
    built = _built(plane, tmp_path, {"components": [f"manifests/components/{name}" for name in names]})
    together = {key: value for name in names for key, value in CHOICES[name].items()}
    assert built == _chosen(together)


def test_a_component_that_removes_objects_is_combined_with_one_that_patches_them(
    plane: ControlPlane, tmp_path: Path
) -> None:
    names = ("cert-manager", "openshift", "fail-open")
    built = _built(plane, tmp_path, {"components": [f"manifests/components/{name}" for name in names]})
    assert built == _chosen({key: value for name in names for key, value in CHOICES[name].items()})


def test_the_patches_of_the_documentation_are_the_values_beside_them(plane: ControlPlane, tmp_path: Path) -> None:
    """The rows of the table that have a target and a patch, and the two files around it."""
    page = Path("docs/how-to/install.md").read_text(encoding="utf-8").partition("\n## Upgrades with Helm")[0]
    whole, replacements = (yaml.safe_load(block.partition("```")[0]) for block in page.split("```yaml\n")[1:])
    rows = [
        re.findall("`([^`]+)`", line) for line in page.splitlines() if line.startswith("| `") and line.count("`") == 6
    ]
    patches = [{"target": yaml.safe_load(target.replace("\\|", "|")), "patch": patch} for _, target, patch in rows]
    assert whole["patches"][0] in patches
    values = {name: value for row in rows for name, value in yaml.safe_load(row[0]).items()}
    assert values.keys() == {*PATCHED}
    built = _built(plane, tmp_path, {**whole, **replacements, "patches": patches})
    chosen = {**CHOICES["ha"], **CHOICES["monitoring"], "image": "registry.example.com/jobgate:0.1.0"}
    of_webhooks = {"timeoutSeconds": 10, "failurePolicies": {"mxjobs.mxnet.mlkube.io": "Ignore"}}
    assert built == _chosen({**chosen, **values, **of_webhooks})


#: The values of the chart with a patch in the documentation.
PATCHED = (
    *("resources", "extraArgs", "extraEnv", "nodeSelector", "tolerations", "affinity", "topologySpread"),
    *("imagePullPolicy", "imagePullSecrets", "podLabels", "podAnnotations", "podSecurityContext", "securityContext"),
    *("priorityClass", "disruptionBudgets", "monitorLabels"),
)


def _built(plane: ControlPlane, folder: Path, kustomization: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """Build a kustomization beside `manifests`, by default with the base; return its objects."""
    (folder / "manifests").symlink_to(Path("manifests").absolute())
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["manifests/base"], **kustomization}))
    built = plane.kubectl("kustomize", str(folder), "--load-restrictor=LoadRestrictionsNone").stdout
    return {key_of(each): each for each in read(built)}


def _chosen(choices: Mapping[str, Any]) -> dict[Any, dict[str, Any]]:
    groups = base(KINDS, Installation(**choices)).values()
    return {key_of(each): each for group in groups for each in group}


@cache
def templates() -> dict[str, dict[str, Any]]:
    """All pod templates, by name."""
    result = {}
    for rotation in RotationMode.WATCH, RotationMode.CRONJOB:
        for entry in objects(KINDS, Installation(crds=False, rotation=rotation)):
            spec = entry.get("spec", {})
            spec = spec.get("jobTemplate", {}).get("spec", spec)
            if "template" in spec:
                result[f"{entry['kind']} {entry['metadata']['name']}"] = spec["template"]
    return result


@pytest.mark.parametrize("name", templates())
def test_a_namespace_that_enforces_restricted_takes_the_pod(
    plane: ControlPlane, cluster_api: ClusterApi, name: str
) -> None:
    status, answer = _create_pod(cluster_api, templates()[name])
    assert status == 201, answer


def test_that_namespace_does_not_take_a_pod_that_may_be_root(plane: ControlPlane, cluster_api: ClusterApi) -> None:
    template = deepcopy(templates()["Deployment jobgate-webhook"])
    del template["spec"]["securityContext"]["runAsNonRoot"]
    status, answer = _create_pod(cluster_api, template)
    assert (status, "runAsNonRoot" in answer["message"]) == (403, True)


def _create_pod(api: ClusterApi, template: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    pod = {"apiVersion": "v1", "kind": "Pod", **template}
    pod["metadata"] = {**template["metadata"], "name": "trial"}
    return api.post(f"/api/v1/namespaces/{SYSTEM}/pods", pod, {"dryRun": "All"})


_ADMISSION = "admissionregistration.k8s.io"
_CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_TLS = "jobgate-webhook-tls"
#: Account, verb, group, resource, namespace, name; all must be allowed.
ALLOWED = [
    *[("jobgate-webhook", verb, "", "secrets", SYSTEM, _TLS) for verb in ("get", "list", "watch")],
    *[("jobgate-webhook", verb, "diengine.opendilab.org", "dijobs", "any", "") for verb in ("get", "list", "watch")],
    ("jobgate-webhook", "watch", "scheduling.volcano.sh", "queues", "", ""),
    *[("jobgate-webhook", verb, "", "namespaces", "", "") for verb in ("list", "watch")],
    ("jobgate-controller", "watch", "diengine.opendilab.org", "dijobs", "any", ""),
    *[("jobgate-controller", verb, "", "services", "any", "x") for verb in ("create", "patch", "delete")],
    *[("jobgate-controller", verb, "", "namespaces", "", "") for verb in ("list", "watch")],
    ("jobgate-controller", "create", "coordination.k8s.io", "leases", SYSTEM, ""),
    ("jobgate-controller", "patch", "coordination.k8s.io", "leases", SYSTEM, "jobgate-controller"),
    ("jobgate-controller", "create", "", "secrets", SYSTEM, ""),
    *[("jobgate-certificates", verb, "", "secrets", SYSTEM, _TLS) for verb in ("get", "list", "watch", "patch")],
    ("jobgate-certificates", "create", "", "secrets", SYSTEM, ""),
    *[
        ("jobgate-certificates", verb, _ADMISSION, resource, "", "jobgate")
        for verb in ("get", "list", "watch", "patch")
        for resource in _CONFIGURATIONS
    ],
    ("jobgate-certificates", "create", "", "events", SYSTEM, ""),
    ("jobgate-certificates", "list", "discovery.k8s.io", "endpointslices", SYSTEM, ""),
    *[("jobgate-certificates", verb, "apiextensions.k8s.io", _CRDS, "", CONVERTED) for verb in ("get", "patch")],
    ("jobgate-certificates", "create", "coordination.k8s.io", "leases", SYSTEM, ""),
    ("jobgate-certificates", "patch", "coordination.k8s.io", "leases", SYSTEM, "jobgate-certificates"),
]  # fmt: skip
_NOBODY = [
    ("get", "", "secrets", SYSTEM, "another"),
    ("list", "", "secrets", SYSTEM, ""),
    ("list", "", "secrets", "", ""),
    ("get", "", "secrets", "kube-system", _TLS),
    ("create", "", "secrets", "kube-system", ""),
    ("delete", "", "secrets", SYSTEM, _TLS),
    ("create", "", "pods", SYSTEM, ""),
    ("create", "apps", "deployments", SYSTEM, ""),
    ("create", "", "serviceaccounts/token", SYSTEM, "jobgate-certificates"),
    ("patch", "", "namespaces", "", SYSTEM),
    ("create", _ADMISSION, "mutatingwebhookconfigurations", "", ""),
    ("patch", _ADMISSION, "validatingwebhookconfigurations", "", "another"),
    ("delete", _ADMISSION, "mutatingwebhookconfigurations", "", "jobgate"),
    ("patch", _ADMISSION, "validatingadmissionpolicies", "", "jobgate-certificates"),
    ("patch", "apiextensions.k8s.io", "customresourcedefinitions", "", "dijobs.diengine.opendilab.org"),
    ("bind", "rbac.authorization.k8s.io", "clusterroles", "", "cluster-admin"),
    ("escalate", "rbac.authorization.k8s.io", "clusterroles", "", ""),
    ("impersonate", "", "users", "", "admin"),
    ("create", "certificates.k8s.io", "certificatesigningrequests", "", ""),
    ("patch", "diengine.opendilab.org", "dijobs", "any", "x"),
    ("patch", "diengine.opendilab.org", "dijobs/status", "any", "x"),
    ("patch", "coordination.k8s.io", "leases", "kube-system", "kube-scheduler"),
    ("patch", "coordination.k8s.io", "leases", SYSTEM, "another"),
]
#: The same; all must be forbidden.
FORBIDDEN = [
    *[
        (account, *each)
        for account in ("jobgate-webhook", "jobgate-controller", "jobgate-certificates")
        for each in _NOBODY
    ],
    *[("jobgate-webhook", verb, "", "secrets", SYSTEM, _TLS) for verb in ("update", "patch")],
    ("jobgate-webhook", "create", "", "secrets", SYSTEM, ""),
    ("jobgate-certificates", "list", "", "namespaces", "", ""),
    *[("jobgate-webhook", "patch", _ADMISSION, resource, "", "jobgate") for resource in _CONFIGURATIONS],
    *[("jobgate-controller", verb, "", "secrets", SYSTEM, "") for verb in ("list", "watch", "update", "patch")],
    ("jobgate-controller", "create", "", "secrets", "elsewhere", ""),
    ("jobgate-controller", "patch", "", "events", "any", "x"),
    *[("jobgate-controller", "patch", _ADMISSION, resource, "", "jobgate") for resource in _CONFIGURATIONS],
    ("jobgate-certificates", "list", "diengine.opendilab.org", "dijobs", "any", ""),
    ("jobgate-certificates", "create", "", "services", SYSTEM, ""),
    ("jobgate-certificates", "create", "", "events", "kube-system", ""),
    ("jobgate-certificates", "patch", "", "events", SYSTEM, "any"),
    ("jobgate-certificates", "list", "apiextensions.k8s.io", _CRDS, "", ""),
    *[("jobgate-certificates", "update", _ADMISSION, resource, "", "jobgate") for resource in _CONFIGURATIONS],
]


@pytest.mark.parametrize("asked, expected", [(ALLOWED, True), (FORBIDDEN, False)], ids=["allowed", "forbidden"])
def test_an_account_may_what_it_must_and_nothing_that_is_dangerous(
    plane: ControlPlane, cluster_api: ClusterApi, asked: list[tuple[str, ...]], expected: bool
) -> None:
    wait_for(lambda: _may(cluster_api, ALLOWED[0]), what="the rights are known")
    # The Secrets of a namespace are the controller's to make where it was named for them, and so of any name.
    named = {("jobgate-controller", "get", "", "secrets", SYSTEM, "another")}
    assert [each for each in asked if each not in named and _may(cluster_api, each) is not expected] == []


def _may(api: ClusterApi, asked: tuple[str, ...]) -> bool:
    account, verb, group, resource, namespace, name = asked
    resource, _, subresource = resource.partition("/")
    attributes = {
        "verb": verb,
        "group": group,
        "resource": resource,
        "subresource": subresource,
        "namespace": namespace,
    }
    spec = {
        "user": f"system:serviceaccount:{SYSTEM}:{account}",
        "groups": ["system:serviceaccounts", f"system:serviceaccounts:{SYSTEM}", "system:authenticated"],
        "resourceAttributes": {**attributes, "name": name},
    }
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    status, answer = api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
    assert status == 201, answer
    return bool(answer["status"]["allowed"])


def test_the_rotation_creates_its_own_secret_and_no_token_of_another_account(plane: ControlPlane) -> None:
    credentials = plane.kubeconfig_for(
        f"system:serviceaccount:{SYSTEM}:jobgate-certificates", ["system:serviceaccounts"]
    )

    def create(name: str, kind: str) -> tuple[bool, str]:
        metadata = {"name": name, "namespace": SYSTEM}
        if kind == "kubernetes.io/service-account-token":
            metadata["annotations"] = {"kubernetes.io/service-account.name": "jobgate-controller"}  # type: ignore[assignment]
        data = {"tls.crt": "", "tls.key": ""}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "data": data}
        done = plane.kubectl(
            f"--kubeconfig={credentials}",
            "create",
            "--dry-run=server",
            "-f",
            "-",
            input=json.dumps(secret),
            check=False,
        )
        return done.returncode == 0, done.stderr

    # A policy is in force some time after it is stored.
    wait_for(lambda: not create("another", "kubernetes.io/tls")[0], what="the policy is in force")
    assert "create only the Secret jobgate-webhook-tls" in create("another", "kubernetes.io/tls")[1]
    assert not create(_TLS, "kubernetes.io/service-account-token")[0]
    assert create(_TLS, "kubernetes.io/tls")[0]


_OWNER = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": "train", "uid": "1-2-3"}
_MARK = {"app.kubernetes.io/managed-by": "jobgate"}


def owned(kind: str, name: str = "train-svc", **fields: Any) -> dict[str, Any]:
    """An object as the controller makes it; a field of its metadata where it is called so."""
    metadata: dict[str, Any] = {"name": name, "labels": _MARK, "ownerReferences": [_OWNER]}
    for key in metadata.keys() & fields.keys():
        metadata[key] = fields.pop(key)
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def policy_of(selector: Any) -> dict[str, Any]:
    return owned("NetworkPolicy", "train", spec={"podSelector": selector}) | {"apiVersion": "networking.k8s.io/v1"}


def service(**spec: Any) -> dict[str, Any]:
    return owned("Service", "train", spec={"ports": [{"port": 22}], **spec})


def secret(kind: str = "Opaque", name: str = "train-ssh", *keys: str) -> dict[str, Any]:
    token = {"kubernetes.io/service-account.name": "default"} if "token" in kind else {}
    result = owned("Secret", name, type=kind, data=dict.fromkeys(keys, ""))
    result["metadata"]["annotations"] = token
    return result


#: Objects that the controller creates, and the message of the denial otherwise.
WRITES: list[tuple[str, dict[str, Any], str]] = [
    ("a ConfigMap of a job", owned("ConfigMap", data={"a": "b"}), ""),
    ("the same without a label", owned("ConfigMap", labels={}), "only objects labelled"),
    ("with another's label", owned("ConfigMap", labels={"app.kubernetes.io/managed-by": "Helm"}), "only objects labelled"),
    ("without labels", owned("ConfigMap", labels=None), "only objects labelled"),
    ("without an owner", owned("ConfigMap", ownerReferences=[]), "a job owns"),
    ("of another kind", owned("ConfigMap", ownerReferences=[{**_OWNER, "kind": "Pod"}]), "a job owns"),
    ("of another group", owned("ConfigMap", ownerReferences=[{**_OWNER, "apiVersion": "v1"}]), "a job owns"),
    ("of another version of the kind", owned("ConfigMap", ownerReferences=[{**_OWNER, "apiVersion": "diengine.opendilab.org/v3"}]), ""),
    ("called by nothing", owned("ConfigMap", "kube-root-ca.crt"), "named after it"),
    ("a Service", service(clusterIP="None"), ""),
    ("a Service of the outside", service(type="LoadBalancer"), "of type ClusterIP"),
    ("a Service for others' addresses", service(externalIPs=["192.0.2.1"]), "of type ClusterIP"),
    ("a NetworkPolicy", policy_of({"matchLabels": {"a": "b"}}), ""),
    ("a NetworkPolicy for all pods", policy_of({}), "select pods"),
    ("a Secret", secret("Opaque", "train-ssh", "id_rsa", "config"), ""),
    ("a token of an account", secret("kubernetes.io/service-account-token"), "of type Opaque"),
    ("a Secret of another plugin", secret("Opaque", "train-other", "config"), "of type Opaque"),
    ("a Secret of other keys", secret("Opaque", "train-ssh", "config", "ca.crt"), "of type Opaque"),
]  # fmt: skip


@pytest.fixture(scope="module")
def controller(plane: ControlPlane, cluster_api: ClusterApi) -> Iterator[ClusterApi]:
    """A client with the controller's rights, once its policy is in force, and with the right to all Secrets."""
    everywhere = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    account = {"kind": "ServiceAccount", "name": "jobgate-controller", "namespace": SYSTEM}
    binding = {"metadata": {"name": "trial-controller"}, "roleRef": everywhere, "subjects": [account]}
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    assert cluster_api.post(path, binding)[0] in {201, 409}
    tokens = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/jobgate-controller/token"
    status, answer = cluster_api.post(tokens, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"})
    assert status == 201, answer
    with plane.api() as api:
        api._authorization = f"Bearer {answer['status']['token']}"
        trial = owned("ConfigMap", labels={})
        wait_for(lambda: "only objects labelled" in _dry(api, "default", trial)[1], what="the policy is in force")
        yield api
    cluster_api.delete(f"{path}/trial-controller")


def _path(namespace: str, document: dict[str, Any]) -> str:
    prefix = "/api/v1" if document["apiVersion"] == "v1" else f"/apis/{document['apiVersion']}"
    plural = {"NetworkPolicy": "networkpolicies"}.get(document["kind"], f"{document['kind'].lower()}s")
    return f"{prefix}/namespaces/{namespace}/{plural}"


def _dry(api: ClusterApi, namespace: str, document: dict[str, Any]) -> tuple[int, str]:
    status, answer = api.post(_path(namespace, document), document, {"dryRun": "All"})
    return status, str(answer.get("message"))


@pytest.mark.parametrize("case, document, says", WRITES, ids=[case for case, _, _ in WRITES])
def test_the_controller_creates_what_is_a_jobs_and_nothing_else(
    controller: ClusterApi, namespace: str, case: str, document: dict[str, Any], says: str
) -> None:
    status, message = _dry(controller, namespace, document)
    assert (status, says in message) == (403 if says else 201, True), (case, message)


@pytest.mark.parametrize(
    "where, says",
    [
        (lambda new: new(), ""),
        (lambda new: new({"jobgate.dev/admission": "enabled"}), ""),
        (lambda new: new({"jobgate.dev/admission": "disabled"}), "namespaces labelled"),
        (lambda _: "kube-system", "system namespaces"),
        (lambda _: SYSTEM, "system namespaces"),
    ],
    ids=["a team's", "a team's with another label", "one that has opted out", "the system's", "its own"],
)
def test_the_controller_writes_in_namespaces_of_jobs_only(
    controller: ClusterApi, cluster_api: ClusterApi, where: Callable[..., str], says: str
) -> None:
    namespace = where(lambda labels=None: new_namespace(cluster_api, labels))
    status, message = _dry(controller, namespace, owned("ConfigMap"))
    assert (status, says in message) == (403 if says else 201, True), message


@pytest.mark.parametrize(
    "stored, allowed",
    [
        (owned("ConfigMap", data={"a": "b"}), True),
        (owned("ConfigMap", labels={}), False),
        (owned("ConfigMap", ownerReferences=[]), False),
        (owned("ConfigMap", "coredns"), False),
    ],
    ids=["a job's", "without our label", "of nobody", "called by nothing"],
)
def test_the_controller_changes_and_deletes_what_is_a_jobs_and_nothing_else(
    controller: ClusterApi, cluster_api: ClusterApi, namespace: str, stored: dict[str, Any], allowed: bool
) -> None:
    assert cluster_api.post(_path(namespace, stored), stored)[0] == 201
    path = f"{_path(namespace, stored)}/{stored['metadata']['name']}"
    # As it would have to be made to be one of ours: what is there counts.
    ours = {"metadata": {"labels": _MARK, "ownerReferences": [_OWNER]}, "data": {"a": "c"}}
    assert controller.patch(path, ours)[0] == (200 if allowed else 403)
    assert controller.delete(path)[0] == (200 if allowed else 403)


def test_the_controller_cannot_take_the_label_or_the_owner_away(
    controller: ClusterApi, cluster_api: ClusterApi, namespace: str
) -> None:
    stored = owned("ConfigMap")
    assert cluster_api.post(_path(namespace, stored), stored)[0] == 201
    path = f"{_path(namespace, stored)}/train-svc"
    for metadata in ({"labels": None}, {"ownerReferences": None}):
        assert controller.patch(path, {"metadata": metadata})[0] == 403


@pytest.mark.parametrize("how", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_applying_again_keeps_the_bundle_that_was_injected(
    plane: ControlPlane, cluster_api: ClusterApi, how: tuple[str, ...]
) -> None:
    name = f"trial{len(how)}"
    (one,) = [
        each for each in objects(KINDS, Installation(crds=False)) if each["kind"] == "ValidatingWebhookConfiguration"
    ]
    one["metadata"]["name"] = name
    for entry in one["webhooks"]:  # so that it is called for nothing
        entry["rules"] = [{**rule, "apiGroups": ["nowhere.example"]} for rule in entry["rules"]]
    path = f"/apis/{_ADMISSION}/v1/validatingwebhookconfigurations/{name}"
    plane.kubectl("apply", *how, "-f", "-", input=json.dumps(one))
    bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="
    patch = [
        {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
        for index in range(len(one["webhooks"]))
    ]
    status, answer = cluster_api.patch(path, patch, content_type=JSON_PATCH)
    assert status == 200, answer
    for entry in one["webhooks"]:
        entry["timeoutSeconds"] = 7
    plane.kubectl("apply", *how, "-f", "-", input=json.dumps(one))
    stored = cluster_api.get(path)[1]["webhooks"]
    cluster_api.delete(path)
    assert {(entry["timeoutSeconds"], entry["clientConfig"].get("caBundle")) for entry in stored} == {(7, bundle)}

"""Faults to plant: each with its change, the id of the finding, and words of its message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import timedelta
from enum import Enum
from typing import Any, NamedTuple

from jobgate.doctor.observed import DEPLOYMENTS, PODS, Permission
from jobgate.installation import Installation
from jobgate.installation.objects import base
from tests.doctor.world import (
    CONTROLLER,
    DIJOBS,
    KINDS,
    ROTATOR,
    SERVER,
    SERVICE,
    SYSTEM,
    TEAM,
    TLS,
    Plant,
    World,
    generation,
    lease,
    text,
)

MXJOBS = "mxjobs.mxnet.mlkube.io"
_ANY = "jobgate-doctor-asks-for-any"


class Round(Enum):
    """Faults that are planted together, because none of them hides another: an API server is looked at only so often."""

    FIRST = 1
    SECOND = 2
    THIRD = 3


class Planted(NamedTuple):
    """A fault, and how it is reported.

    Attributes:
        id: of the finding; there must be no other.
        says: words of it.
        plant: makes the fault.
        round: when it is planted on a real API server, too.
    """

    id: str
    says: str
    plant: Plant
    round: Round | None = None


#: Stands for a field that is deleted.
GONE = object()
_SPEC = "spec versions 0 schema openAPIV3Schema properties spec properties"


def _set(found: Any, path: str, value: object) -> None:
    """Set the value at a path, which is written with spaces."""
    *steps, last = (int(step) if step.isdigit() else step for step in path.split())
    for step in steps:
        found = found[step]
    if value is GONE:
        del found[last]
    else:
        found[last] = value


def gone(kind: str, name: str, namespace: str = "") -> Plant:
    return lambda world: world.remove(kind, name, namespace)


def field(kind: str, name: str, namespace: str, path: str, value: object) -> Plant:
    return lambda world: _set(world.get(kind, name, namespace), path, value)


def entry(kind: str, name: str, path: str, value: object) -> Plant:
    return lambda world: _set(world.entry(kind, name), path, value)


def crd(path: str, value: object) -> Plant:
    return field("CustomResourceDefinition", DIJOBS, "", path, value)


def of_another_chart(path: str, value: object) -> Plant:
    def plant(world: World) -> None:
        crd("metadata labels", {"helm.sh/chart": "di-orchestrator"})(world)
        crd(path, value)(world)

    return plant


def _data(world: World) -> dict[str, str]:
    result: dict[str, str] = world.get("Secret", TLS, SYSTEM)["data"]
    return result


def other_ca(world: World) -> None:
    for entry in world.entries():
        entry["clientConfig"]["caBundle"] = text(generation(world.now, 7).ca_certificate)


def staged_long_ago(world: World) -> None:
    staged = generation(world.now - timedelta(hours=5), 2)
    world.get("Secret", TLS, SYSTEM)["data"] |= {
        "next.tls.crt": text(staged.certificate),
        "next.tls.key": text(staged.key),
        "next.ca.crt": text(staged.ca_certificate),
        "next.generation": text(b"2"),
    }


def no_entry(world: World) -> None:
    result = world.get("MutatingWebhookConfiguration", "jobgate")
    result["webhooks"] = [webhook for webhook in result["webhooks"] if not webhook["name"].startswith("mxjobs.")]


def extra_entry(world: World) -> None:
    result = world.get("ValidatingWebhookConfiguration", "jobgate")
    extra = {**deepcopy(result["webhooks"][0]), "name": "everything.example.org"}
    result["webhooks"].append(extra)


def all_ignore(world: World) -> None:
    for entry in world.entries():
        entry["failurePolicy"] = "Ignore"


def opted_out(world: World) -> None:
    world.get("Namespace", TEAM)["metadata"]["labels"]["jobgate.dev/admission"] = "disabled"
    containers = [{"name": "learner", "image": "learner"}]
    task = {"type": "learner", "replicas": 1, "template": {"spec": {"containers": containers}}}
    metadata = {"name": "unchecked", "namespace": TEAM}
    job = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "metadata": metadata}
    world.put(job | {"spec": {"tasks": [task]}})


def job_of_nobody(world: World) -> None:
    made = f"{world.now - timedelta(minutes=6):%Y-%m-%dT%H:%M:%SZ}"
    metadata = {"name": "orphan", "namespace": TEAM, "creationTimestamp": made}
    world.put({"apiVersion": "train.distributed.io/v1alpha1", "kind": "TorchJob", "metadata": metadata})


def erased_fields(world: World) -> None:
    """A DIJob with plugins, as DI-orchestrator writes it back."""
    applied = {"spec": {"plugins": {"env": []}, "minReplicas": 1, "backoffLimit": 2, "queue": None, "unknown": 1}}
    managers = [
        {"manager": "kubectl-client-side-apply", "operation": "Update"},
        {"manager": "di-orchestrator", "operation": "Update"},
        {"manager": "status", "operation": "Update", "subresource": "status"},
    ]
    metadata = {
        "name": "erased",
        "namespace": TEAM,
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)},
        "managedFields": managers,
    }
    job = {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "metadata": metadata}
    world.put(job | {"spec": {"backoffLimit": 2}, "status": {"phase": "Running"}})


def _foreign(world: World, configuration: str, **service: str) -> None:
    rule = {
        "apiGroups": ["batch.volcano.sh"],
        "apiVersions": ["*"],
        "operations": ["DELETE"],
        "resources": ["jobs"],
        "scope": "*",
    }
    client = {"service": {"port": 443, "path": "/", **service}, "caBundle": text(world.current.ca_certificate)}
    entry = {
        "name": "jobs.example.org",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client,
        "rules": [rule],
        "sideEffects": "None",
        "failurePolicy": "Fail",
    }
    kind = "ValidatingWebhookConfiguration"
    metadata = {"name": configuration}
    api_version = "admissionregistration.k8s.io/v1"
    world.put({"apiVersion": api_version, "kind": kind, "metadata": metadata, "webhooks": [entry]})


def dead_webhook(world: World) -> None:
    _foreign(world, "gone-admission", namespace=TEAM, name="gone")
    world.get("ValidatingWebhookConfiguration", "gone-admission")["webhooks"][0]["rules"][0] |= {
        "apiGroups": [""],
        "resources": ["pods", "pods/status"],
        "operations": ["CONNECT"],
    }


def selects_more(world: World) -> None:
    world.get("Service", SERVICE, SYSTEM)["spec"]["selector"]["team"] = "training"


def names_taken(world: World) -> None:
    conditions = [
        {"type": "Established", "status": "False", "message": "not all names are accepted"},
        {"type": "NamesAccepted", "status": "False", "message": '"DIJobList" is already in use'},
    ]
    crd("status conditions", conditions)(world)


def none_ready(world: World) -> None:
    for endpoint in world.get("EndpointSlice", f"{SERVICE}-abcde", SYSTEM)["endpoints"]:
        endpoint["conditions"]["ready"] = False


def no_right(world: World) -> None:
    role = world.get("Role", SERVER, SYSTEM)
    role["rules"] = [{**role["rules"][0], "verbs": ["get"]}]
    world.denied |= {Permission(SERVER, verb, "", "secrets", SYSTEM, TLS) for verb in ("list", "watch")}


def _bound(world: World, account: str, role: str, namespace: str = "") -> None:
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    metadata = {"name": "granted-in-a-hurry", **({"namespace": namespace} if namespace else {})}
    group = "rbac.authorization.k8s.io"
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": role}
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM}]
    world.put(
        {"apiVersion": f"{group}/v1", "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": subjects}
    )


def administrator(world: World) -> None:
    _bound(world, SERVER, "cluster-admin")
    world.extra.add(Permission(SERVER, "*", "*", "*", "", ""))


def executes(world: World) -> None:
    group = "rbac.authorization.k8s.io"
    rules = [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]}]
    world.put({"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "execs"}, "rules": rules})
    _bound(world, CONTROLLER, "execs", SYSTEM)
    world.extra.add(Permission(CONTROLLER, "create", "", "pods/exec", SYSTEM, _ANY))


def _version(world: World) -> dict[str, Any]:
    result: dict[str, Any] = world.get("CustomResourceDefinition", DIJOBS)["spec"]["versions"][0]
    return result


def other_version(world: World) -> None:
    version = _version(world)
    version["storage"] = False
    versions = world.get("CustomResourceDefinition", DIJOBS)["spec"]["versions"]
    versions.append({**deepcopy(version), "name": "v3", "storage": True})


def converted_by_nobody(world: World) -> None:
    client = {
        "service": {"namespace": TEAM, "name": "converter", "path": "/", "port": 443},
        "caBundle": text(world.current.ca_certificate),
    }
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}
    world.get("CustomResourceDefinition", DIJOBS)["spec"]["conversion"] = conversion


def canary(world: World) -> None:
    """Another installation, which serves the same namespaces."""
    installation = Installation(name="canary", namespace="canary-system", external_name="canary.example", crds=False)
    rendered = [one for group in base(KINDS, installation).values() for one in group]
    world.put(*(one for one in rendered if one["kind"].endswith("WebhookConfiguration") or one["kind"] == "Service"))


def killed_session(world: World) -> None:
    """The webhooks of `jobgate dev`, whose session has ended a minute ago. They also overlap with ours."""
    canary(world)
    for kind in ("Mutating", "Validating"):
        configuration = world.get(f"{kind}WebhookConfiguration", "canary")
        until = world.now - timedelta(minutes=1)
        configuration["metadata"]["annotations"] = {"jobgate.dev/dev-until": until.isoformat()}


def old_api_server(world: World) -> None:
    world.version = "v1.29.14-gke.1"


def _set_images(world: World, image: str) -> None:
    for ref, one in world.objects.items():
        if ref.resource in {DEPLOYMENTS, PODS}:
            _set_image(one, image)


def mixed_images(world: World) -> None:
    image = world.get("Deployment", SERVER, SYSTEM)["spec"]["template"]["spec"]["containers"][0]["image"]
    _set_image(world.get("Pod", f"{SERVER}-1", SYSTEM), f"registry.example/{image}")


def _set_image(one: Mapping[str, Any], image: str) -> None:
    spec = one["spec"].get("template", one)["spec"]
    spec["containers"][0]["image"] = image


def wrong_clock(world: World) -> None:
    world.skew = timedelta(minutes=-20)


FAULTS: Mapping[str, Planted] = {
    "all entries trust another CA": Planted("bundle-lacks-served-ca", "no CA in caBundle signed the served certificate", other_ca, round=Round.FIRST),
    "one entry has no bundle": Planted("bundle-empty", "jobgate: dijobs.diengine", entry("Validating", "dijobs", "clientConfig caBundle", GONE), round=Round.SECOND),
    "a bundle is a placeholder": Planted("bundle-unreadable", "pods.mutate", entry("Mutating", "pods.mutate", "clientConfig caBundle", text(b"\n"))),
    "the Secret is gone": Planted("secret-missing", f"secrets/{TLS} in {SYSTEM}", gone("Secret", TLS, SYSTEM), round=Round.SECOND),
    "the Secret is empty": Planted("secret-unreadable", "tls.crt contains no readable certificate", lambda world: _data(world).update({"tls.crt": "", "tls.key": "", "ca.crt": ""})),
    "cert-manager keeps the Secret": Planted("secret-kept-by-another", "managed by cert-manager", field("Secret", TLS, SYSTEM, "metadata annotations cert-manager.io/certificate-name", "jobgate")),
    "the key is another's": Planted("key-mismatch", "tls.key does not match", lambda world: _data(world).update({"tls.key": text(generation(world.now).key)}), round=Round.FIRST),
    "the CA beside the certificate is another": Planted("certificate-unfit", "is not signed by ca.crt", lambda world: _data(world).update({"ca.crt": text(generation(world.now, 3).ca_certificate)})),
    "the certificate is for another name": Planted("certificate-lacks-name", f"{SERVICE}.{SYSTEM}.svc", lambda world: world.serve(generation(world.now, service="another")), round=Round.THIRD),
    "the certificate is not valid yet": Planted("certificate-not-yet-valid", "not valid before", lambda world: world.serve(generation(world.now + timedelta(days=2)))),
    "the certificate ends soon": Planted("certificate-expires-soon", "expires at", lambda world: world.serve(generation(world.now - timedelta(days=80)))),
    "a generation is staged and not promoted": Planted("rotation-stands-still", "generation 2 was staged", staged_long_ago, round=Round.FIRST),
    "servers were never seen to serve": Planted("rotation-stands-still", "not all servers serve", field("Secret", TLS, SYSTEM, "metadata annotations jobgate.dev/verified", GONE)),
    "no server answers": Planted("server-unreachable", "no handshake", lambda world: world.show(None)),
    "a configuration is gone": Planted("configuration-missing", "validatingwebhookconfigurations/jobgate", gone("ValidatingWebhookConfiguration", "jobgate"), round=Round.THIRD),
    "an entry is gone": Planted("entry-missing", "missing: mxjobs.mxnet", no_entry, round=Round.SECOND),
    "there is an entry too many": Planted("entry-unknown", "everything.example.org", extra_entry),
    "an entry calls another path": Planted("entry-calls-elsewhere", 'clientConfig.service.path is "/mutate", must be "/mutate-diengine', entry("Mutating", "dijobs", "clientConfig service path", "/mutate"), round=Round.FIRST),
    "an entry calls another port": Planted("entry-calls-elsewhere", "clientConfig.service.port is 8443, must be 443", entry("Mutating", "dijobs", "clientConfig service port", 8443)),
    "an entry is not for updates": Planted("entry-rules-differ", 'must be ["CREATE", "UPDATE"]', entry("Validating", "jobs.batch", "rules 0 operations", ["CREATE"])),
    "an entry fails open": Planted("failure-policy-differs", 'failurePolicy is "Ignore", must be "Fail"', entry("Validating", "dijobs", "failurePolicy", "Ignore"), round=Round.FIRST),
    "everything fails open": Planted("failure-policy-ignores", "Ignore in all webhooks", all_ignore),
    "an entry waits for long": Planted("timeout-differs", "timeoutSeconds is 30, must be 5", entry("Mutating", "torchjobs", "timeoutSeconds", 30)),
    "an entry matches exactly": Planted("match-policy-differs", 'matchPolicy is "Exact"', entry("Mutating", "dijobs", "matchPolicy", "Exact")),
    "an entry claims side effects": Planted("side-effects-differ", 'sideEffects is "NoneOnDryRun"', entry("Mutating", "dijobs", "sideEffects", "NoneOnDryRun")),
    "an entry lacks its condition": Planted("match-conditions-differ", "matchConditions is [], must be", entry("Validating", "dijobs", "matchConditions", [])),
    "an entry is not called again": Planted("reinvocation-differs", 'reinvocationPolicy is "Never"', entry("Mutating", "dijobs", "reinvocationPolicy", "Never")),
    "an entry offers an old review": Planted("review-versions-differ", '["v1", "v1beta1"], must be ["v1"]', entry("Mutating", "dijobs", "admissionReviewVersions", ["v1", "v1beta1"])),
    "the admission policy is not bound": Planted("admission-policy-missing", "not found", gone("ValidatingAdmissionPolicyBinding", ROTATOR), round=Round.FIRST),
    "the admission policy says nothing": Planted("admission-policy-missing", 'spec.validations[0].expression is "true", must be', field("ValidatingAdmissionPolicy", ROTATOR, "", "spec validations 0 expression", "true")),
    "an entry is for our own namespace": Planted("selector-catches-system", f"matches {SYSTEM}", entry("Validating", "pods.validate", "namespaceSelector matchExpressions 0 values", ["kube-system", "kube-public", "kube-node-lease"]), round=Round.FIRST),
    "an entry is for no namespace": Planted("selector-catches-nothing", "matches no namespace", lambda world: world.entry("Mutating", "dijobs")["namespaceSelector"]["matchExpressions"].append({"key": "training", "operator": "Exists"})),
    "an entry leaves a namespace out": Planted("namespace-selector-differs", TEAM, lambda world: world.entry("Mutating", "dijobs")["namespaceSelector"]["matchExpressions"][0]["values"].append(TEAM)),
    "an entry is for some objects": Planted("object-selector-differs", 'objectSelector.matchLabels is {"checked": "yes"}, must be absent', entry("Mutating", "dijobs", "objectSelector", {"matchLabels": {"checked": "yes"}})),
    "a namespace opts out with another word": Planted("opt-out-misspelt", "'false'", field("Namespace", TEAM, "", "metadata labels jobgate.dev/admission", "false")),
    "nobody runs a job": Planted("jobs-not-run", "torchjobs/orphan", job_of_nobody),
    "an unnamed writer erases fields": Planted("fields-erased", "di-orchestrator has erased minReplicas, plugins", erased_fields),
    "a namespace with jobs has opted out": Planted("namespace-opted-out", f"contains {DIJOBS}", opted_out, round=Round.FIRST),
    "an operator has a webhook of its own": Planted("other-webhook", "also has rules for jobs.batch.volcano.sh", lambda world: _foreign(world, "operator-admission", namespace=SYSTEM, name=SERVICE), round=Round.FIRST),
    "another installation serves the same namespaces": Planted("installations-overlap", "dijobs.diengine.opendilab.org, jobflows.flow.volcano.sh, jobs.batch.volcano.sh and 3 more are also served by installation canary, in default", canary),
    "a session of a developer was killed": Planted("dev-session-killed", "not renewed since 2", killed_session),
    "a CRD is another installation's": Planted("crd-of-another-installation", "in namespace canary-system", crd("metadata labels jobgate.dev/installation-namespace", "canary-system")),
    "a webhook of others calls nobody": Planted("other-webhook-dead", f"services/gone in {TEAM}", dead_webhook, round=Round.FIRST),
    "the Service is gone": Planted("service-missing", f"services/{SERVICE} in {SYSTEM}", gone("Service", SERVICE, SYSTEM), round=Round.SECOND),
    "the Service selects nothing": Planted("service-differs", 'is "server", must be "webhook"', field("Service", SERVICE, SYSTEM, "spec selector app.kubernetes.io/component", "server"), round=Round.FIRST),
    "the Service selects other pods": Planted("service-differs", "is absent, must be", field("Service", SERVICE, SYSTEM, "spec selector app.kubernetes.io/component", GONE)),
    "the Service selects more than pods have": Planted("service-selects-nothing", "team=training", selects_more),
    "the Service has another port": Planted("service-differs", "spec.ports lacks port 443, which webhooks call: 8443", field("Service", SERVICE, SYSTEM, "spec ports 0 port", 8443)),
    "the target port is no port of the pods": Planted("service-differs", "targetPort of port 443 is https, must be webhook", field("Service", SERVICE, SYSTEM, "spec ports 0 targetPort", "https")),
    "no endpoint is ready": Planted("no-ready-endpoint", "no ready endpoints", none_ready, round=Round.THIRD),
    "one endpoint is ready": Planted("single-server", "only one endpoint is ready: 10.1.0.1", field("EndpointSlice", f"{SERVICE}-abcde", SYSTEM, "endpoints 1 conditions ready", False)),
    "spec.replicas is 1 is asked for": Planted("single-server", "spec.replicas is 1", field("Deployment", SERVER, SYSTEM, "spec replicas", 1)),
    "the rotation is gone": Planted("workload-missing", f"deployments/{ROTATOR}", gone("Deployment", ROTATOR, SYSTEM), round=Round.FIRST),
    "the controller is scaled to nothing": Planted("workload-stopped", "spec.replicas is 0", field("Deployment", CONTROLLER, SYSTEM, "spec replicas", 0)),
    "a replica is not available": Planted("workload-unavailable", "1 of 2", field("Deployment", CONTROLLER, SYSTEM, "status availableReplicas", 1)),
    "an account is gone": Planted("account-missing", f"serviceaccounts/{CONTROLLER}", gone("ServiceAccount", CONTROLLER, SYSTEM)),
    "the server may not watch its Secret": Planted("right-missing", f"list, watch secrets/{TLS}", no_right, round=Round.FIRST),
    "the server may do everything": Planted("right-too-wide", "can do everything", administrator, round=Round.SECOND),
    "the controller may execute in pods": Planted("right-too-wide", "create pods/exec", executes),
    "a CRD is gone": Planted("crd-missing", f"customresourcedefinitions/{MXJOBS}", gone("CustomResourceDefinition", MXJOBS), round=Round.FIRST),
    "a CRD is not established": Planted("crd-not-established", "names are taken", crd("status conditions", [{"type": "Established", "status": "False", "reason": "NotAccepted", "message": "names are taken"}])),
    "the names of a CRD are taken": Planted("crd-not-established", '"DIJobList" is already in use', names_taken),
    "a CRD is for the cluster": Planted("crd-scope-differs", "Cluster, must be Namespaced", crd("spec scope", "Cluster")),
    "a version is not served": Planted("crd-version-missing", "v2alpha1 is not served", crd("spec versions 0 served", False)),
    "another version is stored": Planted("crd-version-not-stored", "stores v3, must store v2alpha1", other_version),
    "a CRD lacks a field": Planted("crd-schema-lacks-fields", "spec.cleanPodPolicy (the schema has no such field)", crd(f"{_SPEC} cleanPodPolicy", GONE), round=Round.FIRST),
    "a CRD is stricter": Planted("crd-schema-differs", "spec.cleanPodPolicy (maxLength", crd(f"{_SPEC} cleanPodPolicy maxLength", 60)),
    "a CRD of another chart lacks a field": Planted("crd-schema-lacks-fields", "spec.cleanPodPolicy", of_another_chart(f"{_SPEC} cleanPodPolicy", GONE)),
    "a CRD of another chart refuses values": Planted("crd-refuses", "spec.cleanPodPolicy", of_another_chart(f"{_SPEC} cleanPodPolicy", {"type": "integer"})),
    "a CRD of another chart has a default": Planted("crd-defaults-differ", "spec.minReplicas", of_another_chart(f"{_SPEC} minReplicas default", 1)),
    "a CRD has no status": Planted("crd-lacks-status", "no status subresource", crd("spec versions 0 subresources", {"scale": {"specReplicasPath": ".spec.x", "statusReplicasPath": ".status.y"}})),
    "a CRD is converted by nobody": Planted("conversion-points-nowhere", f"services/converter in {TEAM}", converted_by_nobody, round=Round.FIRST),
    "the API server is old": Planted("api-server-too-old", "v1.29.14", old_api_server),
    "pods run an older version": Planted("version-skew", "jobgate:v0.0.9", lambda world: _set_images(world, "registry.example/jobgate:v0.0.9"), round=Round.SECOND),
    "the version of pods is unknown": Planted("version-unknown", "registry.example/jobgate@sha256", lambda world: _set_images(world, "registry.example/jobgate@sha256:" + 64 * "0")),
    "pods run different images": Planted("versions-mixed", "registry.example/jobgate", mixed_images),
    "this machine's clock is wrong": Planted("clock-skew", "1200s behind", wrong_clock),
    "a holder's clock is ahead": Planted("clock-skew", "7200s ahead of the API server's", lambda world: world.put(lease(CONTROLLER, world.now + timedelta(hours=2)))),
    "a Lease is gone": Planted("lease-not-held", f"leases/{ROTATOR}", gone("Lease", ROTATOR, SYSTEM)),
    "nobody holds a Lease": Planted("lease-not-held", f"leases/{CONTROLLER}", field("Lease", CONTROLLER, SYSTEM, "spec holderIdentity", "")),
    "a Lease is not renewed": Planted("lease-not-held", "last renewed it at", lambda world: world.put(lease(ROTATOR, world.now - timedelta(days=1))), round=Round.FIRST),
}  # fmt: skip


_DIJOBS = f"jobgate.{DIJOBS}"


def left(name: str) -> Plant:
    """Leave a policy and its binding of an installation with another name."""

    def plant(world: World) -> None:
        for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"):
            policy = deepcopy(world.get(kind, f"jobgate.{MXJOBS}"))
            policy["metadata"]["name"] = f"{name}.{MXJOBS}"
            policy["metadata"]["labels"] |= {"app.kubernetes.io/instance": name}
            world.put(policy)

    return plant


#: Faults of an installation with policies of kinds, where MxJobs have the failure policy Ignore.
POLICY_FAULTS: Mapping[str, Planted] = {
    "no policy sets the defaults": Planted("defaults-policy-missing", f"policies/{_DIJOBS}: not found", gone("MutatingAdmissionPolicy", _DIJOBS)),
    "the policy with defaults is not bound": Planted("defaults-policy-missing", f"policybindings/{_DIJOBS}: not found", gone("MutatingAdmissionPolicyBinding", _DIJOBS), round=Round.FIRST),
    "the policy with defaults sets nothing": Planted("defaults-policy-missing", 'jsonPatch.expression is "[]"', field("MutatingAdmissionPolicy", _DIJOBS, "", "spec mutations 0 jsonPatch expression", "[]")),
    "the policy with rules is not bound": Planted("admission-policy-missing", "not found", gone("ValidatingAdmissionPolicyBinding", f"jobgate.{MXJOBS}")),
    "the policy with rules leaves some out": Planted("admission-policy-missing", "excludeResourceRules", field("ValidatingAdmissionPolicy", f"jobgate.{MXJOBS}", "", "spec matchConstraints excludeResourceRules", [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}])),
    "a guard is bound to some namespaces": Planted("admission-policy-missing", "spec.matchResources", field("ValidatingAdmissionPolicyBinding", CONTROLLER, "", "spec matchResources", {"namespaceSelector": {"matchLabels": {"a": "b"}}, "objectSelector": {}, "matchPolicy": "Equivalent"}), round=Round.FIRST),
    "policies of a removed installation": Planted("admission-policy-left", "no installation has it", left("canary"), round=Round.FIRST),
}  # fmt: skip


def of_round(round_: Round) -> dict[str, Planted]:
    """Return the faults that are planted together in a round."""
    return {sentence: planted for sentence, planted in FAULTS.items() if planted.round is round_}

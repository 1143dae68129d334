"""What is installed: the names that others rely on, and what must never be in it."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from crdgen import Model, size
from jobgate import podchecks
from jobgate.installation import Installation, committed, objects
from jobgate.installation.definitions import definition
from jobgate.installation.files import stale
from jobgate.jobs.kind import JobKind
from jobgate.jobs.wiring import wired
from jobgate.kinds import installed
from jobgate.kinds.dijob import DIJOB
from webhook import Path as FieldPath
from webhook import Phase, Registry

KINDS = installed()


#: The CRDs take longer to generate than all else.
PLAIN = Installation(crds=False)


def find(kind: str, installation: Installation = PLAIN) -> dict[str, Any]:
    """Return the only object of a kind."""
    (found,) = [one for one in objects(KINDS, installation) if one["kind"] == kind]
    return found


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return committed(KINDS)


def test_the_committed_files_are_what_the_code_gives(files: dict[str, str]) -> None:
    assert stale(files, Path("manifests")) == []


@pytest.mark.parametrize("kind", list(KINDS), ids=lambda kind: kind.qualified_plural)
def test_a_crd_fits_a_plain_apply(kind: JobKind) -> None:
    assert size(definition(kind)) < 200_000


def test_no_text_stands_inside_the_pod_template() -> None:
    version = definition(DIJOB)["spec"]["versions"][0]
    task = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["tasks"]["items"]
    assert "description" in task["properties"]["template"]
    assert "description" not in _keywords(task["properties"]["template"]["properties"])
    assert all("description" in field for field in task["properties"].values())


def _keywords(properties: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for schema in properties.values():
        found |= set(schema)
        for inner in (schema.get("items"), schema.get("additionalProperties")):
            if isinstance(inner, dict):
                found |= _keywords({"": inner})
        found |= _keywords(schema.get("properties", {}))
    return found


def entries(configuration: str, installation: Installation = PLAIN) -> dict[str, Any]:
    """Return the entries of a webhook configuration, by name."""
    return {entry["name"]: entry for entry in find(configuration, installation)["webhooks"]}


@pytest.mark.parametrize(
    "configuration, name, path",
    [
        ("MutatingWebhookConfiguration", "dijobs.diengine.opendilab.org.mutate.jobgate.dev",
         "/mutate-diengine-opendilab-org-v2alpha1-dijob"),
        ("ValidatingWebhookConfiguration", "dijobs.diengine.opendilab.org.validate.jobgate.dev",
         "/validate-diengine-opendilab-org-v2alpha1-dijob"),
        ("MutatingWebhookConfiguration", "jobs.batch.volcano.sh.mutate.jobgate.dev", "/mutate-batch-volcano-sh-v1alpha1-job"),
        ("ValidatingWebhookConfiguration", "torchjobs.train.distributed.io.validate.jobgate.dev",
         "/validate-train-distributed-io-v1alpha1-torchjob"),
    ],
)  # fmt: skip
def test_an_entry_calls_its_path_and_fails_closed(configuration: str, name: str, path: str) -> None:
    entry = entries(configuration, Installation(crds=False, ca_bundle=b"PEM", rotation="none", service_port=8443))[name]
    assert entry["clientConfig"] == {
        "service": {"namespace": "jobgate-system", "name": "jobgate-webhook", "port": 8443, "path": path},
        "caBundle": base64.b64encode(b"PEM").decode(),
    }
    fixed = {"failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 5, "matchPolicy": "Equivalent"}
    assert entry | fixed | {"admissionReviewVersions": ["v1"]} == entry
    assert entry.get("reinvocationPolicy") == ("IfNeeded" if configuration.startswith("Mutating") else None)


@pytest.mark.parametrize("configuration", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_no_entry_can_lock_the_cluster_or_itself_out(configuration: str) -> None:
    found = entries(configuration, Installation(crds=False, namespace="elsewhere"))
    beside = ("pods.", "scale.")
    assert len([name for name in found if "prerequisites" not in name and not name.startswith(beside)]) == len(KINDS)
    for entry in found.values():
        expressions = {one["key"]: one for one in entry["namespaceSelector"]["matchExpressions"]}
        assert expressions["kubernetes.io/metadata.name"] == {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": ["kube-system", "kube-public", "kube-node-lease", "elsewhere"],
        }


def test_without_a_certificate_there_is_no_bundle_rather_than_a_false_one() -> None:
    for entry in entries("MutatingWebhookConfiguration").values():
        assert "caBundle" not in entry["clientConfig"]


@pytest.mark.parametrize("phase", list(Phase))
def test_pods_are_sent_by_the_labels_of_their_operator_or_by_ours_and_no_others(phase: Phase) -> None:
    found = entries(f"{phase.title()[:-1]}ingWebhookConfiguration", Installation(crds=False, service_port=8443))
    plurals = [kind.qualified_plural for kind in wired(KINDS)]
    ours = {"matchExpressions": [{"key": "jobgate.dev/kind", "operator": "In", "values": plurals}]}
    selectors = {name: entry["objectSelector"] for name, entry in found.items() if "objectSelector" in entry}
    assert selectors[f"pods.{phase}.jobgate.dev"] == ours
    operators = {"matchLabels": {"diengine/operator": "di-operator"}}
    assert selectors[f"pods.dijobs.diengine.opendilab.org.{phase}.jobgate.dev"] == operators
    for name in selectors:
        entry = found[name]
        assert entry["rules"] == [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"],
             "scope": "Namespaced"}
        ]  # fmt: skip
        assert entry["clientConfig"]["service"]["path"] == f"/{phase}--v1-pod"
        fixed = {"failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 5, "matchPolicy": "Equivalent"}
        assert entry | fixed == entry
        assert entry.get("reinvocationPolicy") == ("IfNeeded" if phase is Phase.MUTATE else None)


def test_the_entry_of_our_labels_comes_before_those_of_operators() -> None:
    names = [name for name in entries("MutatingWebhookConfiguration") if name.startswith("pods.")]
    assert names[0] == "pods.mutate.jobgate.dev"
    assert len(names) > 1


def test_a_selector_of_all_pods_is_never_installed() -> None:
    for phase in Phase:
        for name, entry in entries(f"{phase.title()[:-1]}ingWebhookConfiguration").items():
            if name == f"pods.prerequisites.{phase}.jobgate.dev":
                (condition,) = entry["matchConditions"]
                assert condition["expression"].endswith("?annotations[?'jobgate.dev/prerequisites'].hasValue()")
            elif name.startswith("pods."):
                selector = entry["objectSelector"]
                wanted = [one for one in selector.get("matchExpressions", ()) if one["operator"] in {"In", "Exists"}]
                assert selector.get("matchLabels") or wanted


def test_the_server_may_read_the_jobs_of_pods_and_what_the_kinds_watch_and_nothing_else() -> None:
    rendered = objects(KINDS, PLAIN)
    (role,) = [one for one in rendered if (one["kind"], one["metadata"]["name"]) == ("ClusterRole", "jobgate-webhook")]
    jobs = {(kind.group, kind.plural) for kind in KINDS if kind.kind != "JobFlow"}
    resources = jobs | {("", "namespaces"), ("scheduling.volcano.sh", "queues")}
    items = {"apiGroups": ["jobgate.dev"], "resources": ["prerequisites", "clusterprerequisites"]}
    reviews = {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]}
    assert role["rules"] == [
        {"apiGroups": [group], "resources": [plural], "verbs": ["get", "list", "watch"]}
        for group, plural in sorted(resources)
    ] + [items | {"verbs": ["get", "list", "watch"]}, reviews]


class Spec(Model):
    """A spec without plugins."""

    tasks: list[Model]


def test_without_anything_that_rules_look_up_the_server_reads_jobs_and_prerequisites_alone() -> None:
    rendered = objects(Registry([replace(DIJOB, spec=Spec, watches=(), rules=())]), Installation())
    (account,) = [
        one for one in rendered if one["kind"] == "ServiceAccount" and one["metadata"]["name"] == "jobgate-webhook"
    ]
    assert account["automountServiceAccountToken"] is False
    (role,) = [one for one in rendered if (one["kind"], one["metadata"]["name"]) == ("ClusterRole", "jobgate-webhook")]
    assert [rule["apiGroups"][0] for rule in role["rules"]] == [DIJOB.group, "jobgate.dev", "authorization.k8s.io"]


@pytest.mark.parametrize("name", ["jobgate-webhook", "jobgate-controller", "jobgate-certificates"])
def test_a_pod_of_ours_is_one_that_the_restricted_profile_takes(name: str) -> None:
    (deployment,) = [
        one for one in objects(KINDS, PLAIN) if (one["kind"], one["metadata"]["name"]) == ("Deployment", name)
    ]
    template = deployment["spec"]["template"]
    (container,) = template["spec"]["containers"]
    assert template["spec"]["securityContext"]["runAsNonRoot"]
    assert template["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert list(podchecks.check(template, FieldPath("spec") / "template")) == []


def test_a_server_outside_the_cluster_gets_a_service_that_points_to_it_and_no_deployment() -> None:
    rendered = objects(KINDS, Installation(crds=False, external_name="localhost", service_port=9443))
    assert "Deployment" not in {one["kind"] for one in rendered}
    (service,) = [one for one in rendered if one["kind"] == "Service"]
    assert (service["spec"]["type"], service["spec"]["externalName"]) == ("ExternalName", "localhost")


def test_every_committed_file_is_listed_for_kustomize(files: dict[str, str]) -> None:
    for folder in ("chart/jobgate/files/crds", "base"):
        resources = set(yaml.safe_load(files[f"{folder}/kustomization.yaml"])["resources"])
        assert {f"{folder}/{name}" for name in resources} | {f"{folder}/kustomization.yaml"} == {
            name for name in files if name.startswith(folder)
        }


def test_pods_of_volcano_are_wired_only_where_jobgate_runs_its_jobs() -> None:
    volcanos = "jobs.batch.volcano.sh"
    for run in ((), (volcanos,)):
        found = objects(KINDS, Installation(crds=False, run=run))
        (hooks,) = (one["webhooks"] for one in found if one["kind"] == "MutatingWebhookConfiguration")
        (marked,) = (
            one["objectSelector"]["matchExpressions"][0] for one in hooks if one["name"].startswith("pods.mutate")
        )
        roles = [one for one in found if (one["kind"], one["metadata"]["name"]) == ("ClusterRole", "jobgate-runner")]
        verbs = {rule["resources"][0]: rule["verbs"] for one in roles for rule in one["rules"]}
        rights = verbs.get("persistentvolumeclaims"), verbs.get("commands")
        of_runner = (["get", "create"], ["list", "watch", "delete"]) if run else (None, None)
        assert (volcanos in marked["values"], rights) == (bool(run), of_runner)
        # Those that Volcano makes are its own.
        assert not any(one["name"].startswith(f"pods.{volcanos}") for one in hooks)
        (control,) = (
            one for one in found if (one["kind"], one["metadata"]["name"]) == ("Deployment", "jobgate-controller")
        )
        arguments = control["spec"]["template"]["spec"]["containers"][0]["args"]
        assert (f"--run={volcanos}" in arguments) == bool(run)

"""What Helm makes of the chart is what the same choices render, object by object."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from controlplane.objects import read
from jobgate.configured.catalogue import installable, kinds_of, named_in_catalogue
from jobgate.installation import Installation, objects
from jobgate.installation.chart import chart
from jobgate.installation.definitions import definition
from jobgate.installation.installation import RESOURCES
from jobgate.installation.kustomize import key_of
from jobgate.kinds import installed
from tests.versions import CREW
from webhook import Registry

pytestmark = pytest.mark.helm

CHART = Path("manifests/chart/jobgate")
KINDS = installed()
PEM = b"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n"

_CHOSEN: dict[str, dict[str, Any]] = {
    "what it is by itself, with the CRDs": {"crds": True},
    "a namespace of another name": {"namespace": "elsewhere", "create_namespace": True},
    "a CronJob": {"rotation": "cronjob"},
    "cert-manager": {"rotation": "cert-manager"},
    "a certificate of one's own": {"rotation": "none", "ca_bundle": PEM},
    "two kinds, without svc": {
        "kinds": {"dijobs.diengine.opendilab.org": False, "jobs.batch.volcano.sh": False},
        "plugins": {"svc": False},
        "secrets_in": ("ada",),
    },
    "no objects of plugins": {"plugins": {"svc": False, "ssh": False}},
    "a server outside": {"external_name": "localhost"},
    "choices of pods": {
        "resources": {"webhook": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "2"}}},
        "node_selector": {"pool": "system"},
        "tolerations": ({"key": "dedicated", "operator": "Exists"},),
        "affinity": {"nodeAffinity": {}},
        "topology_spread": ({"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"},),
        "image_pull_policy": "Always",
        "image_pull_secrets": ("registry",),
        "pod_labels": {"team": "{{ x }}", "app.kubernetes.io/name": "other"},
        "pod_annotations": {"a.example.com/b": "true"},
        "pod_security_context": {"fsGroup": 7, "supplementalGroups": [1, 2]},
        "security_context": {"capabilities": {"add": ["NET_BIND_SERVICE"]}},
        "extra_args": {"webhook": ("--limit=review-time=2",), "certificates": ("--log={{ x }}",)},
        "extra_env": {component: ({"name": "A", "value": component},) for component in RESOURCES},
        "disruption_budgets": False,
        "timeout_seconds": 7,
        "failure_policies": {"mxjobs.mxnet.mlkube.io": "Ignore"},
        "monitoring": True,
        "monitor_labels": {"release": "prometheus"},
    },
    "bounds of the server": {
        "limits": {"body": 9_000_001, "buffered": 123_456_789, "small": 100_000, "in-flight": 700},
        "resources": {"webhook": {"limits": {"cpu": 2}}},
    },
    "reviews that are kept": {"keep_reviews": 10_000},
    "numbers as resources": {"resources": {"webhook": {"limits": {"memory": 600_000_000}}}},
    "a second installation": {
        "name": "canary",
        "namespace": "canary-system",
        "namespace_selector": {
            "matchLabels": {"channel": "canary"},
            "matchExpressions": [{"key": "team", "operator": "In", "values": ["a", "b"]}],
        },
        "object_selector": {"matchExpressions": [{"key": "channel", "operator": "Exists"}]},
        "secrets_in": ("ada",),
        "monitoring": True,
    },
    "a second installation that runs jobs, with the CRDs": {
        "name": "canary",
        "namespace": "canary-system",
        "namespace_selector": {"matchLabels": {"channel": "canary"}},
        "run": ("dijobs.diengine.opendilab.org", "jobs.batch.volcano.sh"),
        "crds": True,
    },
    "the runner, with queues": {
        "run": ("dijobs.diengine.opendilab.org",),
        "queues": 'queues:\n- name: a  # {{ b }} 100%\n  quota: {"pods": 1}\n',
        "network_policy": True,
        "notify": "https://example.com/jobs?of={{x}}",
        "notify_secret": "jobgate-notify",
        "di_server": True,
    },
    "everything, with texts that are hard to quote": {
        "monitoring": True,
        "network_policy": True,
        "api_server_ports": (443, 6443, 16443),
        "replicas": 3,
        "required_spread": True,
        "priority_class": "",
        "failure_policy": "Ignore",
        "secrets_in": ("ada", "bob"),
        "queueing": "volcano=batch",
        "cluster_domain": "svc.grid.example",
        "conversion_crds": ("things.example.com", "others.example.com"),
        "operator_can": ('dijobs/a"b', "mxjobs/{{ .Values }}"),
        "forgetful_writers": ("system:serviceaccount:a:b",),
        "kind_settings": {"mxjobs.mxnet.mlkube.io": "a: 'x'\n# {{ b }} 100%\nc: \"é\"\n"},
    },
}


def template(
    helm: Path, values: dict[str, Any], namespace: str = "jobgate-system", folder: Path = CHART
) -> subprocess.CompletedProcess[str]:
    """Run `helm template` with these values."""
    command = [str(helm), "template", "jobgate", str(folder), f"--namespace={namespace}", "--kube-version=1.36.3"]
    return subprocess.run(
        [*command, "--values=-"], input=json.dumps(values), capture_output=True, text=True, timeout=120, check=False
    )


def without_helms(one: dict[str, Any]) -> dict[str, Any]:
    """Return an object without what only Helm reads."""
    annotations = {
        key: value for key, value in one["metadata"].get("annotations", {}).items() if not key.startswith("helm.sh/")
    }
    metadata = {key: value for key, value in one["metadata"].items() if key != "annotations"}
    return {**one, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}


def hook(one: dict[str, Any]) -> str:
    """Return when Helm makes an object that is no part of the release, or nothing."""
    return str(one["metadata"].get("annotations", {}).get("helm.sh/hook", ""))


@pytest.mark.parametrize("case", _CHOSEN)
def test_the_chart_gives_what_is_rendered(helm: Path, case: str) -> None:
    chosen = Installation(**{"create_namespace": False, "crds": False, **_CHOSEN[case]})
    values = chosen.model_dump(mode="json", by_alias=True, exclude={"namespace"}, exclude_unset=True)
    done = template(helm, values, chosen.namespace)
    assert done.returncode == 0, done.stderr
    made = [one for one in read(done.stdout) if hook(one) != "pre-delete"]
    assert {key_of(one): without_helms(one) for one in made} == {key_of(one): one for one in objects(KINDS, chosen)}
    assert len(made) == len(objects(KINDS, chosen))


def test_kinds_of_the_catalogue_are_values_of_the_chart(helm: Path) -> None:
    ray, torch = "rayclusters.ray.io", "pytorchjobs.kubeflow.org"
    values = {"crds": False, "kinds": {ray: True, torch: True}, "deny": [ray]}
    done = template(helm, values)
    assert done.returncode == 0, done.stderr
    entries = [entry for name in (torch, ray) for entry in named_in_catalogue(name)]
    kinds = KINDS.plus(installable(kinds_of(entries)))
    chosen = objects(kinds, Installation(create_namespace=False, crds=False, deny=(ray,)))
    made = {key_of(one): without_helms(one) for one in read(done.stdout) if hook(one) != "pre-delete"}
    assert made == {key_of(one): one for one in chosen}


def test_the_crd_of_a_kind_in_several_versions_is_converted_by_the_release(helm: Path, tmp_path: Path) -> None:
    for name, text in chart(Registry([*KINDS, CREW]), "a chart").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    chosen = Installation(namespace="training", service="hook", service_port=8443, rotation="cert-manager")
    values = chosen.model_dump(mode="json", by_alias=True, exclude={"namespace"}, exclude_unset=True)
    crds = {item["metadata"]["name"]: item for item in read(template(helm, values, "training", tmp_path).stdout)}
    expected = definition(CREW, chosen)
    assert without_helms(crds[CREW.qualified_plural]) == expected


@pytest.mark.parametrize(
    "server", [{"limits": {"memory": None}}, {"limits": {"memory": None, "cpu": 2}}, {"limits": None}, None]
)
def test_null_removes_the_memory_limit(helm: Path, server: Any) -> None:
    values = {"crds": False, "resources": {"webhook": server}}
    made = {key_of(one): one for one in read(template(helm, values).stdout)}
    expected = {key_of(one): one for one in objects(KINDS, Installation(**values))}
    key = "apps/v1", "Deployment", "jobgate-system", "jobgate-webhook"
    assert made[key] == expected[key]


@pytest.mark.parametrize(
    "values, message",
    [
        ({"deny": ["dijobs.diengine.opendilab.org"]}, "deny"),
        ({"kinds": {"trainings.ml.example.com": True}}, "trainings.ml.example.com"),
        ({"replicas": 0}, "replicas"),
        ({"limits": {"body": None}}, "body"),
        ({"limits": None}, "missing property 'limits'"),
        ({"resources": None}, "missing property 'resources'"),
        ({"podLabels": None}, "missing property 'podLabels'"),
        ({"limits": {"review-time": 2}}, "review-time"),
        ({"replica": 3}, "replica"),
        ({"kinds": {"dijob": False}}, "dijob"),
        ({"rotation": "never"}, "rotation"),
        ({"caBundle": "PEM"}, "rotation"),
        ({"queueing": "slurm"}, "queueing"),
        ({"name": "My_Name"}, "name"),
        ({"namespaceSelector": {"matchLabel": {"a": "b"}}}, "matchLabel"),
        ({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}, "operator"),
    ],
)
def test_the_schema_rejects_what_an_installation_would(helm: Path, values: dict[str, Any], message: str) -> None:
    done = template(helm, values)
    assert done.returncode != 0
    assert "values don't meet the specifications of the schema" in done.stderr
    assert message in done.stderr


def test_helm_keeps_crds_and_empties_the_configurations_before_it_removes_servers(helm: Path) -> None:
    made = read(template(helm, {}).stdout)
    crds = [one for one in made if one["kind"] == "CustomResourceDefinition"]
    assert {one["metadata"]["annotations"]["helm.sh/resource-policy"] for one in crds} == {"keep"}
    hooks = [one for one in made if hook(one) == "pre-delete"]
    assert {one["kind"] for one in hooks} == {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
    assert all(one["webhooks"] == [] for one in hooks)


def test_a_first_pass_of_the_rotation_follows_each_change_of_a_release(helm: Path) -> None:
    made = read(template(helm, {"rotation": "cronjob", "crds": False}).stdout)
    (first,) = [one for one in made if one["kind"] == "Job"]
    assert hook(first) == "post-install,post-upgrade,post-rollback"

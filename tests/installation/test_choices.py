"""What an installation chooses, and that nothing is rendered for what is off."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from pydantic import ValidationError

from jobgate.cli.certs import certs_group
from jobgate.cli.manifests import manifests
from jobgate.installation import Installation, objects
from jobgate.kinds import installed
from jobgate.plugins import offered

KINDS = installed()
NAMES = [kind.qualified_plural for kind in KINDS]


def found(**choices: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what is rendered beside the CRDs, by kind and name."""
    chosen = Installation(**{"crds": False, **choices})
    return {(one["kind"], one["metadata"]["name"]): one for one in objects(KINDS, chosen)}


def arguments(name: str, **choices: Any) -> list[str]:
    """Return what the container of a Deployment gets as arguments."""
    pod = found(**choices)["Deployment", name]["spec"]["template"]["spec"]
    args: list[str] = pod["containers"][0]["args"]
    return args


@pytest.mark.parametrize("name", NAMES)
def test_nothing_speaks_of_a_kind_that_is_off(name: str) -> None:
    plural, _, group = name.partition(".")
    for one in objects(KINDS, Installation(kinds={name: False})):
        text = json.dumps(one).replace(f'"--without-kind={name}"', "")
        assert name not in text
        rules = [(rule["apiGroups"], rule["resources"]) for rule in one.get("rules", ())]
        # JobFlows look up JobTemplates.
        assert ([group], [plural]) not in rules or plural == "jobtemplates"


def test_what_a_kind_alone_looks_up_is_not_read_where_it_is_off() -> None:
    rendered = found(kinds={"jobs.batch.volcano.sh": False, "jobtemplates.flow.volcano.sh": False})
    assert "queues" not in yaml.safe_dump(rendered["ClusterRole", "jobgate-webhook"])


def test_without_a_kind_there_is_nothing_to_install() -> None:
    with pytest.raises(ValueError, match="all kinds are disabled"):
        objects(KINDS, Installation(kinds=dict.fromkeys(NAMES, False)))


@pytest.mark.parametrize(
    "choices, message",
    [
        ({"kinds": {"dijobs": False}}, "'dijobs' is not a known kind"),
        ({"plugins": {"shh": False}}, "'shh' is not a known plugin"),
        ({"ca_bundle": b"PEM"}, "caBundle requires rotation none"),
        ({"replicas": 0}, "greater than or equal to 1"),
        ({"name": "canary"}, "installation canary needs a namespace of its own, for example canary-system"),
        (
            {"object_selector": {"matchLabels": {"a": "b"}}, "run": (NAMES[0],)},
            "objectSelector may not be set with run",
        ),
        ({"namespace_selector": {"matchLabel": {}}}, "Extra inputs are not permitted"),
        (
            {"namespace_selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            "must have at least one value",
        ),
        ({"forgetful_writers": ("admin",)}, "should match pattern"),
    ],
)
def test_a_choice_that_is_none_is_rejected(choices: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, ValidationError), match=message):
        objects(KINDS, Installation(**choices))


def test_without_svc_the_controller_keeps_no_objects_of_it() -> None:
    resources = {
        resource
        for rule in found(plugins={"svc": False})["ClusterRole", "jobgate-controller"]["rules"]
        for resource in rule["resources"]
    }
    assert not resources & {"configmaps", "services", "networkpolicies"}


def test_without_ssh_the_controller_makes_secrets_nowhere() -> None:
    assert ("Role", "jobgate-controller-secrets") in found(secrets_in=("ada",))
    assert ("Role", "jobgate-controller-secrets") not in found(secrets_in=("ada",), plugins={"ssh": False})


def test_where_no_plugin_needs_objects_the_controller_writes_the_status_of_prerequisites_alone() -> None:
    rules = found(plugins=dict.fromkeys(offered(), False))["ClusterRole", "jobgate-controller"]["rules"]
    written = {one for rule in rules if "patch" in rule["verbs"] for one in rule["resources"]}
    assert written == {"prerequisites/status", "clusterprerequisites/status"}


def test_crds_that_another_chart_owns_are_left_alone() -> None:
    crds = [name for kind, name in found(crds=True) if kind == "CustomResourceDefinition"]
    assert sorted(crds) == sorted([*NAMES, "clusterprerequisites.jobgate.dev", "prerequisites.jobgate.dev"])
    assert "CustomResourceDefinition" not in {kind for kind, _ in found(crds=False)}


@pytest.mark.parametrize(
    "rotation, workloads",
    [
        ("watch", {("Deployment", "jobgate-certificates")}),
        ("cronjob", {("CronJob", "jobgate-certificates"), ("Job", "jobgate-certificates-install")}),
        ("cert-manager", set()),
        ("none", set()),
    ],
)
def test_a_rotation_runs_where_it_is_ours(rotation: str, workloads: set[tuple[str, str]]) -> None:
    rendered = found(rotation=rotation)
    ours = {key for key in rendered if key[1].startswith("jobgate-certificates")}
    assert {key for key in ours if key[0] in {"Deployment", "CronJob", "Job"}} == workloads
    assert bool(ours) is bool(workloads)
    annotated = "annotations" in rendered["MutatingWebhookConfiguration", "jobgate"]["metadata"]
    assert annotated is (rotation == "cert-manager") is ({"Issuer", "Certificate"} <= {kind for kind, _ in rendered})


@pytest.mark.parametrize("rotation", ["watch", "cronjob", "cert-manager", "none"])
def test_an_apply_can_wipe_neither_a_secret_nor_an_injected_bundle(rotation: str) -> None:
    rendered = found(rotation=rotation)
    assert "Secret" not in {kind for kind, _ in rendered}
    assert "caBundle" not in yaml.safe_dump([*rendered.values()][-2:])


def test_queues_are_told_to_the_runner_and_that_it_has_some_to_the_server() -> None:
    choices: dict[str, Any] = {"run": ("dijobs.diengine.opendilab.org",), "queues": "queues: [{name: a}]"}
    assert "--queues=/etc/jobgate/queues/queues.yaml" in arguments("jobgate-runner", **choices)
    result = [one for one in arguments("jobgate-webhook", **choices) if one.startswith("--operator-can")]
    assert result == ["--operator-can=dijobs/queue"]


def test_the_server_is_told_all_that_an_installation_says() -> None:
    result = arguments(
        "jobgate-webhook",
        namespace="ours",
        secret="pair",
        cluster_domain="svc.grid.example",
        queueing="kueue",
        operator_can=("dijobs/preemptible", "mxjobs/priority"),
        forgetful_writers=("system:serviceaccount:a:b",),
        kind_settings={"mxjobs.mxnet.mlkube.io": "accelerators: {}\n"},
    )
    assert set(result) >= {
        "--tls-secret=ours/pair",
        "--tls-name=jobgate-webhook.ours.svc",
        "--cluster-domain=svc.grid.example",
        "--queueing=kueue",
        "--operator-can=dijobs/preemptible",
        "--operator-can=mxjobs/priority",
        "--forgetful-writer=system:serviceaccount:a:b",
        "--kind-settings=mxjobs.mxnet.mlkube.io=/etc/jobgate/kinds/mxjobs.mxnet.mlkube.io.yaml",
    }


def test_the_rotation_is_told_of_names_and_conversions() -> None:
    result = arguments("jobgate-certificates", cluster_domain="svc.grid.example", conversion_crds=("a.b.example",))
    assert {"--cluster-domain=svc.grid.example", "--crd=a.b.example"} <= set(result)
    plain = arguments("jobgate-certificates")
    assert not [one for one in plain if one.startswith(("--cluster-domain", "--crd"))]
    rules = found(conversion_crds=("a.b.example",))["ClusterRole", "jobgate-certificates"]["rules"]
    assert rules[1:] == [
        {
            "apiGroups": ["apiextensions.k8s.io"],
            "resources": ["customresourcedefinitions"],
            "verbs": ["get", "patch"],
            "resourceNames": ["a.b.example"],
        }
    ]
    assert len(found()["ClusterRole", "jobgate-certificates"]["rules"]) == 1


def test_the_rotation_that_stays_is_probed_where_it_answers_and_the_one_that_ends_is_not() -> None:
    (staying,) = found(health_port=8181)["Deployment", "jobgate-certificates"]["spec"]["template"]["spec"]["containers"]
    assert "--health-port=8181" in staying["args"]
    assert staying["ports"] == [{"name": "health", "containerPort": 8181, "protocol": "TCP"}]
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= staying.keys()
    job = found(rotation="cronjob")["CronJob", "jobgate-certificates"]["spec"]["jobTemplate"]["spec"]
    (ending,) = job["template"]["spec"]["containers"]
    assert not {"startupProbe", "livenessProbe", "readinessProbe", "ports"} & ending.keys()
    assert not [one for one in ending["args"] if one.startswith("--health-port")]


@pytest.mark.parametrize("command", [["certs", "watch"], ["certs", "rotate"]])
def test_the_rotation_takes_what_it_is_told(command: list[str]) -> None:
    """Each option is one of the command that is rendered: a slip would have its pods end at once."""
    result = arguments("jobgate-certificates", cluster_domain="svc.grid.example", conversion_crds=("a.b.example",))
    known = {option for parameter in certs_group.commands[command[1]].params for option in parameter.opts}
    options = {one.partition("=")[0] for one in result[2:]}
    assert options <= (known | ({"--health-port", "--lease-name"} if command[1] == "rotate" else set()))


def test_settings_of_a_kind_are_mounted_where_the_server_is_told_that_they_are() -> None:
    rendered = found(kind_settings={"mxjobs.mxnet.mlkube.io": "accelerators: {}\n"})
    assert rendered["ConfigMap", "jobgate-kind-settings"]["data"] == {
        "mxjobs.mxnet.mlkube.io.yaml": "accelerators: {}\n"
    }
    pod = rendered["Deployment", "jobgate-webhook"]["spec"]["template"]["spec"]
    assert pod["volumes"][0]["configMap"]["name"] == "jobgate-kind-settings"
    assert pod["containers"][0]["volumeMounts"][0]["mountPath"] == "/etc/jobgate/kinds"


def test_servers_are_replaced_one_more_first_and_drained_one_by_one() -> None:
    rendered = found()
    spec = rendered["Deployment", "jobgate-webhook"]["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert spec["minReadySeconds"] > 0
    assert spec["replicas"] >= 2
    budget = rendered["PodDisruptionBudget", "jobgate-webhook"]["spec"]
    assert (budget["maxUnavailable"], budget["selector"]) == (1, spec["selector"])


def test_what_comes_in_is_limited_by_port_since_the_api_server_may_be_anywhere() -> None:
    policy = found(network_policy=True)["NetworkPolicy", "jobgate-webhook"]["spec"]
    assert policy["ingress"] == [{"ports": [{"protocol": "TCP", "port": 9443}, {"protocol": "TCP", "port": 8080}]}]
    assert not [kind for kind, _ in found() if kind == "NetworkPolicy"]


@pytest.mark.parametrize("choices", [{}, {"run": ("dijobs.diengine.opendilab.org",)}, {"rotation": "cert-manager"}])
def test_each_deployment_has_a_network_policy_of_its_own(choices: dict[str, Any]) -> None:
    rendered = found(network_policy=True, **choices)
    selected = {
        kind: {name: one["spec"][field]["matchLabels"] for (of, name), one in rendered.items() if of == kind}
        for kind, field in (("Deployment", "selector"), ("NetworkPolicy", "podSelector"))
    }
    assert selected["NetworkPolicy"] == selected["Deployment"]


@pytest.mark.parametrize(
    "options, message",
    [
        (
            ["--without-kind=dijob"],
            "'dijob' is not a known kind; known: dijobs.diengine.opendilab.org",
        ),
        (["--without-plugin=sssh"], "'sssh' is not a known plugin; known: env, svc, ssh"),
        (["--forgetful-writer=admin"], "forgetful_writers[0]: String should match pattern"),
        (["--kind-settings=mxjobs.mxnet.mlkube.io=/nowhere"], "cannot be read"),
        (["--check"], "--output-dir"),
        (
            ["--output-dir=/nowhere", "--replicas=3", "--no-crd"],
            "leave --replicas, --crd open: set them in the values of the chart or in your kustomization, or print one",
        ),
    ],
)
def test_a_wrong_option_is_answered_with_what_is_wrong(options: list[str], message: str) -> None:
    done = CliRunner().invoke(manifests, options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_the_command_gives_what_its_options_say() -> None:
    options = ["--no-crd", "--without-kind=mxjobs.mxnet.mlkube.io", "--rotation=cert-manager", "--api-server-port=8443"]
    done = CliRunner().invoke(manifests, [*options, "--network-policy", "--operator-can=dijobs/preemptible"])
    assert done.exit_code == 0, done.output
    said = Installation(
        crds=False,
        kinds={"mxjobs.mxnet.mlkube.io": False},
        rotation="cert-manager",
        api_server_ports=(8443,),
        network_policy=True,
        operator_can=("dijobs/preemptible",),
    )
    assert list(yaml.safe_load_all(done.stdout)) == objects(KINDS, said)


@pytest.mark.parametrize("name", ["jobgate-webhook", "jobgate-controller"])
def test_what_is_off_is_off_for_those_that_run_too(name: str) -> None:
    result = arguments(name, plugins={"ssh": False, "env": True}, kinds={"mxjobs.mxnet.mlkube.io": False})
    assert [one for one in result if "without" in one] == [
        "--without-plugin=ssh",
        "--without-kind=mxjobs.mxnet.mlkube.io",
    ]
    assert not [one for one in arguments(name) if "without" in one]


def test_an_installation_that_only_warns_says_so_to_its_server() -> None:
    assert "--mode=warn" in arguments("jobgate-webhook", mode="warn")
    assert not [one for one in arguments("jobgate-webhook") if "mode" in one]


def test_a_file_with_values_of_the_chart_is_rendered_and_options_take_precedence(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(
        "namespace: training\nreplicas: 5\npodSecurityContext: {runAsUser: null}\n"
        "resources: {webhook: {limits: {memory: 1Gi}}}\nfailurePolicies: {mxjobs.mxnet.mlkube.io: Ignore}\n"
    )
    result = CliRunner().invoke(manifests, ["--values", str(file), "--replicas", "3"], catch_exceptions=False)
    rendered = {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(result.stdout)}
    server = rendered["Deployment", "jobgate-webhook"]
    pod = server["spec"]["template"]["spec"]
    assert (server["metadata"]["namespace"], server["spec"]["replicas"]) == ("training", 3)
    assert "runAsUser" not in pod["securityContext"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["containers"][0]["resources"] == {
        "requests": {"cpu": "100m", "memory": "128Mi"},
        "limits": {"memory": "1Gi"},
    }
    entries = rendered["ValidatingWebhookConfiguration", "jobgate"]["webhooks"]
    ignored = [entry["name"] for entry in entries if entry["failurePolicy"] == "Ignore"]
    assert ignored
    assert all("mxjobs.mxnet.mlkube.io" in name for name in ignored)


@pytest.mark.parametrize(
    "text, message",
    [
        ("replica: 3", "replica"),
        ("resources: {server: {}}", "resources"),
        ("failurePolicies: {mxjobs: Ignore}", "'mxjobs' is not a known kind"),
        ("timeoutSeconds: 31", "timeoutSeconds"),
        ("[", "--values"),
    ],
)
def test_a_wrong_value_in_a_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(text)
    result = CliRunner().invoke(manifests, ["--values", str(file)])
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("secret", ["", "jobgate-notify"])
def test_nothing_is_reported_without_a_secret(secret: str) -> None:
    # With an address and no secret, the runner would not start.
    run = ("dijobs.diengine.opendilab.org",)
    args = arguments("jobgate-runner", run=run, notify="https://example.com", notify_secret=secret)
    assert [each.partition("=")[0] for each in args if each.startswith("--notify")] == (
        ["--notify-secret", "--notify"] if secret else []
    )

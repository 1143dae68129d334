"""The checks on a recorded sound installation: no findings without a planted fault, and only its finding with a fault."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobgate.cluster.endpoints import SERVICES, SLICES
from jobgate.cluster.secret import SECRETS
from jobgate.doctor import CATALOGUE, Severity
from jobgate.doctor.observed import CONFIGURATIONS, NAMESPACES, PODS, POLICIES, Permission, Ref
from jobgate.installation.configurations import WITH_POLICIES
from jobgate.installation.installation import LABELS, RotationMode
from tests.doctor import faults
from tests.doctor.faults import FAULTS, MXJOBS, POLICY_FAULTS
from tests.doctor.world import (
    DIJOBS,
    KINDS,
    ROTATOR,
    RUNNER,
    SERVER,
    SERVICE,
    SYSTEM,
    TLS,
    World,
    generation,
    lease,
    sound,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LACKS = "this account cannot get it"


@pytest.fixture(scope="module")
def recorded() -> World:
    return sound(NOW)


@pytest.fixture
def world(recorded: World) -> World:
    return recorded.copy()


def ids(world: World, **given: Any) -> list[str]:
    return [one.id for one in world.diagnosed(**given)]


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"failure_policy": "Fail", "replicas": 3, "required_spread": True, "queueing": "volcano=batch"},
        {"rotation": RotationMode.CRONJOB},
        {"rotation": RotationMode.CERT_MANAGER},
        {"rotation": RotationMode.NONE},
        {"kinds": {"jobs.batch.volcano.sh": False}, "plugins": {"ssh": False}, "mode": "warn"},
        {"secrets_in": ("default", SYSTEM)},
        {"service_port": 8443, "target_port": 10250, "health_port": 8081},
        {"secret": "another-name"},
        {"failure_policies": {MXJOBS: "Ignore"}},
        {"policies": True},
        {"policies": True, "crds": False},
    ],
    ids=repr,
)
def test_a_sound_installation_has_no_fault_whatever_was_chosen(choices: dict[str, Any]) -> None:
    world = sound(NOW, **choices)
    if "secret" in choices:
        found = world.get("Secret", TLS, SYSTEM)
        world.remove("Secret", TLS, SYSTEM)
        found["metadata"]["name"] = choices["secret"]
        world.put(found)
    world.show(world.current)
    observed, expected = world.looked()
    assert world.diagnosed() == []
    assert observed.not_checked() == {}
    for field in {*choices} - {"required_spread", "kinds", "plugins"}:
        assert getattr(expected.installation, field) == choices[field]
    assert [kind for kind in KINDS if expected.installation.on("kinds", kind.qualified_plural)] == list(expected.kinds)


def test_a_server_outside_the_cluster_needs_no_workload_and_no_secret() -> None:
    world = sound(NOW, external_name="localhost", rotation=RotationMode.NONE, kinds={"mxjobs.mxnet.mlkube.io": False})
    world.remove("Secret", TLS, SYSTEM)
    world.show(world.current)
    observed, expected = world.looked()
    assert world.diagnosed() == []
    assert observed.not_checked() == {}
    assert "mxjobs.mxnet.mlkube.io" not in [kind.qualified_plural for kind in expected.kinds]


RUN: dict[str, Any] = {"run": ("torchjobs.train.distributed.io",), "queueing": "kubernetes", "queues": "queues: []"}


def test_the_runner_is_known_by_its_deployment_and_by_the_flags_of_the_server() -> None:
    world = sound(NOW, **RUN, di_server=True)
    assert world.diagnosed() == []
    chosen = world.looked()[1].installation
    assert (chosen.run, chosen.queueing, chosen.queues, chosen.di_server) == (*RUN.values(), True)


@pytest.mark.parametrize(
    ("kind", "id_"),
    [("Deployment", "workload-missing"), ("Lease", "lease-not-held"), ("ServiceAccount", "account-missing")],
)
def test_what_the_runner_lacks_is_found(kind: str, id_: str) -> None:
    world = sound(NOW, run=RUN["run"])
    world.remove(kind, RUNNER, SYSTEM)
    found = world.diagnosed()
    assert [(one.id, one.where.rpartition("/")[2].partition(" ")[0]) for one in found] == [(id_, RUNNER)]


def test_a_runner_that_does_not_renew_its_lease_is_found() -> None:
    world = sound(NOW, run=RUN["run"])
    world.put(lease(RUNNER, NOW - timedelta(hours=1)))
    assert ids(world) == ["lease-not-held"]


@pytest.mark.parametrize(
    ("queueing", "queues", "found", "used"),
    [
        ("", "", ["kueue-discovered"], "the runner uses Kueue"),
        ("", RUN["queues"], ["kueue-discovered"], "the runner uses its own queues, and not Kueue"),
        ("kueue", "", [], ""),
    ],
)
def test_kueue_that_the_installation_does_not_name_is_found(
    queueing: str, queues: str, found: list[str], used: str
) -> None:
    world = sound(NOW, run=RUN["run"], queueing=queueing, queues=queues)
    world.put({"kind": "CustomResourceDefinition", "metadata": {"name": "workloads.kueue.x-k8s.io"}})
    assert ids(world) == found
    assert used in "".join(one.what for one in world.diagnosed())


@pytest.mark.parametrize("sentence", FAULTS)
def test_a_planted_fault_is_found_and_nothing_else(world: World, sentence: str) -> None:
    planted = FAULTS[sentence]
    planted.plant(world)
    found = world.diagnosed()
    assert {one.id for one in found} == {planted.id}
    assert planted.says in " ".join(f"{one.where}: {one.what}" for one in found)


@pytest.fixture(scope="module")
def with_policies() -> World:
    return sound(NOW, policies=True, failure_policies={MXJOBS: "Ignore"})


@pytest.mark.parametrize("sentence", POLICY_FAULTS)
def test_a_fault_of_admission_policies_is_found_and_nothing_else(with_policies: World, sentence: str) -> None:
    world, planted = with_policies.copy(), POLICY_FAULTS[sentence]
    assert world.diagnosed() == []
    planted.plant(world)
    found = world.diagnosed()
    assert {one.id for one in found} == {planted.id}
    assert planted.says in " ".join(f"{one.where}: {one.what}" for one in found)


def test_policies_of_another_installation_that_is_there_are_no_fault(with_policies: World) -> None:
    world = with_policies.copy()
    POLICY_FAULTS["policies of a removed installation"].plant(world)
    canary = {"name": "canary", "labels": LABELS}
    world.put({"kind": "MutatingWebhookConfiguration", "metadata": canary, "webhooks": []})
    assert ids(world) == []
    # Nor if the configurations of others may not be listed.
    world.remove("MutatingWebhookConfiguration", "canary")
    assert ids(world) == ["admission-policy-left"] * 2
    world.unseen[Ref(CONFIGURATIONS[0])] = LACKS
    assert ids(world) == []


def test_policies_that_an_installation_does_not_have_any_more_are_left_over(with_policies: World) -> None:
    """The rules of MxJobs, which are checked by the webhook again."""
    world = with_policies.copy()
    for entry in world.entries():
        entry["failurePolicy"] = "Fail"
    assert ids(world) == ["admission-policy-left"] * 2


def test_all_policies_are_left_over_if_the_configurations_are_applied_again_without_them() -> None:
    world = sound(NOW, policies=True, crds=False)
    assert ids(world) == []
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        del world.get(kind, world.installation.name)["metadata"]["labels"][WITH_POLICIES]
    assert {*ids(world)} == {"admission-policy-left"}


def test_what_lacks_a_policy_is_an_error_only_where_the_webhook_leaves_defaults_to_it() -> None:
    world = sound(NOW, policies=True, crds=False)
    POLICY_FAULTS["no policy sets the defaults"].plant(world)
    assert ids(world) == ["admission-policy-missing"]


@pytest.mark.parametrize("round_", faults.Round)
def test_no_fault_of_a_round_hides_another(recorded: World, round_: faults.Round) -> None:
    together, result = recorded.copy(), []
    for planted in faults.of_round(round_).values():
        planted.plant(together)
        alone = recorded.copy()
        planted.plant(alone)
        result += alone.diagnosed()
    assert sorted(map(repr, together.diagnosed())) == sorted(map(repr, result))


def test_every_fault_of_the_catalogue_is_planted_and_has_one_id() -> None:
    catalogue = [fault.id for family in CATALOGUE.values() for fault in family]
    assert [name for name, count in Counter(catalogue).items() if count > 1] == []
    elsewhere = {
        *(one.id for one in POLICY_FAULTS.values()),
        "kueue-discovered",
        "not-installed",
        "certificate-expired",
        "bundle-ca-expired",
        "server-serves-another",
        "kind-description-invalid",
        "kind-crd-missing",
        "kind-version-not-served",
    }
    assert {one.id for one in FAULTS.values()} | elsewhere == set(catalogue)


def test_an_expired_certificate_is_reported_with_the_bundles_that_trust_its_ca(world: World) -> None:
    world.serve(generation(NOW - timedelta(days=100)))
    assert ids(world) == ["certificate-expired", "bundle-ca-expired", "bundle-ca-expired"]


def test_an_expired_ca_in_the_bundle_is_told_where_the_secret_has_no_ca(world: World) -> None:
    world.serve(generation(NOW - timedelta(days=100)))
    world.get("Secret", TLS, SYSTEM)["data"]["ca.crt"] = ""
    assert "bundle-ca-expired" in ids(world)


def test_a_server_that_has_not_read_the_secret_is_told_and_so_is_who_does_not_trust_it(world: World) -> None:
    world.show(generation(NOW, 9))
    assert ids(world) == ["bundle-lacks-served-ca", "bundle-lacks-served-ca", "server-serves-another"]
    said = " ".join(one.what for one in world.diagnosed())
    assert "10.0.0.1:9443" in said
    assert "serves generation 9; the Secret contains generation 1" in said


def test_a_server_gets_ten_minutes_to_read_a_secret_that_was_written(world: World) -> None:
    kept = generation(NOW, 2)
    world.serve(world.current, bundle=world.current.ca_certificate + kept.ca_certificate)
    world.show(kept)
    metadata = world.get("Secret", TLS, SYSTEM)["metadata"]
    metadata["managedFields"] = [{"time": f"{NOW - timedelta(minutes=5):%Y-%m-%dT%H:%M:%SZ}"}]
    assert ids(world) == []
    metadata["managedFields"] = [{"time": f"{NOW - timedelta(minutes=15):%Y-%m-%dT%H:%M:%SZ}"}]
    assert ids(world) == ["server-serves-another"]


def test_a_served_certificate_that_expired_is_reported_by_its_address(world: World) -> None:
    world.show(generation(NOW - timedelta(days=100), 1))
    expired = next(one for one in world.diagnosed() if one.id == "certificate-expired")
    assert expired.where == "10.0.0.1:9443"


def test_a_server_that_is_perhaps_not_reached_is_reported_as_no_fault(world: World) -> None:
    world.show(None, certain=False)
    assert ids(world) == []
    assert list(world.looked()[0].not_checked().values()) == [["certificate of 10.0.0.1:9443"]]


def test_another_host_at_the_address_of_a_pod_is_reported_as_no_fault(world: World) -> None:
    world.show(generation(NOW, service="printer"), certain=False)
    assert ids(world) == []
    (why,) = world.looked()[0].not_checked()
    assert "another host responds" in why


def test_all_entries_that_fail_open_are_a_fault_where_it_is_told_that_they_should_not(world: World) -> None:
    faults.all_ignore(world)
    (chosen,) = world.diagnosed()
    assert not chosen.severity.is_fault
    differing = [found for found in world.diagnosed(failure_policy="Fail") if found.id == "failure-policy-differs"]
    assert any(f"{MXJOBS}.validate" in found.what + found.where for found in differing)


def test_a_schedule_that_is_suspended_is_reported() -> None:
    world = sound(NOW, rotation=RotationMode.CRONJOB)
    world.get("CronJob", ROTATOR, SYSTEM)["spec"]["suspend"] = True
    assert ids(world) == ["workload-stopped"]


def test_a_crd_that_another_chart_owns_need_not_be_ours_but_must_have_our_fields(world: World) -> None:
    world.get("CustomResourceDefinition", DIJOBS)["metadata"]["labels"] = {"helm.sh/chart": "di-orchestrator"}
    FAULTS["a CRD is stricter"].plant(world)
    assert ids(world) == []
    FAULTS["a CRD lacks a field"].plant(world)
    assert ids(world) == ["crd-schema-lacks-fields"]


def test_a_crd_that_takes_anything_lacks_no_field(world: World) -> None:
    world.get("CustomResourceDefinition", DIJOBS)["metadata"]["labels"] = {}
    schema = world.get("CustomResourceDefinition", DIJOBS)["spec"]["versions"][0]["schema"]
    schema["openAPIV3Schema"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert ids(world) == []


def test_what_cannot_be_looked_at_is_reported_and_is_no_fault(world: World) -> None:
    for ref in list(world.objects):
        if ref.resource not in CONFIGURATIONS:
            world.unseen[ref] = LACKS
    refs = [Ref(NAMESPACES), Ref(PODS, "", SYSTEM), Ref(SLICES, "", SYSTEM), *map(Ref, CONFIGURATIONS)]
    world.unseen |= dict.fromkeys(refs, LACKS)
    world.rights_unseen = LACKS
    assert world.diagnosed() == []
    (result,) = world.looked()[0].not_checked().values()
    assert {f"secrets/{TLS} in {SYSTEM}", f"pods in {SYSTEM}", f"permissions of {SERVER}"} <= set(result)
    assert len(result) == len(set(result))


@pytest.mark.parametrize("sentence", FAULTS)
def test_a_fault_in_what_cannot_be_looked_at_is_not_made_up(world: World, sentence: str) -> None:
    """A user who may read only the webhook configurations gets the findings about them."""
    FAULTS[sentence].plant(world)
    for ref in [*world.objects, Ref(SECRETS, TLS, SYSTEM), Ref(SERVICES, SERVICE, SYSTEM)]:
        if ref.resource not in CONFIGURATIONS:
            world.unseen[ref] = LACKS
    world.unseen |= {Ref(one, "", SYSTEM): LACKS for one in (PODS, SLICES)}
    world.unseen |= {Ref(one): LACKS for one in (NAMESPACES, *POLICIES.values())}
    world.rights_unseen = LACKS
    found = {one.id for one in world.diagnosed()}
    # Without the namespaces it is not distinguishable from a selector that leaves out some.
    assert found <= {FAULTS[sentence].id, "namespace-selector-differs"} or "missing" in FAULTS[sentence].id


def test_if_nothing_is_installed_that_alone_is_reported(world: World) -> None:
    world.objects = {ref: one for ref, one in world.objects.items() if ref.resource == NAMESPACES}
    assert ids(world) == ["not-installed"]


def test_a_server_of_two_addresses_is_one(world: World) -> None:
    piece = world.get("EndpointSlice", f"{SERVICE}-abcde", SYSTEM)
    reference = {"kind": "Pod", "name": f"{SERVER}-0", "namespace": SYSTEM}
    for endpoint in piece["endpoints"]:
        endpoint["targetRef"] = reference
    (finding,) = world.diagnosed()
    assert (finding.id, f"only one endpoint is ready: {SERVER}-0" in finding.what) == ("single-server", True)


def test_a_service_may_have_further_ports_and_name_the_target_by_its_number(world: World) -> None:
    ports = world.get("Service", SERVICE, SYSTEM)["spec"]["ports"]
    ports[0]["targetPort"] = 9443
    ports.insert(0, {"name": "metrics", "port": 8080, "targetPort": "health"})
    assert ids(world) == []


def test_a_webhook_for_everything_that_calls_nobody_is_reported(world: World) -> None:
    faults.dead_webhook(world)
    (entry,) = world.get("ValidatingWebhookConfiguration", "gone-admission")["webhooks"]
    entry["rules"][0] |= {"apiGroups": ["*"], "resources": ["*/*"]}
    assert ids(world) == ["other-webhook-dead"]
    entry["failurePolicy"] = "Ignore"
    assert ids(world) == []


def test_what_others_inject_into_pods_is_not_taken_for_ours(world: World) -> None:
    for name in (SERVER, ROTATOR):
        spec = world.get("Deployment", name, SYSTEM)["spec"]["template"]["spec"]
        spec["containers"].insert(0, {"name": "sidecar", "image": "mesh:7", "args": ["--port=1"]})
    assert ids(world) == []


def test_a_port_that_is_a_variable_is_taken_for_the_default(world: World) -> None:
    (container,) = world.get("Deployment", SERVER, SYSTEM)["spec"]["template"]["spec"]["containers"]
    container["args"] = [re.sub("^--port=.*", "--port=$(PORT)", one) for one in container["args"]]
    assert ids(world) == []


def test_one_fault_in_many_entries_is_reported_once(world: World) -> None:
    faults.other_ca(world)
    for entry in world.entries():
        entry["clientConfig"]["caBundle"] = ""
    found = world.diagnosed()
    assert [one.id for one in found] == ["bundle-empty", "bundle-empty"]
    entries = world.get("MutatingWebhookConfiguration", "jobgate")["webhooks"]
    assert found[0].where.count("jobgate.dev") == len(entries) > 1


def test_findings_come_the_worst_first(world: World) -> None:
    FAULTS["a Lease is not renewed"].plant(world)
    FAULTS["an operator has a webhook of its own"].plant(world)
    FAULTS["an entry calls another path"].plant(world)
    assert [one.severity for one in world.diagnosed()] == list(Severity)


def test_the_right_to_everything_is_reported_as_that(world: World) -> None:
    world.extra |= {
        Permission(ROTATOR, "*", "*", "*", "", ""),
        Permission(ROTATOR, "impersonate", "", "users", "", "x"),
    }
    (finding,) = world.diagnosed()
    assert finding.what == "can do everything"

"""The doctor knows the configured kinds of an installation, and reports faults of their files and CRDs."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from jobgate.configured.catalogue import installable, kinds_of, named_in_catalogue
from jobgate.configured.file import read_entries
from jobgate.doctor.observed import CONFIG_MAPS, DEPLOYMENTS, Ref
from jobgate.kinds import installed
from tests.doctor.world import SERVER, SYSTEM, World, shipped, sound
from tests.jobs.test_without_tasks import TOPIC, ZONE

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
RAY, OWN = "rayclusters.ray.io", "trainings.ml.example.com"
DESCRIBED = b"""
group: ml.example.com
versions: [v2, v1]
kind: Training
plural: trainings
operator: {name: the training operator}
tasks:
- {each: .spec.roles, name: role, replicas: count, template: pod}
"""


def crd(name: str, *versions: str, served: bool = True) -> dict[str, Any]:
    listed = [{"name": version, "served": served} for version in versions]
    return {"kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": {"versions": listed}}


@pytest.fixture
def world() -> World:
    """An installation with a kind of the catalogue, which is denied, and with a described one."""
    entries = [*named_in_catalogue(RAY), *read_entries(DESCRIBED, "training.yaml")]
    world = sound(NOW, described=installable(kinds_of(entries)), deny=(RAY,))
    world.show(world.current)
    world.put(crd(RAY, "v1", "v1alpha1"), crd(OWN, "v2", "v1"))
    return world


def test_an_installation_with_configured_kinds_has_no_fault(world: World) -> None:
    assert world.diagnosed() == []
    _, expected = world.looked()
    assert [kind.qualified_plural for kind in expected.kinds][-2:] == [RAY, OWN]
    assert expected.installation.deny == (RAY,)


def test_kinds_without_tasks_are_looked_at_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A namespaced kind, and one of the cluster, in a cluster with a namespace that has opted out."""
    monkeypatch.setattr("tests.doctor.world.KINDS", installed().plus([TOPIC, ZONE]))
    monkeypatch.setattr("tests.doctor.world.shipped", shipped.__wrapped__)
    world = sound(NOW)
    labels = {"kubernetes.io/metadata.name": "out", "jobgate.dev/admission": "disabled"}
    world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "out", "labels": labels}})
    assert world.diagnosed() == []
    world.remove("CustomResourceDefinition", TOPIC.qualified_plural)
    world.get("CustomResourceDefinition", ZONE.qualified_plural)["spec"]["scope"] = "Namespaced"
    assert [(fault.id, fault.where) for fault in world.diagnosed()] == [
        ("crd-missing", f"customresourcedefinitions/{TOPIC.qualified_plural}"),
        ("crd-scope-differs", f"customresourcedefinitions/{ZONE.qualified_plural}"),
    ]


def config_map(world: World) -> dict[str, Any]:
    (result,) = [one for ref, one in world.objects.items() if ref.name.startswith("jobgate-kinds-")]
    return result


def invalid(world: World) -> None:
    config_map(world)["data"][f"{OWN}.yaml"] = "group: ml.example.com\nkind: training\n"


def without_file(world: World) -> None:
    config_map(world)["data"].clear()


def without_entry(world: World) -> None:
    result = world.get("ValidatingWebhookConfiguration", "jobgate")
    result["webhooks"] = [webhook for webhook in result["webhooks"] if not webhook["name"].startswith(OWN)]


def ignoring(world: World) -> None:
    world.entry("Validating", f"{RAY}.validate")["failurePolicy"] = "Ignore"


@pytest.mark.parametrize(
    ("plant", "fault", "says"),
    [
        (invalid, "kind-description-invalid", f"{OWN}.yaml:2: kind: string should match pattern"),
        (without_file, "kind-description-invalid", "is neither in the catalogue nor in the ConfigMap"),
        (lambda world: world.remove("CustomResourceDefinition", RAY), "kind-crd-missing", "not found"),
        (lambda world: world.put(crd(OWN, "v1")), "kind-version-not-served", "serves v1, but v2 is described"),
        (lambda world: world.put(crd(OWN, "v2", served=False)), "kind-version-not-served", "serves no version"),
        (without_entry, "entry-missing", f"{OWN}.validate.jobgate.dev"),
        (ignoring, "failure-policy-differs", "Ignore"),
    ],
)
def test_a_fault_of_a_configured_kind_is_found(
    world: World, plant: Callable[[World], None], fault: str, says: str
) -> None:
    plant(world)
    results = [each for each in world.diagnosed() if each.id == fault]
    assert any(says in f"{each.where} {each.what}" for each in results), world.diagnosed()


def test_descriptions_that_cannot_be_read_are_no_fault(world: World) -> None:
    name = config_map(world)["metadata"]["name"]
    world.unseen[Ref(CONFIG_MAPS, name, SYSTEM)] = "this account cannot get configmaps"
    assert world.diagnosed() == []


def test_kinds_of_a_server_that_cannot_be_read_are_no_fault(world: World) -> None:
    world.unseen[Ref(DEPLOYMENTS, SERVER, SYSTEM)] = "this account cannot get deployments"
    assert "entry-unknown" not in [each.id for each in world.diagnosed()]

"""The desired objects of a job."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from jobgate.controller.desired import desired, unsupported
from jobgate.plugins import CONFIG_MAP, Crew, Declared, Plugin
from jobgate.plugins.ssh.arguments import SshArguments
from tests.controller.builder import crew, wanted
from tests.controller.trial import TrialArguments

pytestmark = pytest.mark.usefixtures("trial")


def test_an_object_is_marked_as_ours_and_as_the_jobs() -> None:
    metadata = wanted(crew(), "ConfigMap").manifest["metadata"]
    assert metadata == {
        "name": "train-trial",
        "namespace": "ada",
        "labels": {"app.kubernetes.io/managed-by": "jobgate", "jobgate.dev/job": "train"},
        "ownerReferences": [
            {"apiVersion": "diengine.opendilab.org/v2alpha1", "kind": "DIJob", "name": "train", "uid": "uid-1"}
        ],
    }


@pytest.mark.parametrize(
    "arguments, kinds",
    [
        ({}, ["ConfigMap", "Service"]),
        ({"policy": True}, ["ConfigMap", "Service", "NetworkPolicy"]),
        ({"secret": True}, ["ConfigMap", "Service", "Secret"]),
    ],
)
def test_each_object_that_a_plugin_declares_is_there(arguments: Any, kinds: list[str]) -> None:
    assert [each.manifest["kind"] for each in desired(crew(**arguments))] == kinds


def test_what_the_operator_provides_is_not_made_by_us() -> None:
    assert desired(replace(crew(), provided=frozenset({"trial"}))) == []


def test_a_job_that_asks_for_nothing_gets_nothing() -> None:
    assert desired(replace(crew(), plugins={})) == []


def test_a_name_that_no_label_can_hold_is_left_out_of_the_labels() -> None:
    labels = wanted(crew(name="x" * 70), "ConfigMap").manifest["metadata"]["labels"]
    assert labels == {"app.kubernetes.io/managed-by": "jobgate"}


def test_what_is_made_once_is_other_each_time_and_not_in_the_manifest() -> None:
    secret = wanted(crew(secret=True), "Secret")
    assert "stringData" not in secret.manifest
    assert secret.manifest_to_create()["stringData"] != secret.manifest_to_create()["stringData"]
    assert secret.manifest_to_create()["metadata"] == secret.manifest["metadata"]


class Strange(Plugin[TrialArguments]):
    """Declares what nobody can make."""

    name = "trial"
    arguments = TrialArguments
    creates = (CONFIG_MAP,)

    def objects(self, crew: Crew, arguments: TrialArguments) -> Iterator[Declared]:
        yield Declared({"apiVersion": "v1", "kind": "Node", "metadata": {"name": crew.name}})
        yield Declared({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{crew.name}-settings"}})


class Twice(Plugin[TrialArguments]):
    """Declares one object twice."""

    name = "trial"
    arguments = TrialArguments
    creates = (CONFIG_MAP,)

    def objects(self, crew: Crew, arguments: TrialArguments) -> Iterator[Declared]:
        for value in "ab":
            manifest: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": crew.name}}
            yield Declared({**manifest, "data": {"which": value}})


def test_an_object_of_a_kind_that_nobody_makes_is_reported_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jobgate.plugins.installed", lambda: {"trial": Strange()})
    assert [each.name for each in desired(crew())] == ["train-settings"]
    assert unsupported(crew()) == ["plugin trial declares a Node, which is not in its `creates`"]


def test_of_two_that_declare_one_object_the_first_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobgate.plugins.installed", lambda: {"trial": Twice()})
    assert [each.manifest["data"] for each in desired(crew())] == [{"which": "a"}]


def test_the_keys_of_ssh_are_made_beside_what_is_declared_of_their_secret() -> None:
    (secret,) = desired(replace(crew(), plugins={"ssh": SshArguments()}))
    made = secret.manifest_to_create()
    assert set(made["data"]) == {
        "authorized_keys",
        "config",
        "id_rsa",
        "id_rsa.pub",
        "known_hosts",
        "ssh_host_key",
    }
    assert secret.declared.complete(made)
    assert not secret.declared.complete({"data": {key: made["data"][key] for key in made["data"] if key != "config"}})

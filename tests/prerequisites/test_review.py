"""`jobgate review` of prerequisites: the faults that the webhook finds, and references among the files."""

import asyncio
import json
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.pods import ItemReviewer
from tests.prerequisites.items import Known, examples, item, starts, wants
from tests.prerequisites.test_jobs import dijob, stored
from webhook import Operation, Request

LOCAL = "Prerequisite"


def reviewed(*documents: dict[str, Any], options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The entries of the command for objects in one file."""
    arguments = ["review", "-", "--namespace=team", "--output=json", *options]
    done = CliRunner().invoke(main, arguments, input=yaml.safe_dump_all(documents))
    result: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.exit_code == (0 if all(each["allowed"] for each in result) else 1)
    return result


def causes(entry: dict[str, Any]) -> list[str]:
    result = entry["status"]["details"]["causes"] if entry["status"] else []
    return [f"{each['field']}: {each['message']}" for each in result]


FAULTS = [
    {"cmd": starts("ls {{ x }}")},
    {"templateVariables": [{"name": "x", "pattern": "("}]},
    {"templateVariables": [{"name": "x", "default": "a b"}]},
    {"require": [wants("a", LOCAL)]},
    {"require": [wants("a", x="{{ y }}")]},
    {"env": [{"name": "A=B"}]},
    {"cmd": starts("echo a\r"), "templateVariables": [{"name": "x", "pattern": "["}]},
    {"plugin": {"name": "env", "arguments": [["x" * 4] * 40] * 120}},
]


@pytest.mark.parametrize("spec", FAULTS, ids=", ".join)
def test_an_item_is_rejected_for_what_the_webhook_rejects(spec: dict[str, Any]) -> None:
    (entry,) = reviewed(item("one", **spec))
    request = Request("1", "jobgate.dev/v1alpha1", "ClusterPrerequisite", Operation.CREATE, document=entry["object"])
    answer = asyncio.run(ItemReviewer().review(request))
    assert answer is not None
    assert causes(entry) == [str(cause) for cause in answer.causes] != []


def test_an_item_is_rejected_for_what_its_schema_rejects() -> None:
    (entry,) = reviewed(item("one", cmd=starts("x", event="taskEnds"), templateVariables=[{"name": "a-b"}]))
    event, name = causes(entry)
    assert event.startswith('spec.cmd.callbacks[0].event: Unsupported value: "taskEnds": supported values: ')
    assert name.startswith('spec.templateVariables[0].name: Invalid value: "a-b"')


def test_the_examples_are_allowed_and_a_job_records_the_hashes_of_the_cluster() -> None:
    entries = reviewed(*examples(), dijob(wants("mnist")))
    assert [(entry["allowed"], entry["warnings"]) for entry in entries] == [(True, [])] * 11
    known = Known([entry["object"] for entry in entries[:-1]])
    metadata = entries[-1]["object"]["metadata"]
    assert metadata["annotations"] == stored(dijob(wants("mnist")), known)["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ([item("a", require=[wants("b")])], "ClusterPrerequisite b is not known here and was not checked"),
        ([item("a", require=[wants("b")]), item("b", templateVariables=[{"name": "x"}])],
         "would be stored, but not be Ready: MissingVariable: ClusterPrerequisite a → ClusterPrerequisite b: "),
        ([item("a", LOCAL, require=[wants("a", "ClusterPrerequisite"), wants("b")]),
          item("a", require=[wants("a")]), item("b", LOCAL)],
         "Cycle: Prerequisite a → ClusterPrerequisite a → ClusterPrerequisite a: "),
        ([item("a", require=[wants("b"), wants("c")]), item("b", pvcStorage={"name": "b", "mountPath": "/d"}),
          item("c", pvcStorage={"name": "c", "mountPath": "/d"})], "MountConflict: ClusterPrerequisite a → "),
    ],
)  # fmt: skip
def test_what_an_item_requires_is_looked_up_among_the_files(documents: list[Any], expected: str) -> None:
    first, *_ = reviewed(*documents)
    assert first["allowed"], "the webhook stores it: what it requires may come later"
    assert any(expected in warning for warning in first["warnings"]), first["warnings"]


def test_a_job_is_checked_for_the_items_that_are_among_the_files_and_warned_about_others() -> None:
    known = item("known", templateVariables=[{"name": "x"}])
    names = (wants("known", "ClusterPrerequisite"), wants("other"))
    _, job = reviewed(known, dijob(*names))
    (text,) = causes(job)
    assert text.startswith('spec.tasks[0].prerequisites[0]: Invalid value: "known": MissingVariable: DIJob train → ')
    assert [warning for warning in job["warnings"] if "not known here" in warning] == [
        "spec.tasks[0].prerequisites[1]: Prerequisite other is not known here and was not checked: pass the file "
        "that has it to `jobgate review`, too"
    ]


def test_an_item_that_was_stored_with_a_fault_is_rejected_only_if_its_spec_changes(tmp_path: Any) -> None:
    broken = item("one", cmd=starts("ls {{ x }}"))
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(broken))
    old = f"--old={tmp_path / 'old.yaml'}"
    labelled = {**broken, "metadata": {**broken["metadata"], "labels": {"a": "b"}}}
    (entry,) = reviewed(labelled, options=(old,))
    assert entry["allowed"]
    (entry,) = reviewed(item("one", cmd=starts("ls {{ x }}"), type="data"), options=(old,))
    assert not entry["allowed"]


def test_an_installation_that_only_warns_warns() -> None:
    (entry,) = reviewed(item("one", cmd=starts("ls {{ x }}")), options=("--mode=warn",))
    assert entry["allowed"]
    assert "UndeclaredPlaceholder" in entry["warnings"][0]


@pytest.mark.parametrize("named", [True, False])
def test_what_names_prerequisites_and_is_not_reviewed_is_for_explain(named: bool) -> None:
    (pod,) = examples("pod.yaml")
    template = {"metadata": pod["metadata"] if named else {"name": "x"}, "spec": pod["spec"]}
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}
    _, *entries = reviewed(item("one"), {**template, "apiVersion": "v1", "kind": "Pod"}, workload)
    for entry in entries:
        assert any("`jobgate explain` checks" in warning for warning in entry["warnings"]) == named


@pytest.mark.parametrize("annotations", [5, "jobgate.dev/prerequisites", ["jobgate.dev/prerequisites"], None])
def test_annotations_that_are_no_mapping_name_nothing(annotations: Any) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": annotations}}
    _, entry = reviewed(item("one"), pod)
    assert not any("`jobgate explain` checks" in warning for warning in entry["warnings"])


@pytest.mark.parametrize("change", [{"apiVersion": "jobgate.dev/v1"}, {"kind": "clusterprerequisite"}])
def test_what_is_meant_as_a_prerequisite_and_is_none_is_rejected(change: dict[str, str]) -> None:
    (entry,) = reviewed({**item("one"), **change})
    (text,) = causes(entry)
    assert "known kinds: " in text
    assert "jobgate.dev/v1alpha1 ClusterPrerequisite" in text

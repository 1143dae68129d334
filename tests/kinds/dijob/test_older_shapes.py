"""DIJobs of older operators: recognised, rejected, and converted."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.kinds.dijob.conversion import convert
from tests.kinds.dijob.jobs import faults, job, task, template, validate

OLD: dict[str, Any] = {
    "apiVersion": "diengine.opendilab.org/v2alpha1",
    "kind": "DIJob",
    "metadata": {"name": "old"},
    "spec": {
        "group": "games",
        "minReplicas": 3,
        "maxReplicas": 4,
        "engineFields": {"topology": "mesh", "parallelWorkers": 2},
        "template": template(),
    },
}
FIRST: dict[str, Any] = {
    "apiVersion": "diengine.opendilab.org/v1alpha1",
    "kind": "DIJob",
    "metadata": {"name": "first"},
    "spec": {
        "priorityClassName": "urgent",
        "cleanPodPolicy": "ALL",
        "volumes": [{"name": "data", "emptyDir": {}}],
        "coordinator": {"template": template()},
        "learner": {"template": template()},
        "collector": {"template": template()},
    },
}


def spec(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the document with these fields of its spec changed; None takes one out."""
    changed = {key: value for key, value in {**document["spec"], **changes}.items() if value is not None}
    return {**document, "spec": changed}


def test_the_shape_of_operator_v1_0_is_rejected_with_the_command_that_mends_it() -> None:
    fix = "Forbidden: field of operator v1.0, not read since operator v1.1: convert the job with `jobgate convert FILE`"
    assert faults(validate(OLD)) == [
        "spec.tasks: Required value: must be set",
        f"spec.template: {fix}",
        f"spec.engineFields: {fix}",
    ]


def test_a_group_beside_tasks_is_reported_and_accepted() -> None:
    response = validate(job(task("learner"), group="games"))
    assert faults(response) == []
    assert [str(notice) for notice in response.notices] == [
        "spec.group: not read since operator v1.1: remove it, or use a label of the job"
    ]


def test_one_template_becomes_one_task() -> None:
    conversion = convert(OLD)
    assert conversion is not None
    assert conversion.document["spec"] == {
        "backoffLimit": 0,
        "tasks": [{"name": "serial", "type": "none", "replicas": 3, "template": template()}],
    }
    assert [decision.split(":")[0] for decision in conversion.decisions] == [
        "backoffLimit",
        "tasks[0].replicas",
        "tasks[0].name",
        "maxReplicas",
        "engineFields.topology",
        "engineFields.parallelWorkers",
        "group",
    ]


@pytest.mark.parametrize("least", [0, None])
def test_a_job_that_started_no_pod_gets_one(least: int | None) -> None:
    conversion = convert(spec(OLD, minReplicas=least))
    assert conversion is not None
    assert conversion.document["spec"]["tasks"][0]["replicas"] == 1
    assert any("v1.0 created no pods until" in decision for decision in conversion.decisions)


def test_roles_of_the_first_version_become_tasks() -> None:
    conversion = convert(FIRST)
    assert conversion is not None
    new = conversion.document["spec"]
    assert [(part["name"], part["type"], part["replicas"]) for part in new["tasks"]] == [
        ("coordinator", "none", 1),
        ("learner", "learner", 1),
        ("collector", "collector", 1),
    ]
    assert (new["priority"], new["cleanPodPolicy"], new["volumes"]) == ("normal", "All", FIRST["spec"]["volumes"])
    assert any("neither default nor high" in decision for decision in conversion.decisions)


@pytest.mark.parametrize("document", [OLD, FIRST, spec(OLD, engineFields=None), spec(FIRST, collector=None)])
def test_what_was_converted_is_accepted_and_needs_no_more_conversion(document: dict[str, Any]) -> None:
    conversion = convert(document)
    assert conversion is not None
    assert faults(validate(conversion.document)) == []
    assert convert(conversion.document) is None


def decided(document: dict[str, Any]) -> list[str]:
    conversion = convert(document)
    assert conversion is not None
    return list(conversion.decisions)


@pytest.mark.parametrize(
    "document, decision",
    [
        (spec(OLD, backoffLimit=2), "backoffLimit: removed; operator v1.0 had no such field."),
        (spec(OLD, volumes=[]), "volumes: removed; operator v1.0 had no such field."),
        (spec(FIRST, backoffLimit=2), "backoffLimit: removed; operator v0.x had no such field."),
        (spec(FIRST, learner={"template": template(), "replicas": 2}),
         "learner.replicas: removed; operator v0.x had no such field."),
        (spec(OLD, engineFields={"workers": 2}),
         "engineFields.workers: removed; operator v1.0 had no such field."),
        (spec(OLD, engineFields="star"), 'engineFields: removed "star"; it is not an object.'),
        (spec(OLD, preemptible=True), "preemptible: set to false, because a preemptible job crashes the "
                                      "current operator."),
        (OLD | {"status": {}}, "status: removed; the operator writes it again."),
        (OLD | {"data": {}}, "data: removed; a job has no such field."),
    ],
)  # fmt: skip
def test_nothing_is_left_out_without_a_word(document: dict[str, Any], decision: str) -> None:
    assert decision in decided(document)
    assert decision not in decided(FIRST if document["apiVersion"] == FIRST["apiVersion"] else OLD)


def test_what_was_written_into_the_stored_job_does_not_come_along() -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "games"}
    own = {"name": "old", "finalizers": ["example.com/cleanup"], "ownerReferences": [{"name": "workflow"}]}
    stored = {**own, "uid": "1", "resourceVersion": "7", "managedFields": [], "annotations": applied}
    conversion = convert(OLD | {"metadata": stored})
    assert conversion is not None
    assert conversion.document["metadata"] == {**own, "annotations": {"team": "games"}}
    assert (
        "metadata: removed uid, resourceVersion, managedFields, "
        "annotations[kubectl.kubernetes.io/last-applied-configuration], which belong to the stored job."
    ) in conversion.decisions


@pytest.mark.parametrize(
    "document, fault",
    [
        (spec(FIRST, priorityClassName=["a"]), "spec.priority: Invalid value"),
        (spec(FIRST, cleanPodPolicy=5), "spec.cleanPodPolicy: Invalid value: 5"),
        (spec(FIRST, learner="x"), "spec.tasks[1].template: Invalid value"),
        (FIRST | {"spec": {}}, "spec.tasks: Invalid value"),
        (FIRST | {"spec": "x"}, "spec.tasks: Invalid value"),
        (FIRST | {"metadata": "x"}, "metadata: "),
        (spec(OLD, minReplicas=True), "spec.tasks[0].replicas: Invalid value: true"),
        (spec(OLD, template="x"), "spec.tasks[0].template: Invalid value"),
        (OLD | {"metadata": {"name": 5}}, "metadata.name: Invalid value"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_rejected_with_what_is_wrong(
    tmp_path: Path, document: dict[str, Any], fault: str
) -> None:
    source, target = tmp_path / "old.yaml", tmp_path / "new.yaml"
    source.write_text(yaml.safe_dump(document))
    result = CliRunner().invoke(main, ["convert", str(source), "--output-file", str(target)])
    assert (result.exit_code, target.exists(), result.stdout) == (2, False, ""), result.output
    first, *causes = result.stderr.splitlines()
    assert first == f"{source}:1: cannot be converted: the resulting DIJob would be denied"
    assert [cause for cause in causes if cause.startswith(f"  * {fault}")], causes


def test_a_comment_is_one_line_whatever_a_key_holds(tmp_path: Path) -> None:
    source = tmp_path / "old.json"
    source.write_text(json.dumps(spec(OLD, **{"a\nb\u2028c\u0007": 1})))
    result = CliRunner().invoke(main, ["convert", str(source)])
    assert "# a b c\\u0007: removed; " in result.stdout
    assert yaml.safe_load(result.stdout)["spec"]["tasks"]


@pytest.mark.parametrize("document", [job(task("learner")), {}, {"kind": "DIJob", "spec": 5}, {"kind": "Job"}])
def test_what_is_no_older_shape_is_left_alone(document: dict[str, Any]) -> None:
    assert convert(document) is None


def test_the_command_writes_each_decision_as_a_comment(tmp_path: Path) -> None:
    source, target = tmp_path / "old.yaml", tmp_path / "new.yaml"
    source.write_text(yaml.safe_dump_all([OLD, job(task("learner"))]))
    result = CliRunner().invoke(main, ["convert", str(source), "--output-file", str(target)])
    assert result.exit_code == 0, result.output
    text = target.read_text()
    first, second = yaml.safe_load_all(text)
    assert (first["spec"]["tasks"][0]["name"], second) == ("serial", job(task("learner")))
    for decision in convert(OLD).decisions:  # type: ignore[union-attr]
        assert f"# {decision}\n" in text
    assert CliRunner().invoke(main, ["convert", str(target)]).exit_code == 1
    assert CliRunner().invoke(main, ["convert", str(tmp_path / "none.yaml")]).exit_code == 2

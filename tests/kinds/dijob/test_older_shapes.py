"""DIJobs of older operators: recognised, refused, and converted."""

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


def test_the_shape_of_operator_v1_0_is_refused_with_the_command_that_mends_it() -> None:
    mend = (
        "Forbidden: this is the shape of operator v1.0; the operator has read tasks since v1.1: "
        "`jobgate convert FILE` writes the job in the new shape"
    )
    assert faults(validate(OLD)) == [
        "spec.tasks: Required value: must be set",
        f"spec.template: {mend}",
        f"spec.engineFields: {mend}",
    ]


def test_a_group_beside_tasks_is_told_and_taken() -> None:
    response = validate(job(task("learner"), group="games"))
    assert faults(response) == []
    assert [str(notice) for notice in response.notices] == [
        "spec.group: no operator since v1.1 reads it: leave it out, or make it a label of the job"
    ]


def test_one_template_becomes_one_task() -> None:
    conversion = convert(OLD)
    assert conversion is not None
    assert conversion.job["spec"] == {
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
    assert conversion.job["spec"]["tasks"][0]["replicas"] == 1
    assert any("v1.0 made no pod until" in decision for decision in conversion.decisions)


def test_roles_of_the_first_version_become_tasks() -> None:
    conversion = convert(FIRST)
    assert conversion is not None
    new = conversion.job["spec"]
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
    assert faults(validate(conversion.job)) == []
    assert convert(conversion.job) is None


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

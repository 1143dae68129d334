"""A first entry for the kinds of a cluster whose CRDs embed pod templates."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from jobgate.cli import main
from jobgate.configured.binding import configured
from jobgate.configured.discover import entry_for
from jobgate.configured.entry import Entry

TEMPLATE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "containers": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "image": {"type": "string"}},
                    },
                }
            },
        }
    },
}
COUNT, TEXT = {"type": "integer"}, {"type": "string"}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def crd(**spec: Any) -> dict[str, Any]:
    schema = fields(spec=fields(**spec), status=fields(template=TEMPLATE))
    names = {"kind": "Training", "plural": "trainings"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "trainings.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }


@pytest.mark.parametrize(
    ("spec", "tasks"),
    [
        (
            {"roles": {"type": "array", "items": fields(groupName=TEXT, name=TEXT, replicas=COUNT, pod=TEMPLATE)}},
            [{"each": ".spec.roles", "name": "name", "replicas": "replicas", "template": "pod"}],
        ),
        (
            {"roles": {"type": "object", "additionalProperties": fields(template=TEMPLATE)}},
            [{"each": ".spec.roles", "name": {"key": "lower"}, "template": "template"}],
        ),
        (
            {"driver": fields(instances=COUNT, template=TEMPLATE)},
            [
                {
                    "at": ".spec.driver.template",
                    "name": {"value": "driver"},
                    "replicas": ".spec.driver.instances",
                    "template": ".",
                }
            ],
        ),
        (
            {"podTemplate": TEMPLATE, "taskManager": fields(replicas=COUNT, podTemplate=TEMPLATE)},
            [
                {"at": ".spec.podTemplate", "name": {"value": "main"}, "template": "."},
                {
                    "at": ".spec.taskManager.podTemplate",
                    "name": {"value": "taskmanager"},
                    "replicas": ".spec.taskManager.replicas",
                    "template": ".",
                },
            ],
        ),
        (
            {"worker": fields(replicas=COUNT, **TEMPLATE["properties"])},
            [{"at": ".spec.worker", "name": {"value": "worker"}, "replicas": "replicas", "template": "."}],
        ),
        (
            {"cliques": {"type": "array", "items": fields(name=TEXT, pod=TEMPLATE["properties"]["spec"])}},
            [{"each": ".spec.cliques", "name": "name", "pod": [{"to": "spec", "path": "pod"}]}],
        ),
    ],
)
def test_the_entry_says_where_the_tasks_are(spec: dict[str, Any], tasks: list[dict[str, Any]]) -> None:
    entry = entry_for(crd(suspend={"type": "boolean"}, **spec))
    assert entry is not None
    assert entry["tasks"] == tasks
    assert entry["fields"] == {"suspend": ".spec.suspend"}
    assert configured(Entry.model_validate(entry)).kind == "Training"


def test_a_crd_without_pod_templates_has_no_entry() -> None:
    assert entry_for(crd(size=COUNT)) is None


def test_the_command_prints_files_for_kinds_and_lists_what_it_found(tmp_path: Any) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(yaml.safe_dump(crd(driver=fields(template=TEMPLATE))))
    result = CliRunner().invoke(main, ["fit", "--discover", str(file)], catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stderr == "trainings.example.com: pods of .spec.driver.template\n"
    (tmp_path / "kinds.yaml").write_text(result.stdout)
    job = {"apiVersion": "example.com/v1", "kind": "Training", "metadata": {"name": "mnist"}}
    pod = {"spec": {"containers": [{"name": "Main", "image": "train"}]}}
    job["spec"] = {"driver": {"template": pod}}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    arguments = ["review", "--kinds", str(tmp_path / "kinds.yaml"), "--crd", str(file), str(tmp_path / "job.yaml")]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert 'spec.driver.template.spec.containers[0].name: Invalid value: "Main"' in result.stdout


KIND = "group: example.com\nversions: [v1]\nkind: Training\nplural: trainings\noperator: {name: o}\nplaceholder: '{{'\n"
JOB = "apiVersion: example.com/v1\nkind: Training\nmetadata: {name: a}\nspec: {driver: {template: %s}}\n"
OWN_FIELDS = "group: e.com\nversions: [v1]\nkind: A\nplural: as\noperator: {name: o}\n"


def test_a_task_that_is_its_own_template_has_other_fields_too(tmp_path: Path) -> None:
    (tmp_path / "kinds.yaml").write_text(f"{OWN_FIELDS}tasks: [{{at: .spec, name: {{value: a}}, template: .}}]\n")
    spec = {"replicas": 2, "spec": {"containers": [{"name": "main", "image": "x", "imge": "y"}]}}
    job = {"apiVersion": "e.com/v1", "kind": "A", "metadata": {"name": "a"}, "spec": spec}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job))
    arguments = ["review", "--kinds", str(tmp_path / "kinds.yaml"), str(tmp_path / "job.yaml")]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert "spec.spec.containers[0].imge: unknown field" in result.stdout
    assert "replicas" not in result.stdout


POD = "{spec: {containers: [{name: main, image: train, env: %s}]}}"


def reviewed(folder: Path, definition: dict[str, Any] | None, env: str) -> Result:
    (folder / "kinds.yaml").write_text(f"{KIND}tasks: [{{at: .spec.driver, template: template}}]\n")
    (folder / "crd.yaml").write_text(yaml.safe_dump(definition))
    (folder / "job.yaml").write_text(JOB % POD % env)
    crds = ["--crd", str(folder / "crd.yaml")] if definition else []
    arguments = ["review", "--kinds", str(folder / "kinds.yaml"), *crds, str(folder / "job.yaml")]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


@pytest.mark.parametrize(
    ("env", "fault"), [("[{name: a, value: '{{b}}'}]", ""), ("'{{b}}'", ""), ("[['{{b}}']]", "env[0]: Invalid value")]
)
def test_a_placeholder_hides_only_faults_of_its_own_value(tmp_path: Path, env: str, fault: str) -> None:
    result = reviewed(tmp_path, None, env)
    assert (result.exit_code, fault in result.output) == (bool(fault), True), result.output


@pytest.mark.parametrize("change", [{"name": "v2"}, {"served": False}])
def test_a_version_that_the_crd_does_not_serve_is_denied(tmp_path: Path, change: dict[str, Any]) -> None:
    definition = crd(driver=fields(template=TEMPLATE))
    versions = definition["spec"]["versions"]
    versions[:] = [{**versions[0], **change}, {**versions[0], "name": "v3", "storage": False}]
    result = reviewed(tmp_path, definition, "[]")
    assert result.exit_code == 1
    served = "example.com/v2, example.com/v3" if "name" in change else "example.com/v3"
    assert f'apiVersion: Invalid value: "example.com/v1": the CRD serves {served}' in result.output


def test_a_crd_that_the_api_server_rejects_is_rejected_with_its_place(tmp_path: Path) -> None:
    definition = crd(driver=fields(template=TEMPLATE))
    del definition["spec"]["versions"][0]["name"]
    result = reviewed(tmp_path, definition, "[]")
    assert result.exit_code == 2
    assert "crd.yaml:1: the API server rejects the CRD: spec.versions" in " ".join(result.output.split())

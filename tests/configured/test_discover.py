"""A first entry for the kinds of a cluster whose CRDs embed pod templates."""

from typing import Any

import pytest
import yaml
from click.testing import CliRunner

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

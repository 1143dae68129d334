from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jobgate.cli import main
from jobgate.offline.files import FileObjects

JOB = """\
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: job}
spec:
  prerequisites: [{name: data, templateVariables: {path: VALUE}}]
  tasks:
  - name: a
    type: none
    template: {spec: {containers: [{name: main, image: x, command: [run]}]}}
"""
ITEM = """\
---
apiVersion: jobgate.dev/v1alpha1
kind: Prerequisite
metadata: {name: data, namespace: NAMESPACE}
spec:
  templateVariables: [{name: path}]
  cmd: {callbacks: [{event: taskStarts, commands: ["mkdir -p {{ path }}"]}]}
"""


@pytest.mark.parametrize(
    ("value", "namespace", "code", "said"),
    [
        ("/data", "default", 0, "allowed"),
        ("a;b", "default", 1, "InvalidValue: DIJob job → Prerequisite data: the value of path"),
        ("/data", "other", 0, "Prerequisite data is not known here and was not checked"),
    ],
)
def test_a_review_knows_the_prerequisites_of_its_files(
    tmp_path: Path, value: str, namespace: str, code: int, said: str
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(JOB.replace("VALUE", value) + ITEM.replace("NAMESPACE", namespace))
    done = CliRunner().invoke(main, ["review", str(file)])
    assert (done.exit_code, said in done.stdout) == (code, True), done.stdout


@pytest.mark.parametrize(
    "document", [{}, {"kind": []}, {"kind": "Prerequisite"}, {"kind": "Prerequisite", "metadata": 1}]
)
def test_any_object_may_be_among_the_files(document: dict[str, Any]) -> None:
    with pytest.raises(LookupError):
        FileObjects([document]).get("prerequisites.v1alpha1.jobgate.dev", "data", "default")

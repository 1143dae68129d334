"""Without the CEL library, every command lists the unchecked rules."""

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from crdgen import ValidationRule, cel
from crdgen.cli import main
from crdgen.evaluate import Evaluator, evaluate
from tests.differential.crds.definitions import bare

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 3"}]}},
}
WIDGET = {"apiVersion": "lint.example.com/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"a": 1}}


class SpecWithRule(BaseModel):
    a: Annotated[int, ValidationRule("self > 3")]


@pytest.fixture(autouse=True)
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cel, "available", lambda: False)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    definition, widget = tmp_path / "crd.json", tmp_path / "widget.json"
    definition.write_text(json.dumps(bare(SCHEMA)), encoding="utf-8")
    widget.write_text(json.dumps(WIDGET), encoding="utf-8")
    return str(definition), str(widget)


@pytest.mark.parametrize("flags, code", [([], 0), (["--strict"], 1)])
def test_lint_names_the_rule_and_strict_fails(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], flags: list[str], code: int
) -> None:
    assert main(["lint", *flags, files[0]]) == code
    assert f"'self > 3' was not checked: {cel.NOT_INSTALLED}" in capsys.readouterr().out


def test_eval_counts_the_rules_and_rejects_nothing(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", files[1], "--crd", files[0]]) == 0
    assert capsys.readouterr().err == f"note: 1 rule not checked: {cel.NOT_INSTALLED}\n"


def test_generate_names_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--group", "shop.example.com", "--version", "v1", "--kind", "SpecWithRule"]
    assert main(["generate", f"{__name__}:SpecWithRule", *arguments]) == 0
    assert "was not checked" in capsys.readouterr().err


def test_an_evaluation_lists_the_rules_that_were_not_evaluated() -> None:
    unchecked: list[str] = []
    assert Evaluator(SCHEMA).validate({"a": 1}, unchecked=unchecked) == []
    assert [sentence.partition(" was")[0] for sentence in unchecked] == ["a: rule `self > 3`"]
    assert len(evaluate(bare(SCHEMA), WIDGET).unchecked) == 1

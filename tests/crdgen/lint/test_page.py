"""The page of the linter lists all rules."""

from pathlib import Path

from tests.differential.crds.report import rules

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "crd-lint.md"


def test_the_page_lists_each_rule_with_severity_and_reason() -> None:
    _, heading, rest = PAGE.read_text(encoding="utf-8").partition("## The rules\n")
    listed, _, _ = rest.partition("## Compared")
    assert f"{heading}{listed}".strip() == rules().strip(), "python -m tests.differential.crds renews the page"

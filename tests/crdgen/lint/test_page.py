"""The page about the linter lists the rules that there are, as they are."""

from pathlib import Path

from tests.differential.crds.report import rules

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "crd-lint.md"


def test_the_page_lists_each_rule_with_its_severity_and_its_reason() -> None:
    _, heading, rest = PAGE.read_text(encoding="utf-8").partition("## The rules\n")
    listed, _, _ = rest.partition("## Compared")
    assert f"{heading}{listed}".strip() == rules().strip(), "python -m tests.differential.crds renews the page"

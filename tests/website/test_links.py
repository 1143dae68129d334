"""Links of a file, as the page has them that the file becomes."""

from pathlib import Path

import pytest
from mkdocs.exceptions import PluginError

from website.hooks import listed, relink

REPOSITORY = "https://example.com/jobgate"


@pytest.mark.parametrize(
    "link, source, at, expected",
    [
        ("docs/how-to/review.md", "README.md", "index.md", "how-to/review.md"),
        ("docs/how-to/review.md", "CHANGELOG.md", "project/changelog.md", "../how-to/review.md"),
        ("../../SECURITY.md", "docs/explanation/security.md", "explanation/security.md", "../project/security.md"),
        ("../../bench/page.py", "docs/explanation/security.md", "explanation/security.md", f"{REPOSITORY}/blob/main/bench/page.py"),
        ("examples", "README.md", "index.md", f"{REPOSITORY}/tree/main/examples"),
    ],
)  # fmt: skip
def test_a_link_leads_to_a_page_or_to_the_repository(link: str, source: str, at: str, expected: str) -> None:
    assert relink(link, source, at, REPOSITORY) == expected


def test_a_link_to_nothing_ends_the_build() -> None:
    with pytest.raises(PluginError, match="no such file"):
        relink("nowhere.md", "README.md", "index.md", REPOSITORY)


def test_a_pattern_in_nav_is_the_pages_that_match(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("<!-- generated -->\n\n# The `b`\n", encoding="utf-8")
    (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")
    (tmp_path / "c.txt").touch()
    nav = ["x.md", {"All": "*.md"}, {"Inside": [{"Deep": "*.md"}]}]
    pages = [{"A": "a.md"}, {"The b": "b.md"}]
    assert listed(nav, tmp_path) == ["x.md", {"All": pages}, {"Inside": [{"Deep": pages}]}]


def test_a_pattern_that_matches_no_page_ends_the_build(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"k/\*\.md: no page matches"):
        listed(["k/*.md"], tmp_path)

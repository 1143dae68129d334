"""The page that benchmarks renew."""

from pathlib import Path

import pytest

from bench import page


def test_a_block_is_replaced_and_all_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("before\n<!-- begin a -->\nold\n<!-- end a -->\n<!-- begin b -->\n<!-- end b -->\nafter\n")
    page.renew("a", r"new \1", file)
    page.renew("a", "newer", file)
    assert file.read_text() == (
        "before\n<!-- begin a -->\n\nnewer\n\n<!-- end a -->\n<!-- begin b -->\n<!-- end b -->\nafter\n"
    )


@pytest.mark.parametrize("block", ["c", "comparison"])
def test_a_block_that_the_page_lacks_is_an_error(tmp_path: Path, block: str) -> None:
    file = tmp_path / "page.md"
    file.write_text("no blocks\n")
    with pytest.raises(ValueError, match="0 blocks"):
        page.renew(block, "text", file)


@pytest.mark.parametrize(
    "block",
    [
        "comparison",
        "stages",
        "creates",
        *(f"growth-{name}" for name in ("tasks", "bytes", "stored", "kinds", "connections")),
    ],
)
def test_docs_have_each_block_once(block: str) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.count(f"<!-- begin {block} -->") == text.count(f"<!-- end {block} -->") == 1

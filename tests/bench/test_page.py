"""The page with the results of benchmarks."""

import pytest

from bench import page


@pytest.mark.parametrize(
    "block",
    [
        "comparison",
        "stages",
        "creates",
        *(f"growth-{name}" for name in ("tasks", "bytes", "stored", "kinds", "connections")),
    ],
)
def test_the_page_has_each_block_once(block: str) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.count(f"<!-- begin {block} -->") == text.count(f"<!-- end {block} -->") == 1

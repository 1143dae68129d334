"""The page's types, and what is vendored in it."""

import pytest

from tools.page import HERE, PAGE, type_errors, vendored
from tools.page.browser import NEEDS

pytestmark = pytest.mark.needs(*NEEDS)


def test_all_types_are_right() -> None:
    assert type_errors() == ""


def test_the_bundle_is_what_the_lock_file_gives() -> None:
    for name, content in vendored().items():
        assert (PAGE / "vendor" / name).read_bytes() == content, "run `make console-page`"


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (HERE / "package-lock.json").read_text()


def test_the_page_has_few_lines_and_no_markup_from_text() -> None:
    files = [path for path in PAGE.iterdir() if path.suffix in {".js", ".css", ".html"}]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert source.count("\n") < 2000
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", ' style="'):
        assert word not in source, word

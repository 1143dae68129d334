"""Links and names of files in pages and code lead to existing files."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("crdgen", "webhook", "certs", "jobgate", "bench", "tests", "examples", "manifests", ".github")
TEXTS = {".py", ".md", ".yaml", ".yml", ".toml", ".txt"}

_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)")
_PAGE = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.md\b")
_SOURCE = re.compile(r"(?<![\w/.-])(?:tests|bench|jobgate|controlplane|crdgen|webhook|certs|website)/[\w/.-]+\.py\b")
_TEST = re.compile(r"([\w/]+/test_\w+\.py)::(\w+)")
#: Files that the reader creates in tutorials.
_ELSEWHERE = {
    "docs/order.md",
    "docs/reference/differences/sweep.md",
    "docs/reference/kinds/sweep.md",
    "docs/widget.md",
    "tests/test_database.py",
    "tests/test_examples.py",
    "tests/test_rules.py",
}


def _files() -> list[Path]:
    paths = [path for path in ROOT.iterdir() if path.suffix in TEXTS or path.name in {"Makefile", "Dockerfile"}]
    for folder in (*SOURCES, "docs"):
        paths += [path for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    return [path for path in paths if path.name != "CHANGELOG.md"]


def test_every_relative_link_has_a_file() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in _files()
        if page.suffix == ".md"
        for link in _LINK.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_every_source_file_in_a_page_exists() -> None:
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in _files()
        if page.suffix == ".md"
        for name in _SOURCE.findall(page.read_text(encoding="utf-8"))
        if name not in _ELSEWHERE and not any((ROOT / folder / name).is_file() for folder in ("", "tests"))
    ]
    assert missing == []


def test_every_test_in_a_page_exists() -> None:
    missing = [
        f"{page.relative_to(ROOT)}: {file}::{name}"
        for page in _files()
        if page.suffix == ".md"
        for file, name in _TEST.findall(page.read_text(encoding="utf-8"))
        if f"def {name}(" not in (ROOT / "tests" / file.removeprefix("tests/")).read_text(encoding="utf-8")
    ]
    assert missing == []


def test_every_page_in_code_and_texts_exists() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in _files()
        for name in _PAGE.findall(path.read_text(encoding="utf-8"))
        if name not in _ELSEWHERE and not (ROOT / name).is_file()
    ]
    assert missing == []

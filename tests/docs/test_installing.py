"""Pages that install jobgate: until a version is published, none says a command that finds nothing."""

import re
from pathlib import Path

import pytest

PAGES = [
    file
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "examples/**/*.md",
        "templates/**/*.tpl",
        "packages/**/*.md",
        "**/*.yaml.tpl",
    )
    for file in Path().glob(pattern)
    if ".venv" not in file.parts
]
_ASKED = re.compile(r"""[\s'"]jobgate(-\w+)?(\[[\w,]*\])?(?=$|\s+[^@\s]|\s*$|['"=<>])""")
GET = Path("docs/how-to/get.md")


def unpublished(text: str) -> list[str]:
    """Return the commands of pip that ask an index for one of our packages."""
    commands = re.findall(r"pip install[^\n`#]*", text)
    return [command for command in commands if "--find-links" not in command and _ASKED.search(command)]


def test_no_page_asks_an_index_for_what_is_not_published() -> None:
    assert GET in PAGES
    found = {str(file): unpublished(file.read_text(encoding="utf-8")) for file in PAGES if file != GET}
    assert {file: commands for file, commands in found.items() if commands} == {}, f"link {GET} instead"


def test_one_page_says_how_to_get_it() -> None:
    text = GET.read_text(encoding="utf-8")
    assert unpublished(text) == ["pip install jobgate"]
    assert "No version is published yet, so `pip install jobgate` finds nothing today" in text
    assert "how-to/get.md" in Path("README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install jobgate", True),
        ("- run: pip install jobgate\n", True),
        ("`pip install 'jobgate[cel]'`", True),
        ("pip install --quiet jobgate-crdgen", True),
        ('pip install "jobgate[cel]==0.1.0"', True),
        ('pip install "jobgate @ git+https://github.com/jobgate/jobgate"', False),
        ("pip install --find-links dist jobgate-testing", False),
        ("pip install --editable .    # beside jobgate, which finds it", False),
        ("pip install ./packages/crdgen .", False),
    ],
)
def test_what_counts_as_asking_an_index(text: str, wrong: bool) -> None:
    assert bool(unpublished(text)) == wrong

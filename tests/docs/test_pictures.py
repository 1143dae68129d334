"""Pictures of README and docs/: shown with a text for who does not see them, small, and without script or other hosts."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tools.pictures.flow import flow
from tools.pictures.recording import drawn

ROOT = Path(__file__).parents[2]
#: Bytes of a picture, by its suffix.
LIMITS = {".svg": 400_000, ".png": 150_000, ".webp": 150_000, ".gif": 400_000}
PICTURES = sorted(path for path in (ROOT / "docs").rglob("*") if path.suffix in LIMITS)
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def _shown() -> list[tuple[str, str, Path]]:
    """Page, text and file of each picture in a page."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [
        (str(page.relative_to(ROOT)), text, (page.parent / link).resolve())
        for page in pages
        for text, link in _PICTURE.findall(page.read_text(encoding="utf-8"))
    ]


def test_every_picture_in_a_page_exists_and_has_a_text() -> None:
    shown = _shown()
    assert [(page, file) for page, _, file in shown if file not in PICTURES] == []
    assert [(page, file) for page, text, file in shown if len(text.split()) < 2] == []


def test_every_picture_is_in_a_page() -> None:
    assert set(PICTURES) == {file for _, _, file in _shown()}


def test_the_readme_starts_with_the_recording() -> None:
    beginning, _, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n```")
    assert "](docs/images/demo.svg)" in beginning


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small(picture: Path) -> None:
    assert picture.stat().st_size <= LIMITS[picture.suffix]


@pytest.mark.parametrize("picture", [path for path in PICTURES if path.suffix == ".svg"], ids=lambda path: path.name)
def test_an_svg_has_a_title_and_no_script_and_asks_for_nothing(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    elements = list(ET.fromstring(text).iter())
    names = {element.tag.rpartition("}")[2] for element in elements}
    assert not names & {"script", "foreignObject", "image", "use", "iframe"}
    attributes = {name for element in elements for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name.endswith(("href", "src"))]
    assert "@import" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
    assert "title" in names or picture.parent.name != "images"


def test_a_recording_names_no_place_of_the_machine_that_made_it() -> None:
    text = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    assert re.findall(r"/tmp/|/home/|/root|127\.0\.0\.1|localhost", text) == []


def test_the_diagram_of_the_flow_is_what_the_code_gives() -> None:
    assert (ROOT / "docs" / "images" / "flow.svg").read_text(encoding="utf-8") == flow()


def test_a_line_of_a_recording_is_shown_from_its_frame_to_its_change() -> None:
    frames = [(0.0, (("<a/>",),)), (1.0, (("<b/>",),)), (3.0, (("<b/>",),)), (4.0, ())]
    picture = drawn([(time, lines + ((),) * 19 if lines else ()) for time, lines in frames])
    assert "@keyframes t0-1000{0.00%{visibility:visible}25.00%{visibility:hidden}}" in picture
    assert "@keyframes t1000-4000{0%{visibility:hidden}25.00%{visibility:visible}}" in picture
    assert re.findall(r'class="at ([^"]*)"[^>]*><([ab])/>', picture) == [("t0-1000", "a"), ("t1000-4000 last", "b")]

"""The maps of docs/explanation/architecture.md name every package of the source, and only existing ones."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
#: The section of each map, with the folder that its names are relative to.
MAPS = [("Packages", ""), ("crdgen", "crdgen"), ("The server", "webhook/server")]


def rows(section: str, folder: str) -> Iterator[tuple[list[Path], str]]:
    """Yield the paths in the first cell of each row of a map, and the text of the other cells."""
    for line in PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0].splitlines():
        if line.startswith("| `"):
            first, _, text = line.removeprefix("| ").partition(" | ")
            yield [ROOT / folder / name for name in re.findall(r"`([\w./]+)`", first)], text


@pytest.mark.parametrize("section, folder", MAPS)
def test_all_names_on_a_map_exist(section: str, folder: str) -> None:
    for places, text in rows(section, folder):
        missing: list[object] = [
            place for place in places if not place.exists() and not place.with_suffix(".py").exists()
        ]
        for place in (place for place in places if place.is_dir()):
            missing += [name for name in re.findall(r"`([\w/]+\.py)`", text) if not (place / name).exists()]
        assert missing == []


def test_every_package_is_on_a_map() -> None:
    named = {place.with_suffix("") for map_ in MAPS for places, _ in rows(*map_) for place in places}
    existing = {ROOT / name for name in ("crdgen", "webhook", "certs")}
    existing |= {init.parent for folder in ("crdgen", "jobgate") for init in (ROOT / folder).glob("*/__init__.py")}
    existing |= {module.with_suffix("") for module in (ROOT / "webhook/server").glob("[!_]*.py")}
    assert existing - named == set()

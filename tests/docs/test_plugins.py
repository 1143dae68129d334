"""Each built-in plugin has its page, and the rights that it needs."""

from pathlib import Path
from typing import Any

import pytest

from jobgate.plugins import BUILT_IN, Plugin
from tests.plugins.crews import crew

ROOT = Path(__file__).parents[2]
OFFERED = [plugin for plugin in BUILT_IN if not plugin.imposed]
NAMES = [plugin.name for plugin in OFFERED]


@pytest.mark.parametrize("plugin", OFFERED, ids=NAMES)
def test_a_plugin_names_the_types_of_all_that_it_declares(plugin: Plugin[Any]) -> None:
    declared = {
        (each.manifest["apiVersion"], each.manifest["kind"]) for each in plugin.objects(crew(), plugin.arguments())
    }
    assert declared == {(create.api_version, create.kind) for create in plugin.creates}


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_has_a_page_that_the_readme_links(name: str) -> None:
    page = f"docs/reference/plugins/{name}.md"
    assert (ROOT / page).is_file()
    assert f"[`{name}`]({page})" in (ROOT / "README.md").read_text(encoding="utf-8")

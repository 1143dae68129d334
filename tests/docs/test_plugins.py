"""The names of the built-in plugins are the same wherever they are listed."""

from pathlib import Path
from typing import Any

import pytest

from jobgate.installation.controller import WITHOUT_MORE_RIGHTS
from jobgate.jobs.fields import PLUGINS_DOC
from jobgate.plugins import BUILT_IN, Plugin
from jobgate.prerequisites.models import PluginUse
from tests.plugins.crews import crew

ROOT = Path(__file__).parents[2]
NAMES = [plugin.name for plugin in BUILT_IN if not plugin.imposed]


def test_schemas_name_the_plugins_that_jobs_can_request() -> None:
    *first, last = NAMES
    listed = f"{', '.join(first)} or {last}"
    assert listed in PLUGINS_DOC.text
    assert f"{', '.join(NAMES)} or one that is installed" in str(PluginUse.model_fields["name"].metadata)


@pytest.mark.parametrize("plugin", [plugin for plugin in BUILT_IN if not plugin.imposed], ids=NAMES)
def test_the_controller_has_rights_for_what_a_plugin_declares(plugin: Plugin[Any]) -> None:
    declared = {document.manifest["kind"] for document in plugin.objects(crew(), plugin.arguments())}
    assert (declared <= {"Secret"}) == (plugin.name in WITHOUT_MORE_RIGHTS)


@pytest.mark.parametrize("name", NAMES)
def test_a_plugin_has_a_page_that_readme_and_site_link(name: str) -> None:
    page = f"reference/plugins/{name}.md"
    assert (ROOT / "docs" / page).is_file()
    assert f"[`{name}`](docs/{page})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"- {name}: {page}" in (ROOT / "website/mkdocs.yml").read_text(encoding="utf-8")

import os
from pathlib import Path

import pytest

from tests.controlplane.assets import from_environment
from tests.controlplane.build import build
from tests.controlplane.progress import Terminal


@pytest.fixture(scope="session")
def helm(request: pytest.FixtureRequest) -> Path:
    """The program `helm`, built first where it is missing: TEST_ASSET_HELM names another."""
    if found := from_environment("helm", os.environ):
        return found
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled():
        return build(["helm"], os.environ, Terminal())["helm"]

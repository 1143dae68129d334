"""The trial plugin is installed."""

import pytest

from jobgate import plugins
from jobgate.jobs import crew
from tests.controller.trial import TRIAL


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the trial plugin beside the built-in ones."""
    result = {**plugins.installed(), TRIAL.name: TRIAL}
    for module in (plugins, crew):
        monkeypatch.setattr(module, "installed", lambda: result)

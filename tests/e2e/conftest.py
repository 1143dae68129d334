from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook


@pytest.fixture(scope="session")
def webhook(controlplane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InstalledWebhook]:
    """jobgate, installed on the session's control plane."""
    folder: Path = tmp_path_factory.mktemp("webhook")
    with InstalledWebhook(controlplane, folder) as installed:
        yield installed

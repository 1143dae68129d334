"""A separate control plane for faults, which would disturb other tests."""

from collections.abc import Iterator

import pytest

from controlplane.assets import WholeAssets
from controlplane.fixtures import open_namespace
from controlplane.space import Space
from controlplane.whole import WholeControlPlane
from tests.faults.cluster import Installation


@pytest.fixture(scope="session")
def faulty_controlplane(whole_assets: WholeAssets) -> Iterator[WholeControlPlane]:
    """A control plane for faults: its programs may be stopped."""
    with WholeControlPlane(whole_assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def installation(
    faulty_controlplane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """jobgate on that control plane, with two replicas of the server."""
    with Installation(faulty_controlplane, tmp_path_factory.mktemp("installation")) as installed:
        yield installed


@pytest.fixture
def space(installation: Installation) -> Iterator[Space]:
    """A namespace of that control plane."""
    with installation.plane.api() as api:
        yield Space(api, open_namespace(api))

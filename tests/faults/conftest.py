"""One control plane for faults that others would notice."""

from collections.abc import Iterator

import pytest

from controlplane.assets import WholeAssets
from controlplane.fixtures import open_namespace
from controlplane.space import Space
from controlplane.whole import WholeControlPlane
from tests.faults.cluster import Installation


@pytest.fixture(scope="session")
def faulty_controlplane(whole_assets: WholeAssets) -> Iterator[WholeControlPlane]:
    """A control plane whose programs may be stopped."""
    with WholeControlPlane(whole_assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def installation(
    faulty_controlplane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """jobgate, installed on it, with two replicas of the server."""
    with Installation(faulty_controlplane, tmp_path_factory.mktemp("installation")) as installed:
        yield installed


@pytest.fixture
def space(installation: Installation) -> Iterator[Space]:
    """A namespace of it."""
    with installation.plane.api() as api:
        yield Space(api, open_namespace(api))

"""pytest fixtures: control planes, one of each kind a session, clients of them, and a fresh namespace a test."""

import secrets
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import pytest

from tests.controlplane.assets import Assets, WholeAssets, find_or_build, find_or_build_whole
from tests.controlplane.client import ClusterApi
from tests.controlplane.plane import ControlPlane
from tests.controlplane.progress import Progress, Terminal
from tests.controlplane.waiting import wait_for
from tests.controlplane.webhook import InstalledWebhook
from tests.controlplane.whole import WholeControlPlane, has_account

__all__ = [
    "cluster_api",
    "controlplane",
    "namespace",
    "wait_for",
    "whole_api",
    "whole_assets",
    "whole_controlplane",
    "whole_namespace",
    "whole_webhook",
]

_Assets = TypeVar("_Assets", bound=Assets)


@pytest.fixture(scope="session")
def controlplane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A running control plane, shared by all tests of the session.

    What is missing of it is built first: in one go with what is missing of the whole one, where a test wants that.
    """
    wants_whole = any("whole_controlplane" in getattr(item, "fixturenames", ()) for item in request.session.items)
    if wants_whole:
        _aloud(request, find_or_build_whole)
    assets = _aloud(request, find_or_build)
    with ControlPlane(assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def cluster_api(controlplane: ControlPlane) -> Iterator[ClusterApi]:
    """A client with the administrator's rights."""
    with controlplane.api() as api:
        yield api


@pytest.fixture
def namespace(cluster_api: ClusterApi) -> str:
    """The name of a new namespace. It stays: without controllers a deleted one would only be `Terminating`."""
    return _new_namespace(cluster_api)


@pytest.fixture(scope="session")
def whole_assets(request: pytest.FixtureRequest) -> WholeAssets:
    """The programs of a whole control plane."""
    return _aloud(request, find_or_build_whole)


@pytest.fixture(scope="session")
def whole_controlplane(whole_assets: WholeAssets) -> Iterator[WholeControlPlane]:
    """A running control plane with controllers, a scheduler and two nodes, shared by all tests that ask for it."""
    with WholeControlPlane(whole_assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def whole_api(whole_controlplane: WholeControlPlane) -> Iterator[ClusterApi]:
    """A client of the whole control plane with the administrator's rights."""
    with whole_controlplane.api() as api:
        yield api


@pytest.fixture
def whole_namespace(whole_api: ClusterApi) -> Iterator[str]:
    """The name of a new namespace of the whole control plane, in which pods can be made. It goes after the test."""
    name = _new_namespace(whole_api)
    wait_for(lambda: has_account(whole_api, name), timeout=60, what="the namespace has its ServiceAccount")
    yield name
    whole_api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def whole_webhook(
    whole_controlplane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstalledWebhook]:
    """jobgate, installed on the whole control plane, with the CRDs of all kinds."""
    with InstalledWebhook(whole_controlplane, tmp_path_factory.mktemp("whole-webhook")) as installed:
        yield installed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the programs of a failed test's control planes logged last."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, ControlPlane):
                report.sections.append((f"logs of {name}", value.logs()))
    return report


def _aloud(request: pytest.FixtureRequest, find: Callable[[Progress], _Assets]) -> _Assets:
    """Find or build; building takes minutes, so the news of it is shown past pytest's capturing."""
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled():
        return find(Terminal())


def _new_namespace(api: ClusterApi) -> str:
    name = f"test-{secrets.token_hex(4)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    status, answer = api.post("/api/v1/namespaces", body)
    assert status == 201, answer
    return name

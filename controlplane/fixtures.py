"""pytest fixtures: control planes, one of each kind a session, clients of them, and a fresh namespace a test."""

import os
import secrets
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from controlplane.assets import Assets, WholeAssets, find_or_build, find_or_build_whole, from_environment
from controlplane.build import build
from controlplane.client import ClusterApi
from controlplane.plane import ControlPlane
from controlplane.progress import Progress, Terminal
from controlplane.runner import RUN
from controlplane.waiting import wait_for
from controlplane.webhook import InstalledWebhook
from controlplane.whole import WholeControlPlane, has_account

__all__ = [
    "assets",
    "cluster_api",
    "controlplane",
    "either_webhook",
    "helm",
    "namespace",
    "running_webhook",
    "wait_for",
    "whole_api",
    "whole_assets",
    "whole_controlplane",
    "whole_namespace",
    "whole_webhook",
]

_Found = TypeVar("_Found")


@pytest.fixture(scope="session")
def helm(request: pytest.FixtureRequest) -> Path:
    """The program `helm`, built first where it is missing: TEST_ASSET_HELM names another."""
    if found := from_environment("helm", os.environ):
        return found
    return _aloud(request, lambda progress: build(["helm"], os.environ, progress)["helm"])


@pytest.fixture(scope="session")
def assets(request: pytest.FixtureRequest) -> Assets:
    """The programs of a control plane.

    What is missing is built first: in one go with what is missing of the whole one, where a test wants that.
    """
    wants_whole = any("whole_controlplane" in getattr(item, "fixturenames", ()) for item in request.session.items)
    if wants_whole:
        _aloud(request, find_or_build_whole)
    return _aloud(request, find_or_build)


@pytest.fixture(scope="session")
def controlplane(assets: Assets) -> Iterator[ControlPlane]:
    """A running control plane, shared by all tests of the session."""
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
    return new_namespace(cluster_api)


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
    name = open_namespace(whole_api)
    yield name
    whole_api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def either_webhook(
    whole_controlplane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstalledWebhook]:
    """jobgate for the whole control plane, which starts with the settings of its first user."""
    webhook = InstalledWebhook(whole_controlplane, tmp_path_factory.mktemp("whole-webhook"))
    yield webhook
    webhook.stop()


@pytest.fixture(scope="module")
def whole_webhook(either_webhook: InstalledWebhook) -> InstalledWebhook:
    """jobgate, installed on the whole control plane, with the CRDs of all kinds."""
    return either_webhook.use()


@pytest.fixture(scope="module")
def running_webhook(either_webhook: InstalledWebhook) -> InstalledWebhook:
    """The same, for jobs that the runner runs. A module asks for one of the two."""
    return either_webhook.use(RUN)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the programs of a failed test's control planes logged last."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, ControlPlane):
                report.sections.append((f"logs of {name}", value.logs()))
    return report


def _aloud(request: pytest.FixtureRequest, find: Callable[[Progress], _Found]) -> _Found:
    """Find or build; building takes minutes, so the news of it is shown past pytest's capturing."""
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled():
        return find(Terminal())


def new_namespace(api: ClusterApi, labels: Mapping[str, str] | None = None) -> str:
    """Make a namespace, and return its name."""
    name = f"test-{secrets.token_hex(4)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels or {})}}
    status, answer = api.post("/api/v1/namespaces", body)
    assert status == 201, answer
    return name


def open_namespace(api: ClusterApi) -> str:
    """Make a namespace of a whole control plane, and return its name when pods can be made in it."""
    name = new_namespace(api)
    wait_for(lambda: has_account(api, name), timeout=60, what="the namespace has its ServiceAccount")
    return name

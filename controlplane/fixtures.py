"""pytest fixtures: a shared control plane of each kind, their clients, and a new namespace for each test."""

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

_Result = TypeVar("_Result")


@pytest.fixture(scope="session")
def helm(request: pytest.FixtureRequest) -> Path:
    """The program `helm`, built if it is missing; TEST_ASSET_HELM names another."""
    if program := from_environment("helm", os.environ):
        return program
    return _show_progress(request, lambda progress: build(["helm"], os.environ, progress)["helm"])


@pytest.fixture(scope="session")
def assets(request: pytest.FixtureRequest) -> Assets:
    """The programs of a control plane.

    Missing programs are built first, together with those of a whole control plane if a test needs one.
    """
    needs_whole = any("whole_controlplane" in getattr(item, "fixturenames", ()) for item in request.session.items)
    if needs_whole:
        _show_progress(request, find_or_build_whole)
    return _show_progress(request, find_or_build)


@pytest.fixture(scope="session")
def controlplane(assets: Assets) -> Iterator[ControlPlane]:
    """A running control plane, shared by all tests."""
    with ControlPlane(assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def cluster_api(controlplane: ControlPlane) -> Iterator[ClusterApi]:
    """A client with the administrator's rights."""
    with controlplane.api() as api:
        yield api


@pytest.fixture
def namespace(cluster_api: ClusterApi) -> str:
    """The name of a new namespace. It is not deleted: without controllers it would stay `Terminating`."""
    return new_namespace(cluster_api)


@pytest.fixture(scope="session")
def whole_assets(request: pytest.FixtureRequest) -> WholeAssets:
    """The programs of a whole control plane."""
    return _show_progress(request, find_or_build_whole)


@pytest.fixture(scope="session")
def whole_controlplane(whole_assets: WholeAssets) -> Iterator[WholeControlPlane]:
    """A running control plane with controllers, a scheduler and two nodes, shared by all tests."""
    with WholeControlPlane(whole_assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def whole_api(whole_controlplane: WholeControlPlane) -> Iterator[ClusterApi]:
    """A client of the whole control plane with the administrator's rights."""
    with whole_controlplane.api() as api:
        yield api


@pytest.fixture
def whole_namespace(whole_api: ClusterApi) -> Iterator[str]:
    """The name of a new namespace of the whole control plane, ready for pods. It is deleted after the test."""
    name = open_namespace(whole_api)
    yield name
    whole_api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def either_webhook(
    whole_controlplane: WholeControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstalledWebhook]:
    """The webhook of the whole control plane. The first fixture that uses it starts it."""
    webhook = InstalledWebhook(whole_controlplane, tmp_path_factory.mktemp("whole-webhook"))
    yield webhook
    webhook.stop()


@pytest.fixture(scope="module")
def whole_webhook(either_webhook: InstalledWebhook) -> InstalledWebhook:
    """jobgate on the whole control plane, with the CRDs of all kinds."""
    return either_webhook.use()


@pytest.fixture(scope="module")
def running_webhook(either_webhook: InstalledWebhook) -> InstalledWebhook:
    """jobgate on the whole control plane, set to run all kinds. A module uses this or `whole_webhook`, not both."""
    return either_webhook.use(RUN)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the last log lines of the control planes of a failed test."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, ControlPlane):
                report.sections.append((f"logs of {name}", value.logs()))
    return report


def _show_progress(request: pytest.FixtureRequest, find: Callable[[Progress], _Result]) -> _Result:
    """Find or build programs. A build takes minutes, so its progress is shown although pytest captures output."""
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled():
        return find(Terminal())


def new_namespace(api: ClusterApi, labels: Mapping[str, str] | None = None) -> str:
    """Create a namespace, and return its name."""
    name = f"test-{secrets.token_hex(4)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": dict(labels or {})}}
    status, answer = api.post("/api/v1/namespaces", body)
    assert status == 201, answer
    return name


def open_namespace(api: ClusterApi) -> str:
    """Create a namespace of a whole control plane, wait until it is ready for pods, and return its name."""
    name = new_namespace(api)
    wait_for(lambda: has_account(api, name), what="the namespace has its ServiceAccount")
    return name

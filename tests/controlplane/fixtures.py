"""pytest fixtures: one control plane a session, a client, and a fresh namespace a test."""

import secrets
from collections.abc import Iterator

import pytest

from tests.controlplane.assets import find_or_build
from tests.controlplane.client import ClusterApi
from tests.controlplane.plane import ControlPlane
from tests.controlplane.progress import Terminal
from tests.controlplane.waiting import wait_for

__all__ = ["cluster_api", "controlplane", "namespace", "wait_for"]


@pytest.fixture(scope="session")
def controlplane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A running control plane, shared by all tests of the session.

    What is missing of it is built first; that takes minutes, so the news of it is shown past pytest's capturing.
    """
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled():
        assets = find_or_build(Terminal())
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
    name = f"test-{secrets.token_hex(4)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    status, answer = cluster_api.post("/api/v1/namespaces", body)
    assert status == 201, answer
    return name

"""The plugin for pytest: a control plane, and a cluster with the webhook of the installed kinds."""

from collections.abc import Iterator

import pytest

from controlplane import ControlPlane, Terminal, find_or_build
from controlplane.webhook import InstalledWebhook
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import of_packages
from jobgate.testing import Cluster
from jobgate.testing.verdict import Expected, Outcome


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """A running etcd and kube-apiserver, which are built once, in minutes.

    A missing program, such as Go, fails the test with the way to install it.
    """
    capturing = request.config.pluginmanager.getplugin("capturemanager")
    with capturing.global_and_fixture_disabled():
        assets = find_or_build(Terminal())
    with ControlPlane(assets) as plane:
        yield plane


@pytest.fixture(scope="session")
def served_kinds() -> list[CustomKind]:
    """The kinds that `cluster` serves: those of installed packages. Override it to name others.

    A broken entry point fails the tests, with its name.
    """
    entries = of_packages()
    assert not [entry for entry in entries if entry.fault], "; ".join(str(entry) for entry in entries if entry.fault)
    assert entries, "no installed package has a kind: install yours, for example with `pip install --editable .`"
    return [entry.value for entry in entries if entry.value is not None]


@pytest.fixture(scope="session")
def cluster(
    control_plane: ControlPlane, served_kinds: list[CustomKind], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """An API server with the CRDs and the webhook of the kinds, and the server as a process."""
    with InstalledWebhook(control_plane, tmp_path_factory.mktemp("webhook"), kinds=served_kinds):
        yield Cluster(control_plane)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain why an outcome is not the expected one."""
    if op == "==" and isinstance(left, Outcome) and isinstance(right, Expected):
        return ["the verdict is not as expected:", *right.differences(left)]
    return None

"""The examples of every kind on a real API server: taken whole, applied twice; broken twins refused."""

from pathlib import Path

import pytest
import yaml

from jobgate.kinds import installed
from tests.controlplane.plane import ControlPlane
from tests.controlplane.webhook import InstalledWebhook
from tests.corpus import BROKEN, GOOD, announced, holds, jobs, name_of
from tests.e2e.cluster import User


@pytest.fixture
def user(webhook: InstalledWebhook, controlplane: ControlPlane, namespace: str) -> User:
    return User(controlplane, namespace)


@pytest.mark.parametrize("file", GOOD, ids=name_of)
@pytest.mark.parametrize("flags", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_a_good_example_is_stored_whole_and_applying_it_again_changes_nothing(
    user: User, file: Path, flags: tuple[str, ...]
) -> None:
    text = file.read_text()
    done, output = user.apply(text, *flags)
    assert done, output
    for written in jobs(file):
        kind = installed().get(written["apiVersion"], written["kind"])
        assert kind is not None
        stored = user.stored(written["metadata"]["name"], kind.qualified_plural)
        assert holds(stored, written)
        assert stored["metadata"]["generation"] == 1
    done, output = user.apply(text, *flags)
    assert done, output
    for written in jobs(file):
        kind = installed().get(written["apiVersion"], written["kind"])
        assert kind is not None
        assert user.stored(written["metadata"]["name"], kind.qualified_plural)["metadata"]["generation"] == 1
    done, output = user.kubectl("diff", *flags, "-f", "-", document=text)
    assert done, output


@pytest.mark.parametrize("file", BROKEN, ids=name_of)
def test_a_broken_example_is_refused_with_every_fault_that_it_announces(user: User, file: Path) -> None:
    done, output = user.apply(yaml.safe_dump_all(jobs(file)))
    assert not done
    faults = announced(file)
    assert faults
    for fault in faults:
        # kubectl prints a single cause on the line of the denial, several as a list.
        assert (f"* {fault}" if len(faults) > 1 else fault) in output, output

"""The examples of every kind on a real API server: taken whole, applied twice; broken twins rejected.

All are applied as they stand, by few kubectls: what it says of a file is found by the file's name.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controlplane.fixtures import new_namespace
from controlplane.objects import ClusterObjects
from controlplane.plane import ControlPlane
from controlplane.webhook import InstalledWebhook
from jobgate.cli import main
from jobgate.kinds import installed
from tests.corpus import BROKEN, GOOD, announced, holds, jobs, name_of
from tests.e2e.cluster import User

Stored = list[dict[str, Any]]


@dataclass(frozen=True)
class Applied:
    """What came of applying a file, and of applying it again.

    Attributes:
        said: what kubectl said of it; it names a file only where something is wrong with it.
        stored: the file's jobs after each of the two.
        differs: whether `kubectl diff` found something in one of the files that were applied together, and what.
    """

    said: tuple[str, str]
    stored: tuple[Stored, Stored]
    differs: tuple[bool, str]


def distinct(files: Iterable[Path]) -> Iterator[list[Path]]:
    """Yield files in groups, each without two jobs of one kind and name."""
    groups: list[tuple[set[tuple[str, str]], list[Path]]] = []
    for file in files:
        names = {(job["kind"], job["metadata"]["name"]) for job in jobs(file)}
        taken, group = next((one for one in groups if not one[0] & names), (set(), []))
        if not group:
            groups.append((taken, group))
        taken |= names
        group.append(file)
    return (group for _, group in groups)


def together(files: Sequence[Path]) -> list[str]:
    """Return the arguments by which kubectl reads files."""
    return [f"--filename={file}" for file in files]


@pytest.fixture(scope="module", params=[(), ("--server-side",)], ids=["client-side", "server-side"])
def applied(
    webhook: InstalledWebhook, controlplane: ControlPlane, request: pytest.FixtureRequest
) -> Mapping[Path, Applied]:
    """All good examples, applied twice in one of the two ways."""
    assert webhook.port
    flags: tuple[str, ...] = request.param
    objects = ClusterObjects(controlplane.client)
    found: dict[Path, Applied] = {}
    for group in distinct(GOOD):
        user = User(controlplane, new_namespace(controlplane.client))

        def apply(user: User = user, group: Sequence[Path] = group) -> tuple[str, Mapping[Path, Stored]]:
            said = user.kubectl("apply", "--validate=strict", *flags, *together(group))[1]
            stored = {file: [objects.stored(job, user.namespace) or {} for job in jobs(file)] for file in group}
            return said, stored

        (once, first), (again, second) = apply(), apply()
        done, text = user.kubectl("diff", *flags, *together(group))
        found |= {file: Applied((once, again), (first[file], second[file]), (not done, text)) for file in group}
    return found


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_a_good_example_is_stored_whole(applied: Mapping[Path, Applied], file: Path) -> None:
    (said, _), (stored, _) = applied[file].said, applied[file].stored
    assert str(file) not in said
    for one, written in zip(stored, jobs(file), strict=True):
        assert holds(one, written), said
        assert one["metadata"]["generation"] == 1


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_applying_a_good_example_again_changes_nothing(applied: Mapping[Path, Applied], file: Path) -> None:
    (_, said), (before, after) = applied[file].said, applied[file].stored
    assert str(file) not in said
    assert [one["metadata"]["generation"] for one in after] == [1] * len(jobs(file))
    assert [one["spec"] for one in after] == [one["spec"] for one in before]


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_what_is_stored_of_a_good_example_differs_from_nothing(applied: Mapping[Path, Applied], file: Path) -> None:
    differs, text = applied[file].differs
    assert not differs, text


def test_the_audit_would_deny_no_stored_example(applied: Mapping[Path, Applied], controlplane: ControlPlane) -> None:
    arguments = ["audit", "--kubeconfig", str(controlplane.kubeconfig), "--output", "json"]
    audited = json.loads(CliRunner().invoke(main, arguments, catch_exceptions=False).stdout)["jobs"]
    faults = {(job["kind"], job["namespace"], job["name"]): job["faults"] for job in audited}
    for file, result in applied.items():
        for written, stored in zip(jobs(file), result.stored[1], strict=True):
            group = written["apiVersion"].partition("/")[0]
            kind = next(kind for kind in installed() if (kind.kind, kind.group) == (written["kind"], group))
            key = kind.qualified_plural, stored["metadata"]["namespace"], stored["metadata"]["name"]
            assert faults[key] == [], file


@pytest.fixture(scope="module")
def refused(webhook: InstalledWebhook, controlplane: ControlPlane) -> Mapping[str, str]:
    """What kubectl says of each broken example, by the file's name, where all are applied at once."""
    assert webhook.port
    user = User(controlplane, new_namespace(controlplane.client))
    done, output = user.kubectl("apply", "--validate=strict", *together(BROKEN))
    assert not done
    said = (part.partition('": ') for part in output.split('error when creating "')[1:])
    return {file: text for file, _, text in said}


@pytest.mark.parametrize("file", BROKEN, ids=name_of)
def test_a_broken_example_is_rejected_with_every_fault_that_it_announces(
    refused: Mapping[str, str], file: Path
) -> None:
    faults = announced(file)
    assert faults
    for fault in faults:
        assert fault in refused[str(file)]


@pytest.mark.parametrize("file", {file.parent: file for file in BROKEN}.values(), ids=name_of)
def test_of_one_broken_file_kubectl_prints_each_fault_on_a_line(
    webhook: InstalledWebhook, controlplane: ControlPlane, file: Path
) -> None:
    assert webhook.port
    done, output = User(controlplane, "default").kubectl("apply", "--validate=strict", f"--filename={file}")
    assert not done
    faults = announced(file)
    for fault in faults:
        # kubectl prints a single cause on the line of the denial, several as a list.
        assert (f"* {fault}" if len(faults) > 1 else fault) in output, output

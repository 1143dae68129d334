"""The examples of every kind on a real API server: good ones are stored, and applied twice; broken ones are denied.

Few kubectl commands apply all files; a file's name shows which output belongs to it.
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
    """The results of applying a file twice.

    Attributes:
        outputs: kubectl's output each time; it names a file only if it is rejected.
        stored: the file's jobs after each time.
        differs: whether `kubectl diff` reports a difference for the files that were applied together, and its output.
    """

    outputs: tuple[str, str]
    stored: tuple[Stored, Stored]
    differs: tuple[bool, str]


def distinct(files: Iterable[Path]) -> Iterator[list[Path]]:
    """Return files in groups; a group has no two jobs with the same kind and name."""
    groups: list[tuple[set[tuple[str, str]], list[Path]]] = []
    for file in files:
        names = {(job["kind"], job["metadata"]["name"]) for job in jobs(file)}
        taken, group = next((each for each in groups if not each[0] & names), (set(), []))
        if not group:
            groups.append((taken, group))
        taken |= names
        group.append(file)
    return (group for _, group in groups)


def together(files: Sequence[Path]) -> list[str]:
    """Return kubectl's arguments for the files."""
    return [f"--filename={file}" for file in files]


@pytest.fixture(scope="module", params=[(), ("--server-side",)], ids=["client-side", "server-side"])
def applied(
    webhook: InstalledWebhook, controlplane: ControlPlane, request: pytest.FixtureRequest
) -> Mapping[Path, Applied]:
    """All good examples, applied twice."""
    assert webhook.port
    flags: tuple[str, ...] = request.param
    objects = ClusterObjects(controlplane.client)
    results: dict[Path, Applied] = {}
    for group in distinct(GOOD):
        user = User(controlplane, new_namespace(controlplane.client))

        def apply(user: User = user, group: Sequence[Path] = group) -> tuple[str, Mapping[Path, Stored]]:
            output = user.kubectl("apply", "--validate=strict", *flags, *together(group))[1]
            stored = {file: [objects.stored(job, user.namespace) or {} for job in jobs(file)] for file in group}
            return output, stored

        (once, first), (again, second) = apply(), apply()
        done, text = user.kubectl("diff", *flags, *together(group))
        results |= {file: Applied((once, again), (first[file], second[file]), (not done, text)) for file in group}
    return results


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_a_good_example_is_stored_with_all_fields(applied: Mapping[Path, Applied], file: Path) -> None:
    (output, _), (stored, _) = applied[file].outputs, applied[file].stored
    assert str(file) not in output
    for stored_job, written in zip(stored, jobs(file), strict=True):
        assert holds(stored_job, written), output
        assert stored_job["metadata"]["generation"] == 1


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_applying_a_good_example_again_changes_nothing(applied: Mapping[Path, Applied], file: Path) -> None:
    (_, output), (before, after) = applied[file].outputs, applied[file].stored
    assert str(file) not in output
    assert [stored_job["metadata"]["generation"] for stored_job in after] == [1] * len(jobs(file))
    assert [stored_job["spec"] for stored_job in after] == [stored_job["spec"] for stored_job in before]


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_kubectl_diff_reports_no_difference_for_a_stored_example(applied: Mapping[Path, Applied], file: Path) -> None:
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
def outputs(webhook: InstalledWebhook, controlplane: ControlPlane) -> Mapping[str, str]:
    """kubectl's output for each broken example, by the file's name."""
    assert webhook.port
    user = User(controlplane, new_namespace(controlplane.client))
    done, output = user.kubectl("apply", "--validate=strict", *together(BROKEN))
    assert not done
    parts = (part.partition('": ') for part in output.split('error when creating "')[1:])
    return {file: text for file, _, text in parts}


@pytest.mark.parametrize("file", BROKEN, ids=name_of)
def test_a_broken_example_is_rejected_with_every_fault_that_it_announces(
    outputs: Mapping[str, str], file: Path
) -> None:
    for fault in announced(file):
        assert fault in outputs[str(file)]


@pytest.mark.parametrize("file", {file.parent: file for file in BROKEN}.values(), ids=name_of)
def test_kubectl_prints_each_fault_of_a_broken_file_on_its_own_line(
    webhook: InstalledWebhook, controlplane: ControlPlane, file: Path
) -> None:
    assert webhook.port
    done, output = User(controlplane, "default").kubectl("apply", "--validate=strict", f"--filename={file}")
    assert not done
    faults = announced(file)
    for fault in faults:
        # kubectl prints a single cause on the line of the denial, several as a list.
        assert (f"* {fault}" if len(faults) > 1 else fault) in output, output

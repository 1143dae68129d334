"""The settings of an installation: accepted and rejected values, and the settings that a running server reads again."""

import asyncio
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from certs import issue_generation, service_names
from controlplane.waiting import wait_for
from jobgate.cli import main
from jobgate.cli.serve import limits_of, warn_of_little_memory
from jobgate.cli.settings import Configured, installation
from jobgate.jobs.context import Settings
from jobgate.kinds.mxjob import MXJOB
from jobgate.kinds.mxjob.accelerators import MxJobSettings
from jobgate.serving.reload import KindFile, settings_reloaders
from tests.webhook.server.wire import shown_files
from webhook.server.limits import Limits

SERVE = importlib.import_module("jobgate.cli.serve")
MIB = 1024 * 1024
PLURAL = MXJOB.qualified_plural
ACCELERATORS = "accelerators: {nvidia.com/gpu: {volumes: [{name: lib, hostPath: /lib, mountPath: /lib}]}}\n"
SLIP = "accelerators: {nvidia.com/gpu: {volumes: [{name: lib, hostPath: lib, mountPath: /lib}]}}\n"


class Server:
    """A receiver of the settings that a reloader reads."""

    settings = Settings(operator_can=frozenset({"dijobs/preemptible"}))


def review(*flags: str) -> Result:
    """Run a review with settings; it ends before it reads the file where they are rejected."""
    return CliRunner().invoke(main, ["review", "examples/mxjob/minimal.yaml", *flags], catch_exceptions=False)


def complaint(result: Result) -> str:
    """Return the error of a rejected setting, on one line."""
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


def test_a_forgetful_writer_is_one_service_account() -> None:
    assert review("--forgetful-writer", "system:serviceaccount:di-system:di-orchestrator").exit_code == 0


@pytest.mark.parametrize(
    "flags, expected",
    [
        ([], ["system:serviceaccount:di-system:di-orchestrator"]),
        (["--forgetful-writer", "system:serviceaccount:a:b"], ["system:serviceaccount:a:b"]),
    ],
)
def test_di_orchestrators_account_is_a_forgetful_writer_unless_others_are_named(
    flags: list[str], expected: list[str]
) -> None:
    @click.command()
    @installation
    def command(configured: Configured) -> None:
        click.echo(json.dumps(sorted(configured.settings.forgetful_writers)))

    assert json.loads(CliRunner().invoke(command, flags, catch_exceptions=False).output) == expected


@pytest.mark.parametrize(
    "name",
    ["anna", "system:serviceaccounts", "system:serviceaccounts:di-system", "system:serviceaccount:di-system",
     "system:serviceaccount:di-system:a:b", "system:serviceaccount::a", "system:serviceaccount:a:", "system:masters",
     "system:serviceaccount:*:a", " system:serviceaccount:a:b", ""],
)  # fmt: skip
def test_a_person_or_a_group_is_no_forgetful_writer(name: str) -> None:
    result = complaint(review("--forgetful-writer", name))
    assert "system:serviceaccount:<namespace>:<name>" in result
    assert "on purpose" in result


def test_settings_come_from_variables_and_the_file_too(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("forgetful-writer: [anna]\n")
    for arguments, environment in (
        (["--config", str(config), "review", "examples/mxjob/minimal.yaml"], {}),
        (["review", "examples/mxjob/minimal.yaml"], {"JOBGATE_FORGETFUL_WRITER": "anna"}),
    ):
        result = complaint(CliRunner().invoke(main, arguments, env=environment, catch_exceptions=False))
        assert "'anna' must be a service account" in result


@pytest.mark.parametrize(
    "value, expected",
    [
        (PLURAL, "must be PLURAL.GROUP=FILE"),
        ("rayjobs.ray.io=FILE", f"'rayjobs.ray.io' must be one of {PLURAL}"),
        ("dijobs.diengine.opendilab.org=FILE", f"'dijobs.diengine.opendilab.org' must be one of {PLURAL}"),
        (f"{PLURAL}=/nowhere", "/nowhere cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_what_names_no_settings_of_a_kind_is_rejected(value: str, expected: str) -> None:
    assert expected in complaint(review("--kind-settings", value))


@pytest.mark.parametrize(
    "content, expected",
    [
        ("a: [", ":2:1: not YAML: "),
        (b"\xff", ":1:1: not YAML: "),
        ("accelerators: {}\naccelerators: {}", "the key accelerators is there twice"),
        ("[" * 5000, "nested too deep"),
        ("[]", f"is not valid for {PLURAL}: "),
        ("speed: 1", "speed: Extra inputs are not permitted"),
        (SLIP, "accelerators[nvidia.com/gpu].volumes[0].hostPath: must be an absolute path"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_reported_by_place(content: str | bytes, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert expected in complaint(review("--kind-settings", f"{PLURAL}={file}"))


def test_a_value_of_the_file_is_never_repeated(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("accelerators: {a: {envVars: [{name: TOKEN, value: {s3cr3t: 1}}]}}")
    assert "s3cr3t" not in complaint(review("--kind-settings", f"{PLURAL}={file}"))


def test_a_kind_has_one_file(tmp_path: Path) -> None:
    flags = ["--kind-settings", f"{PLURAL}={tmp_path}/a", "--kind-settings", f"{PLURAL}={tmp_path}/b"]
    assert f"{PLURAL} is repeated" in complaint(review(*flags))


def test_a_review_obeys_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(ACCELERATORS)
    done = review("--kind-settings", f"{PLURAL}={file}", "-o", "json")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "command, flag, content, expected",
    [
        ("review examples/mxjob/full.yaml", f"--kind-settings={PLURAL}=", ACCELERATORS, "/lib"),
        ("manifests", f"--kind-settings={PLURAL}=", ACCELERATORS, "/lib"),
        (f"manifests --run {PLURAL}", "--queues=", "queues: [{name: nightly}]\n", "nightly"),
    ],
)
def test_a_file_may_be_a_pipe_which_is_read_once(command: str, flag: str, content: str, expected: str) -> None:
    reader, writer = os.pipe()
    os.write(writer, content.encode())
    os.close(writer)
    result = CliRunner().invoke(main, [*command.split(), f"{flag}/dev/fd/{reader}"], catch_exceptions=False)
    os.close(reader)
    assert (result.exit_code, expected in result.stdout) == (0, True), result.output


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.touch()
    assert KindFile(PLURAL, MxJobSettings, file).read() == MxJobSettings()


@pytest.fixture
def mounted(tmp_path: Path) -> KindFile:
    """A file behind a link that is swapped, as a ConfigMap is mounted."""
    swap(tmp_path, "first", ACCELERATORS)
    (tmp_path / "settings.yaml").symlink_to(tmp_path / "..data" / "settings.yaml")
    return KindFile(PLURAL, MxJobSettings, tmp_path / "settings.yaml")


def swap(folder: Path, version: str, content: str) -> None:
    """Give the mounted file another content."""
    (folder / version).mkdir()
    (folder / version / "settings.yaml").write_text(content)
    (folder / "..next").symlink_to(folder / version)
    (folder / "..next").rename(folder / "..data")


def looking(server: Server, file: KindFile) -> Callable[[], None]:
    """Return a function that checks the file once."""
    (reloader,) = settings_reloaders(server, [file])
    return lambda: asyncio.run(reloader.check())


def test_a_change_reaches_the_server_and_leaves_its_other_settings(mounted: KindFile) -> None:
    server = Server()
    look = looking(server, mounted)
    look()
    assert server.settings.kinds == {PLURAL: mounted.read()}
    before = server.settings
    swap(mounted.path.parent, "second", "{}")
    look()
    assert server.settings.kinds == {PLURAL: MxJobSettings()}
    assert server.settings.operator_can == {"dijobs/preemptible"}
    assert before.kinds != server.settings.kinds


def test_what_did_not_change_does_not_replace_settings(mounted: KindFile) -> None:
    server = Server()
    look = looking(server, mounted)
    look()
    settings = server.settings
    look()
    swap(mounted.path.parent, "second", ACCELERATORS)
    look()
    assert server.settings is settings


def test_a_slip_is_reported_once_and_the_last_good_settings_stay(
    mounted: KindFile, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server()
    look = looking(server, mounted)
    look()
    good = server.settings
    for version, content in (("second", SLIP), ("third", SLIP), ("fourth", "a: [")):
        swap(mounted.path.parent, version, content)
        look()
        look()
    mounted.path.unlink()
    look()
    look()
    assert server.settings is good
    reasons = [record.__dict__["fields"]["reason"] for record in caplog.records if record.levelname == "ERROR"]
    assert ["hostPath" in reasons[0], "not YAML" in reasons[1], "cannot be read" in reasons[2]] == [True] * 3
    assert len(reasons) == 3
    mounted.path.write_text("{}")
    look()
    assert server.settings.kinds == {PLURAL: MxJobSettings()}


@pytest.fixture
def log(mounted: KindFile, tmp_path: Path) -> Iterator[Path]:
    """The log of a server process that reads the mounted file."""
    shown = shown_files(issue_generation(service_names("jobgate", "jobgate"), datetime.now(UTC)), tmp_path)
    flags = [f"--tls-cert={shown.certificate}", f"--tls-key={shown.key}", f"--kind-settings={PLURAL}={mounted.path}"]
    command = [sys.executable, "-c", "from jobgate.cli import main; main()", "serve", "--bind=127.0.0.1", *flags]
    path = tmp_path / "log"
    with path.open("wb") as file:
        process = subprocess.Popen([*command, "--port=0", "--health-port=0"], stderr=file)
    try:
        wait_for(lambda: lines(path, "serving"))
        yield path
    finally:
        process.terminate()
        assert process.wait(30) == 0


def lines(log: Path, message: str) -> list[dict[str, Any]]:
    """Return the log's lines of one message."""
    whole, _, _ = log.read_text().rpartition("\n")
    return [line for line in map(json.loads, whole.splitlines()) if line["message"] == message]


def test_a_running_server_reads_a_changed_file_and_outlives_a_slip(log: Path, mounted: KindFile) -> None:
    swap(mounted.path.parent, "second", SLIP)
    (kept,) = wait_for(lambda: lines(log, "invalid settings ignored"))
    assert (kept["level"], kept["kind"]) == ("error", PLURAL)
    assert "must be an absolute path" in kept["reason"]
    swap(mounted.path.parent, "third", "{}")
    (read,) = wait_for(lambda: lines(log, "settings reloaded"))
    assert read["kind"] == PLURAL


ASKING = """
apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata: {name: train}
spec:
  plugins: {env: [], ssh: []}
  tasks: [{type: learner, template: {spec: {containers: [{name: di-container, image: ding}]}}}]
"""


def asking(*flags: str) -> Result:
    """Review a job that asks for plugins."""
    return CliRunner().invoke(main, ["review", "-", *flags], input=ASKING, catch_exceptions=False)


def test_a_plugin_that_is_left_out_is_rejected_and_only_while_it_is_left_out() -> None:
    result = asking("--without-plugin", "ssh")
    assert result.exit_code == 1, result.output
    assert 'spec.plugins[ssh]: Unsupported value: "ssh": supported values: "env", "svc"' in result.output
    assert asking().exit_code == 0


def test_a_kind_that_is_left_out_is_not_reviewed() -> None:
    result = asking("--without-kind", "dijobs.diengine.opendilab.org")
    assert result.exit_code == 0
    assert "0 objects: 0 errors, 0 warnings; 1 of other kinds" in result.stdout


@pytest.mark.parametrize(
    ("flag", "slip", "known"),
    [("--without-plugin", "shh", "env, svc, ssh"), ("--without-plugin", "queueing", "env, svc, ssh"),
     ("--without-kind", "dijobs", "dijobs.diengine.opendilab.org")],
)  # fmt: skip
def test_a_slip_does_not_leave_on_what_someone_wants_off(flag: str, slip: str, known: str) -> None:
    result = complaint(asking(flag, slip))
    assert f"'{slip}' must be one of" in result
    assert known in result


def test_a_limit_is_read_by_its_name() -> None:
    assert limits_of(()) == Limits()
    written = ("review-time=1.5", "connections=30")
    assert limits_of(written) == Limits(review_time=1.5, connections=30)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("conexions=3", "'conexions' must be one of body, small, buffered"),
        ("connections=1.5", "'connections=1.5': connections must be a whole number above 0"),
        ("connections=0", "connections must be a whole number above 0"),
        ("review-time=inf", "'review-time=inf': review-time must be a number above 0"),
        ("body=many", "'body=many': body must be a whole number above 0"),
        ("body", "'body': body must be a whole number above 0"),
    ],
)
def test_a_limit_that_is_none_is_an_error(written: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        limits_of((written,))


@pytest.mark.parametrize(
    ("memory", "limits", "workers", "kept", "needed"),
    [
        ("512", Limits(), 1, 0, None),
        ("511", Limits(), 1, 0, 512),
        ("1023", Limits(), 2, 0, 1024),
        ("512", Limits(buffered=65 * MIB), 1, 0, 513),
        ("573", Limits(in_flight=2000), 1, 0, 575),
        ("575", Limits(in_flight=2000), 1, 0, None),
        ("512", Limits(body=8 * MIB), 1, 0, 532),
        ("512", Limits(), 1, 10, 528),
        ("", Limits(), 64, 0, None),
    ],
)
def test_the_server_warns_of_a_memory_limit_below_its_bounds(
    memory: str, limits: Limits, workers: int, kept: int, needed: int | None,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    file = tmp_path / "memory.max"
    file.write_text(f"{int(memory) * MIB}\n" if memory else "max\n")
    monkeypatch.setattr(SERVE, "_MEMORY", file)
    warn_of_little_memory(limits, workers, kept)
    expected = f"the memory limit is {memory} MiB, but --limit, --workers and --keep-reviews need {needed} MiB"
    assert [expected in message for message in caplog.messages] == [True] * (needed is not None)


def test_reviews_are_kept_by_one_worker() -> None:
    result = CliRunner().invoke(main, ["serve", "--workers=2", "--keep-reviews=10"])
    assert "--keep-reviews requires --workers 1" in complaint(result)


def test_a_wrong_limit_ends_the_server_before_it_starts_workers() -> None:
    assert "'x' must be one of body" in complaint(CliRunner().invoke(main, ["serve", "--workers=2", "--limit=x=1"]))


def test_a_review_of_an_installation_that_only_warns_allows_and_tells() -> None:
    broken = ASKING.replace("type: learner", "type: none")
    assert CliRunner().invoke(main, ["review", "-"], input=broken).exit_code == 1
    result = CliRunner().invoke(main, ["review", "-", "--mode", "warn"], input=broken)
    assert result.exit_code == 0
    assert "would be denied; warn mode" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--queueing", "foo"], "'foo' must be one of kubernetes, kueue, coscheduling or volcano"),
        (["--operator-can", "foo"], "'foo' must begin with one of dijobs/, jobs/, mxjobs/, torchjobs/"),
        (["--operator-can", "dijobs/preemtible"], "dijobs/minAvailable, dijobs/policies, dijobs/preemptible"),
        (["--operator-can", "mxjobs/preemptible"], "mxjobs/env"),
    ],
)
@pytest.mark.parametrize("command", ["review", "manifests"])
def test_a_value_that_names_nothing_is_rejected_with_the_possible_ones(
    command: str, arguments: list[str], message: str
) -> None:
    file = ["examples/dijob/full.yaml"] if command == "review" else []
    done = CliRunner().invoke(main, [command, *arguments, *file])
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


def test_an_invalid_value_in_the_settings_file_is_reported_with_the_file(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("mode: foo\n")
    done = CliRunner().invoke(main, ["--config", str(config), "review", "examples/dijob/minimal.yaml"])
    assert (done.exit_code, f"Invalid value for mode in {config}: 'foo'" in done.stderr) == (2, True), done.stderr
    assert "JOBGATE_MODE" not in done.stderr

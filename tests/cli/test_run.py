"""`jobgate run`: what its user reads where it cannot begin."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from jobgate.cli import main

#: Nothing listens there.
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {}}]
"""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--notify=https://example.com"], "notifications are signed: --notify requires --notify-secret"),
        (["--notify=ftp://example.com"], "--notify must be a URL with http or https and without a user"),
        (["--di-server-url=https://example.com"], "--di-server-url and --di-server-tls require each other"),
        (["--notify=https://user:secret@example.com"], "must be a URL with http or https and without a user"),
    ],
)
def test_addresses_are_checked_at_the_start(flags: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["run", "--run=torchjobs.train.distributed.io", "--lease-namespace=system", *flags])
    assert done.exit_code == 2
    assert message in done.stderr
    assert "secret@" not in done.stderr


def test_a_queue_with_an_address_and_no_secret_is_a_warning_and_the_runner_goes_on(tmp_path: Path) -> None:
    queues, path = tmp_path / "queues.yaml", tmp_path / "kubeconfig"
    queues.write_text("queues: [{name: a, notify: https://example.com}]", encoding="utf-8")
    path.write_text(KUBECONFIG, encoding="utf-8")
    flags = [f"--kubeconfig={path}", "--health-port=0", "--bind=127.0.0.1", "--lease-namespace=system"]
    done = CliRunner().invoke(main, ["run", "--run=torchjobs.train.distributed.io", f"--queues={queues}", *flags])
    assert "the end of jobs is not reported: notifications are signed, and require --notify-secret" in done.output
    assert "cannot find out whether an operator runs these jobs" in done.stderr


def test_an_api_server_that_does_not_answer_is_an_error_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG, encoding="utf-8")
    flags = [f"--kubeconfig={path}", "--health-port=0", "--bind=127.0.0.1", "--lease-namespace=system"]
    done = CliRunner().invoke(main, ["run", "--run=torchjobs.train.distributed.io", *flags])
    assert done.exit_code == 1
    assert "cannot find out whether an operator runs these jobs: Cannot connect to host 127.0.0.1:1" in done.stderr
    assert len(done.stderr.splitlines()) == 1

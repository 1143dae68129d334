"""Errors of the rotation commands for invalid arguments.

Level: no API; `tests/cluster/test_certificates.py` runs them against a real API server.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from jobgate.cli.certs import certs_group


@pytest.mark.parametrize("command", ["rotate", "watch", "status"])
@pytest.mark.parametrize(
    "option, message",
    [
        ("--address=10.0.0.1", "must be HOST:PORT, for example 10.0.0.1:9443"),
        ("--address=10.0.0.1:70000", "must be HOST:PORT"),
        ("--extra-name=Not_A_Name", "DNS name 'Not_A_Name': must be labels"),
        ("--service=a.b", "Service name 'a.b': must be at most 63"),
        ("--key-type=ed25519", "'p256', 'p384', 'rsa3072'"),
        ("--days=0", "0 is not in the range"),
        ("--soak=-1", "not in the range"),
        ("--kubeconfig=/nowhere/at/all", "does not exist"),
    ],
)
def test_an_invalid_option_is_reported(command: str, option: str, message: str) -> None:
    result = CliRunner().invoke(certs_group, [command, option])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize("command", ["rotate", "watch", "status"])
def test_missing_credentials_are_reported(command: str, tmp_path: Path) -> None:
    empty = tmp_path / "config"
    empty.write_text("{}")
    result = CliRunner().invoke(certs_group, [command, f"--kubeconfig={empty}"])
    assert result.exit_code == 1
    assert "no credentials for a cluster" in result.output

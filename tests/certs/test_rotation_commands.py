"""What the commands of the rotation say of arguments that cannot be.

Level: no API; what they do is tried on a real API server in `tests/cluster/test_certificates.py`.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from jobgate.cli.certs import certs_group


@pytest.mark.parametrize("command", ["rotate", "watch", "status"])
@pytest.mark.parametrize(
    "option, said",
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
def test_what_is_wrong_with_an_option_is_told(command: str, option: str, said: str) -> None:
    done = CliRunner().invoke(certs_group, [command, option])
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


@pytest.mark.parametrize("command", ["rotate", "watch", "status"])
def test_without_credentials_it_ends_in_a_line(command: str, tmp_path: Path) -> None:
    empty = tmp_path / "config"
    empty.write_text("{}")
    done = CliRunner().invoke(certs_group, [command, f"--kubeconfig={empty}"])
    assert done.exit_code == 1
    assert "no credentials for a cluster" in done.output

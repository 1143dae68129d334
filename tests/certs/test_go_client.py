"""Go, in which API servers are written, accepts every certificate. Without Go these tests fail."""

import os
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from certs import Generation, KeyType, issue_generation
from controlplane.golang import find_or_install_go
from controlplane.progress import silent
from tests.certs.handshake import loopback_server, server_context
from tests.certs.moments import NAMES, TODAY, generation_of
from tests.certs.test_strict_mode import ANSWERS_TO

PROGRAM = Path(__file__).parent / "go"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = find_or_install_go(os.environ, silent)
    binary = tmp_path_factory.mktemp("go") / "client"
    build = subprocess.run(
        [go.command, "build", "-buildvcs=false", "-o", binary, "."],
        cwd=PROGRAM,
        env=dict(go.environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stderr
    return binary


def run_client(
    client: Path, folder: Path, serving: Generation, trusted: list[Generation], names: list[str]
) -> list[str]:
    """Return the Go client's output for each name."""
    bundle = folder / "bundle.crt"
    bundle.write_bytes(b"".join(generation.ca_certificate for generation in trusted))
    with loopback_server(server_context(serving, folder)) as address:
        result = subprocess.run(
            [client, bundle, address, *names], capture_output=True, text=True, check=False, timeout=60
        )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def issue(days_ago: int = 0) -> Generation:
    return issue_generation(NAMES, TODAY - timedelta(days=days_ago))


@pytest.mark.parametrize("key_type", KeyType)
def test_a_go_client_accepts_every_name(key_type: KeyType, client: Path, tmp_path: Path) -> None:
    generation = generation_of(key_type, TODAY)
    assert run_client(client, tmp_path, generation, [generation], ANSWERS_TO) == [f"{name} ok" for name in ANSWERS_TO]


def test_a_go_client_trusts_both_generations_of_a_bundle_in_either_order(client: Path, tmp_path: Path) -> None:
    old, new = issue(days_ago=60), issue()
    for serving in (old, new):
        for bundle in ([old, new], [new, old]):
            assert run_client(client, tmp_path, serving, bundle, ANSWERS_TO[2:3]) == [f"{ANSWERS_TO[2]} ok"]


@pytest.mark.parametrize(
    "days_ago, trusts_it, name, reason",
    [
        (0, True, "jobgate-webhook.other.svc", "x509: certificate is valid for jobgate-webhook"),
        (0, False, ANSWERS_TO[2], "x509: certificate signed by unknown authority"),
        (91, True, ANSWERS_TO[2], "x509: certificate has expired or is not yet valid"),
    ],
    ids=["another name", "another generation's CA", "an expired leaf"],
)
def test_a_go_client_rejects(
    days_ago: int, trusts_it: bool, name: str, reason: str, client: Path, tmp_path: Path
) -> None:
    generation = issue(days_ago)
    (line,) = run_client(client, tmp_path, generation, [generation if trusts_it else issue()], [name])
    assert reason in line

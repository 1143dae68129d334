"""`jobgate certs issue`."""

import os
import stat
import sys
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from certs import CLUSTER_DOMAIN, LIFETIME, Generation, KeyType
from jobgate.cli import main
from jobgate.cli.certs import certs_group, issue
from jobgate.cli.rotation import status
from jobgate.names import DOMAIN
from tests.certs.handshake import handshake, server_context, strict_context

FILES = {"ca.crt", "tls.crt", "tls.key"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(certs_group, ["issue", *map(str, arguments)])


def read_generation(folder: Path) -> Generation:
    return Generation(*((folder / name).read_bytes() for name in ("ca.crt", "tls.crt", "tls.key")))


def names_of(certificate: bytes) -> list[str]:
    extension = x509.load_pem_x509_certificate(certificate).extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    return [str(name.value) for name in extension.value]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "made" / "certs"


def test_the_files_serve_a_client_that_trusts_the_ca(folder: Path, tmp_path: Path) -> None:
    assert run("--dir", folder, "--extra-name", "127.0.0.1").exit_code == 0
    generation = read_generation(folder)
    for name in ("jobgate-webhook.jobgate-system.svc", "127.0.0.1"):
        handshake(strict_context(generation), server_context(generation, tmp_path), name)


def test_only_the_three_files_are_left_in_the_directory(folder: Path) -> None:
    run("--dir", folder)
    assert {path.name for path in folder.iterdir()} == FILES


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_only_the_owner_can_read_the_key(folder: Path, open_umask: None) -> None:
    run("--dir", folder)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes["tls.key"] == 0o600
    assert modes["tls.crt"] == modes["ca.crt"] == 0o644


def test_the_output_shows_files_expiry_names_and_the_next_step(folder: Path) -> None:
    result = run("--dir", folder, "--extra-name", "a.example.com", "--extra-name", "127.0.0.1", "--days", "30")
    until = read_generation(folder).validity.not_after
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        f"Wrote ca.crt, tls.crt and tls.key to {folder}.",
        f"Valid until {until:%Y-%m-%d %H:%M} UTC, for:",
        "  jobgate-webhook",
        "  jobgate-webhook.jobgate-system",
        "  jobgate-webhook.jobgate-system.svc",
        "  jobgate-webhook.jobgate-system.svc.cluster.local",
        "  a.example.com",
        "  127.0.0.1",
        f"Next: jobgate serve --tls-cert {folder}/tls.crt --tls-key {folder}/tls.key",
        f"and jobgate manifests --ca-bundle {folder}/ca.crt, so that API servers trust it.",
    ]
    assert abs(until - datetime.now(UTC) - timedelta(days=30)) < timedelta(minutes=5)


def test_the_names_contain_service_namespace_and_cluster_domain(folder: Path) -> None:
    run("--dir", folder, "--service", "gate", "--namespace", "jobs", "--cluster-domain", "svc.k8s.example.com")
    assert names_of(read_generation(folder).certificate) == [
        "gate",
        "gate.jobs",
        "gate.jobs.svc",
        "gate.jobs.svc.k8s.example.com",
    ]


def test_the_key_type_applies_to_ca_and_server(folder: Path) -> None:
    run("--dir", folder, "--key-type", "p384")
    for pem in (read_generation(folder).ca_certificate, read_generation(folder).certificate):
        key = x509.load_pem_x509_certificate(pem).public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert key.curve.name == "secp384r1"


def test_options_match_the_library() -> None:
    options = {parameter.name: parameter for parameter in issue.params}
    choice = options["key_type"].type
    assert isinstance(choice, click.Choice)
    assert list(choice.choices) == [str(key_type) for key_type in KeyType]
    assert options["key_type"].default == KeyType.P256
    assert options["cluster_domain"].default == CLUSTER_DOMAIN == DOMAIN
    assert options["days"].default == LIFETIME.days
    status_options = {parameter.name: parameter for parameter in status.params}
    assert status_options["cluster_domain"].default == DOMAIN


@pytest.mark.parametrize("existing", sorted(FILES))
def test_an_existing_file_is_not_overwritten(existing: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / existing).write_text("mine")
    result = run("--dir", folder)
    assert (result.exit_code, result.stderr) == (
        1,
        f"Error: {folder} already contains {existing}: choose another --dir, or overwrite with --force\n",
    )
    assert {path.name: path.read_text() for path in folder.iterdir()} == {existing: "mine"}


def test_a_dangling_link_is_not_overwritten_either(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "tls.key").symlink_to(tmp_path / "elsewhere")
    assert run("--dir", folder).exit_code == 1
    assert not (tmp_path / "elsewhere").exists()


def test_force_replaces_all_files_and_restricts_the_mode_of_the_key(folder: Path) -> None:
    run("--dir", folder)
    before = read_generation(folder)
    (folder / "tls.key").chmod(0o644)
    assert run("--dir", folder, "--force").exit_code == 0
    after = read_generation(folder)
    assert after.ca_certificate != before.ca_certificate
    assert after.key != before.key
    assert stat.S_IMODE((folder / "tls.key").stat().st_mode) == 0o600


def test_force_replaces_a_link_and_not_its_target(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("mine")
    (folder / "tls.key").symlink_to(tmp_path / "elsewhere")
    assert run("--dir", folder, "--force").exit_code == 0
    assert (tmp_path / "elsewhere").read_text() == "mine"
    assert not (folder / "tls.key").is_symlink()


def test_the_error_names_a_directory_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("--dir", tmp_path / "file" / "certs")
    assert (result.exit_code, result.stderr) == (
        1,
        f"Error: cannot write into {tmp_path}/file/certs: Not a directory\n",
    )


def test_the_secret_contains_a_working_pair(tmp_path: Path) -> None:
    result = run("--secret", "--secret-name", "gate-tls", "--service", "gate", "--namespace", "jobs")
    secret = yaml.safe_load(result.stdout)
    content = {name: b64decode(value, validate=True) for name, value in secret.pop("data").items()}
    assert secret == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "gate-tls", "namespace": "jobs"},
        "type": "kubernetes.io/tls",
    }
    generation = Generation(content.pop("ca.crt"), content.pop("tls.crt"), content.pop("tls.key"))
    assert content == {}
    handshake(strict_context(generation), server_context(generation, tmp_path), "gate.jobs.svc")


def test_with_a_secret_the_text_goes_to_stderr_without_the_key() -> None:
    result = run("--secret")
    until = datetime.now(UTC) + LIFETIME
    assert result.stderr.splitlines()[0] == "Secret jobgate-system/jobgate-webhook-tls printed."
    assert f"Valid until {until:%Y-%m-%d}" in result.stderr
    assert result.stderr.splitlines()[-2:] == [
        "Next: pipe the Secret into `kubectl apply -f -`,",
        "and pass its decoded ca.crt to `jobgate manifests --ca-bundle FILE`.",
    ]
    assert yaml.safe_load(result.stdout)["data"]["tls.key"] not in result.stderr


def test_the_key_is_only_printed_in_the_secret(folder: Path) -> None:
    result = run("--dir", folder)
    body = read_generation(folder).key.splitlines()[1].decode()
    assert body not in result.output
    assert "PRIVATE" not in result.output


@pytest.mark.parametrize("arguments", [(), ("--secret", "--dir", "certs")], ids=["neither", "both"])
def test_files_or_a_secret_must_be_chosen(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Error: exactly one of --dir DIR (write files) and --secret (print a Secret) is required\n" in result.stderr


def test_bad_names_are_reported_together_and_nothing_is_written(folder: Path) -> None:
    result = run("--dir", folder, "--service", "Gate", "--extra-name", "local.")
    assert result.exit_code == 2
    service, *others = result.stderr.partition("Error: ")[2].splitlines()
    assert service.startswith("Service name 'Gate': must be at most 63 lower-case letters")
    assert [fault.partition(": ")[0] for fault in others] == ["DNS name 'local.'"]
    assert not folder.exists()


@pytest.mark.parametrize("days", ["0", "3651", "many"])
def test_days_out_of_bounds_are_rejected(days: str, folder: Path) -> None:
    result = run("--dir", folder, "--days", days)
    assert result.exit_code == 2
    assert "Invalid value for '--days'" in result.stderr


@pytest.fixture
def without_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "certs"]:
        monkeypatch.delitem(sys.modules, module)
    # None in sys.modules makes the import fail.
    monkeypatch.setitem(sys.modules, "cryptography", None)


def test_a_missing_package_is_reported_with_the_command_that_installs_it(
    without_cryptography: None, folder: Path
) -> None:
    result = CliRunner().invoke(main, ["certs", "issue", "--dir", str(folder)])
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: cryptography is not installed: pip install 'jobgate[certs]'\n",
    )

"""OpenSSL's strict mode accepts every certificate, in Python's ssl and in the openssl command if it is installed."""

import ssl
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from certs import Generation, KeyType, issue_generation
from tests.certs.handshake import handshake, server_context, strict_context
from tests.certs.moments import NAMES, TODAY, generation_of

ANSWERS_TO = [
    "jobgate-webhook",
    "jobgate-webhook.jobgate-system",
    "jobgate-webhook.jobgate-system.svc",
    "jobgate-webhook.jobgate-system.svc.cluster.local",
    "webhook.example.com",
    "any.example.org",
    "127.0.0.1",
    "fd00::1",
]


def issue(days_ago: int = 0) -> Generation:
    return issue_generation(NAMES, TODAY - timedelta(days=days_ago))


@pytest.mark.parametrize("key_type", KeyType)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_strict_client_accepts_every_name(key_type: KeyType, version: ssl.TLSVersion, tmp_path: Path) -> None:
    generation = generation_of(key_type, TODAY)
    client, server = strict_context(generation), server_context(generation, tmp_path)
    client.minimum_version = client.maximum_version = version
    for name in ANSWERS_TO:
        handshake(client, server, name)


@pytest.mark.parametrize("order", [list, reversed], ids=["old CA first", "new CA first"])
def test_a_bundle_of_two_generations_trusts_both(
    order: Callable[[list[Generation]], list[Generation]], tmp_path: Path
) -> None:
    both = [issue(days_ago=60), issue()]
    client = strict_context(*order(both))
    for generation in both:
        handshake(client, server_context(generation, tmp_path), ANSWERS_TO[2])


@pytest.mark.needs("openssl")
@pytest.mark.parametrize("key_type", KeyType)
def test_the_openssl_command_verifies_authority_and_leaf_strictly(key_type: KeyType, tmp_path: Path) -> None:
    generation = generation_of(key_type, TODAY)
    authority, leaf = tmp_path / "ca.crt", tmp_path / "tls.crt"
    authority.write_bytes(generation.ca_certificate)
    leaf.write_bytes(generation.certificate)
    verify = ["openssl", "verify", "-x509_strict", "-check_ss_sig", "-CAfile", str(authority)]
    leaf_options = ["-purpose", "sslserver", "-verify_hostname", ANSWERS_TO[2]]
    for command in ([*verify, str(authority)], [*verify, *leaf_options, str(leaf)]):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (result.stdout.split(": ")[-1], result.stderr) == ("OK\n", "")

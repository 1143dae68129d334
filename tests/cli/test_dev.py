"""Wrong options of `jobgate dev`, before a cluster is asked."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from jobgate.cli import main

REMOTE = """
clusters: [{cluster: {server: "https://api.example.com"}, name: remote}]
contexts: [{context: {cluster: remote, user: ada}, name: remote}]
current-context: remote
"""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "either --namespace NAME or --namespace-selector YAML is required"),
        (["-n", "a", "--namespace-selector", "{matchLabels: {a: b}}"], "either --namespace NAME or"),
        (["-n", "kube-system"], "kube-system is a system namespace"),
        (["-n", "a", "--name", "Dev"], "'Dev' must be a DNS label"),
        (["-n", "a", "--name", "jobgate"], "'jobgate' must be a DNS label, for example dev-ada"),
        (["-n", "a"], "give --host HOST, or --url https://HOST:PORT of a tunnel of yours"),
        (["-n", "a", "--url", "http://a.example"], "must be https://HOST[:PORT]"),
        (["-n", "a", "--url", "https://a.example/path"], "must be https://HOST[:PORT]"),
        (["-n", "a", "--url", "https://a.example", "--host", "b"], "and without --host"),
        (["-n", "a", "--host", "b", "--public-certificate"], "--public-certificate requires --url"),
    ],
)
def test_wrong_options_are_errors(flags: list[str], message: str, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(REMOTE)
    result = CliRunner().invoke(main, ["dev", f"--kubeconfig={kubeconfig}", *flags])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_kubeconfig_without_a_context_is_an_error(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("clusters: []\ncontexts: []\n")
    result = CliRunner().invoke(main, ["dev", f"--kubeconfig={kubeconfig}", "-n", "a"])
    assert result.exit_code == 2
    assert "has no current context with a cluster: 'current-context' is missing" in " ".join(result.output.split())

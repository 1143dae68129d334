"""The address of this machine, with kubeconfigs as kind, k3d, minikube and others write them."""

import subprocess
from typing import Any

import pytest
import yaml

from jobgate.dev.host import docker_gateway, host_of

KIND = """
clusters:
- cluster: {certificate-authority-data: LS0t, server: "https://127.0.0.1:36537"}
  name: kind-kind
contexts:
- context: {cluster: kind-kind, user: kind-kind}
  name: renamed
current-context: renamed
"""
K3D = """
clusters:
- cluster: {certificate-authority-data: LS0t, server: "https://0.0.0.0:41217"}
  name: k3d-mycluster
contexts:
- context: {cluster: k3d-mycluster, user: admin@k3d-mycluster}
  name: k3d-mycluster
current-context: k3d-mycluster
"""
MINIKUBE = """
clusters:
- cluster:
    certificate-authority: /home/ada/.minikube/ca.crt
    extensions:
    - extension:
        last-update: Mon, 04 Mar 2024 10:00:00 CET
        provider: minikube.sigs.k8s.io
        version: v1.32.0
      name: cluster_info
    server: https://192.168.49.2:8443
  name: work
contexts:
- context: {cluster: work, namespace: default, user: work}
  name: work
current-context: work
"""
OTHER = """
clusters:
- {{cluster: {{server: "{server}"}}, name: other}}
- {{cluster: {{server: "https://127.0.0.1:1"}}, name: kind-kind}}
contexts:
- {{context: {{cluster: other, user: ada}}, name: other}}
- {{context: {{cluster: kind-kind, user: kind-kind}}, name: kind-kind}}
current-context: other
"""


@pytest.mark.parametrize(
    ("kubeconfig", "platform", "expected"),
    [
        (KIND, "linux", "172.18.0.1"),
        (KIND, "darwin", "host.docker.internal"),
        (K3D, "linux", "host.k3d.internal"),
        (MINIKUBE, "darwin", "host.minikube.internal"),
        (MINIKUBE.replace("192.168.49.2:8443", "127.0.0.1:55000"), "darwin", "host.minikube.internal"),
        (KIND.replace("kind-kind", "docker-desktop"), "darwin", "host.docker.internal"),
        (OTHER.format(server="https://127.0.0.1:6443"), "linux", "127.0.0.1"),
        (OTHER.format(server="https://[::1]:6443"), "linux", "127.0.0.1"),
        (OTHER.format(server="https://localhost:6443"), "linux", "127.0.0.1"),
    ],
)
def test_hosts_of_local_clusters_are_known(kubeconfig: str, platform: str, expected: str) -> None:
    assert host_of(yaml.safe_load(kubeconfig), lambda: "172.18.0.1", platform) == expected


def test_the_host_of_a_remote_cluster_must_be_given() -> None:
    with pytest.raises(LookupError, match=r"API server api\.example\.com reaches this machine is not known"):
        host_of(yaml.safe_load(OTHER.format(server="https://api.example.com")), str)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("127.0.0.8 fc00:f853:ccd:e793::1 \n", "127.0.0.8"),
        ("fc00::1 127.0.0.9 ", "127.0.0.9"),
        ("192.0.2.1", "host.docker.internal"),  # no address of this machine
    ],
)
def test_docker_tells_the_gateway(output: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: Any, **_: Any) -> subprocess.CompletedProcess[str]:
        assert command[:4] == ("docker", "network", "inspect", "kind")
        return subprocess.CompletedProcess(command, 0, output, "")

    monkeypatch.setattr(subprocess, "run", run)
    assert docker_gateway() == expected


def test_without_docker_the_host_must_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LookupError, match="`docker network inspect kind` fails"):
        docker_gateway()

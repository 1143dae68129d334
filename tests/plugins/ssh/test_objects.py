"""The Secret that the plugin needs beside the job."""

from base64 import b64decode
from typing import Any

import pytest

from jobgate.plugins import Crew
from tests.plugins.ssh.builder import crew, part, secret, stored

CONFIG = """\
Host job-*-* !*.*
    HostName %h.di-job
    Port 2222
    IdentityFile /home/me/.ssh/id_rsa
    IdentitiesOnly yes
    StrictHostKeyChecking yes
    UserKnownHostsFile /home/me/.ssh/known_hosts
    CheckHostIP no

Host job-*-*.di-job job-*-*.di-job.ns job-*-*.di-job.ns.svc job-*-*.di-job.ns.svc.cluster.local
    Port 2222
    IdentityFile /home/me/.ssh/id_rsa
    IdentitiesOnly yes
    StrictHostKeyChecking yes
    UserKnownHostsFile /home/me/.ssh/known_hosts
    CheckHostIP no
"""
OWN = ["authorized_keys", "config", "id_rsa", "id_rsa.pub", "known_hosts", "ssh_host_key"]
BESIDE_THE_USERS = ["config", "known_hosts", "ssh_host_key"]


def texts(secret: dict[str, Any]) -> dict[str, str]:
    return {key: b64decode(value).decode() for key, value in secret["data"].items()}


def hosts(crew: Crew) -> list[str]:
    """Return the hosts of the configuration."""
    lines = texts(dict(secret(crew).manifest))["config"].splitlines()
    return [line.removeprefix("Host ") for line in lines if line.startswith("Host ")]


def test_what_follows_from_the_job_is_declared_and_the_rest_is_made() -> None:
    declared = secret(crew(flags=["--ssh-port=2222", "--ssh-key-file-path=/home/me/.ssh"]))
    manifest = dict(declared.manifest)
    assert texts(manifest) == {"config": CONFIG}
    assert {key: manifest[key] for key in ("apiVersion", "kind", "type", "metadata")} == {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": {"name": "job-ssh"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sort", "private", "public"),
    [("ed25519", "OPENSSH PRIVATE KEY", "ssh-ed25519"), ("rsa", "RSA PRIVATE KEY", "ssh-rsa")],
)
def test_the_keys_are_of_the_sort_that_was_asked_for(sort: str, private: str, public: str) -> None:
    files = texts(stored(secret(crew(flags=[f"--ssh-key-type={sort}"]))))
    assert sorted(files) == OWN
    for file in ("id_rsa", "ssh_host_key"):
        assert files[file].startswith(f"-----BEGIN {private}-----\n")
        assert files[file].endswith(f"-----END {private}-----\n")
    assert files["id_rsa"] != files["ssh_host_key"]
    word, _, comment = files["id_rsa.pub"].split(" ")
    assert (word, comment) == (public, "ns/job\n")
    assert files["authorized_keys"] == files["id_rsa.pub"]
    names, word, key = files["known_hosts"].split(" ")
    assert names == "job-*-*.di-job,job-*-*.di-job.ns,job-*-*.di-job.ns.svc,job-*-*.di-job.ns.svc.cluster.local"
    assert (word, files["known_hosts"].count("\n")) == (public, 1)
    assert key.strip() not in files["id_rsa.pub"]


def test_each_job_has_keys_of_its_own() -> None:
    one, another = (texts(stored(secret(crew()))) for _ in range(2))
    assert {file for file in one if one[file] == another[file]} == {"config"}


def test_a_user_who_brings_the_key_pair_gets_a_host_key_only() -> None:
    declared = secret(crew(flags=["--ssh-key-secret=mine"]))
    assert sorted(stored(declared)["data"]) == BESIDE_THE_USERS
    assert declared.complete(stored(declared))


@pytest.mark.parametrize("lost", [file for file in OWN if file != "config"])
def test_a_secret_that_has_lost_a_key_is_not_complete(lost: str) -> None:
    declared = secret(crew())
    whole = stored(declared)
    assert declared.complete(whole)
    assert not declared.complete({**whole, "data": {**whole["data"], lost: ""}})
    del whole["data"][lost]
    assert not declared.complete(whole)


@pytest.mark.parametrize("broken", [{}, {"data": None}, {"data": []}, {"data": {"config": "x"}}])
def test_a_secret_without_keys_is_not_complete(broken: dict[str, Any]) -> None:
    assert not secret(crew()).complete(broken)


def test_neither_scaling_nor_another_task_changes_what_is_declared() -> None:
    usual = secret(crew()).manifest
    assert secret(crew(part(replicas=1000))).manifest == usual
    assert secret(crew(part(), part(name="collector"))).manifest == usual
    assert secret(crew(*(part(name=f"task{place}") for place in range(1000)))).manifest == usual


def test_a_port_of_its_own_is_known_to_the_list_of_host_keys() -> None:
    names = texts(stored(secret(crew(flags=["--ssh-port=2222"]))))["known_hosts"].split(" ")[0].split(",")
    assert names[:4] == [f"[{name}]:2222" for name in names[4:]]


@pytest.mark.parametrize(
    ("case", "job", "expected"),
    [
        ("a fixed hostname", crew(part(hostname="chief")), ["chief !*.*", "chief.di-job chief.di-job.ns chief.di-job.ns.svc chief.di-job.ns.svc.cluster.local"]),
        ("a fixed subdomain", crew(part(subdomain="own")), ["job-learner-* !*.*", "job-learner-*.own job-learner-*.own.ns job-learner-*.own.ns.svc job-learner-*.own.ns.svc.cluster.local"]),
        ("both", crew(part(hostname="chief", subdomain="own")), ["chief !*.*", "chief.own chief.own.ns chief.own.ns.svc chief.own.ns.svc.cluster.local"]),
        ("two tasks of one name", crew(part(hostname="chief"), part(name="b", hostname="chief")), ["chief !*.*", "chief.di-job chief.di-job.ns chief.di-job.ns.svc chief.di-job.ns.svc.cluster.local"]),
    ],
)  # fmt: skip
def test_what_a_template_fixes_comes_before_the_pattern_of_all_others(
    case: str, job: Crew, expected: list[str]
) -> None:
    assert hosts(job) == [*expected, *hosts(crew())]


def test_another_domain_of_the_cluster_is_in_the_full_names() -> None:
    assert "job-*-*.di-job.ns.svc.example.org" in hosts(crew(domain="svc.example.org"))[1].split()


def test_pods_that_are_not_called_by_their_job_are_named_task_by_task() -> None:
    assert hosts(crew(part(), part(name="b"), pod="{task}-{index}"))[::2] == ["learner-* !*.*", "b-* !*.*"]


@pytest.mark.parametrize(
    "bad", ["x\n    ProxyCommand evil", "x y", "*", "!x", "x,y", "%h", '"x"', "x#y", "X", "x" * 64, "a.b"]
)
def test_a_name_that_is_none_never_gets_into_a_file(bad: str) -> None:
    usual = hosts(crew())
    for job in (crew(part(hostname=bad)), crew(part(subdomain=bad)), crew(part(hostname=bad, subdomain=bad))):
        assert hosts(job) == usual
        assert len(texts(stored(secret(job)))["known_hosts"].splitlines()) == 1
    assert hosts(crew(part(name=bad), pod="{task}-{index}")) == []
    assert hosts(crew(service=bad)) == []

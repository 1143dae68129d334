"""The wiring of pods by the plugin."""

from typing import Any

import pytest

from jobgate.plugins import CrewContainer
from tests.plugins.ssh.builder import crew, part, wired

PREPARE = CrewContainer("prepare", init=True)
FILES = ["id_rsa", "id_rsa.pub", "authorized_keys", "config", "known_hosts", "ssh_host_key"]


def mounts(folder: str, key_type: str = "ed25519") -> list[dict[str, Any]]:
    places = [(f"{folder}/{file}", file) for file in FILES]
    places += [(f"/etc/ssh/ssh_host_{key_type}_key", "ssh_host_key")] if key_type else []
    return [{"name": "job-ssh", "mountPath": path, "subPath": file, "readOnly": True} for path, file in places]


def item(file: str, mode: int, key: str = "") -> dict[str, Any]:
    return {"key": key or file, "path": file, "mode": mode}


def volume(mode: int) -> dict[str, Any]:
    items = [item(file, mode if file in {"id_rsa", "ssh_host_key"} else 0o444) for file in FILES]
    return {"name": "job-ssh", "projected": {"sources": [{"secret": {"name": "job-ssh", "items": items}}]}}


def test_each_file_is_mounted_by_itself_into_the_containers_of_the_template_and_no_others() -> None:
    job = crew(part(containers=(CrewContainer("main"), CrewContainer("other"), PREPARE)))
    spec = {
        "containers": [{"name": "main"}, {"name": "injected"}, {"name": "other"}],
        "initContainers": [{"name": "prepare"}, {"name": "main"}],
    }
    draft = wired(job, {"spec": spec})
    given = {"volumeMounts": mounts("/root/.ssh")}
    assert draft.value["spec"] == {
        "containers": [{"name": "main"} | given, {"name": "injected"}, {"name": "other"} | given],
        "initContainers": [{"name": "prepare"} | given, {"name": "main"}],
        "volumes": [volume(0o400)],
    }


def test_what_the_pod_has_stays_and_a_second_time_adds_nothing() -> None:
    container = {"name": "main", "volumeMounts": [{"name": "data", "mountPath": "/data"}], "env": [{"name": "A"}]}
    pod = {"spec": {"containers": [container], "volumes": [{"name": "data", "emptyDir": {}}]}}
    once = wired(crew(), pod)
    assert once.value["spec"]["volumes"] == [{"name": "data", "emptyDir": {}}, volume(0o400)]
    assert once.value["spec"]["containers"] == [
        {**container, "volumeMounts": [{"name": "data", "mountPath": "/data"}, *mounts("/root/.ssh")]}
    ]
    assert wired(crew(), once.value).patch == []


def test_nothing_but_volumes_and_mounts_is_added() -> None:
    """So a pod that passes the restricted profile of Pod Security still does: it allows projected volumes."""
    touched = {
        tuple(step for step in operation["path"].split("/") if not step.isdigit()) for operation in wired(crew()).patch
    }
    assert touched == {
        ("", "spec", "volumes"),
        ("", "spec", "containers", "volumeMounts"),
        ("", "spec", "containers", "volumeMounts", "-"),
    }


def test_nothing_is_put_into_pods_whose_operator_does_it() -> None:
    assert wired(crew(provided=frozenset({"ssh"}))).patch == []


def test_the_folder_is_the_one_that_is_asked_for() -> None:
    (container,) = wired(crew(flags=["--ssh-key-file-path=/home/me/.ssh/"])).value["spec"]["containers"]
    assert container["volumeMounts"] == mounts("/home/me/.ssh")


def test_the_host_key_is_where_sshd_looks_for_a_key_of_its_type() -> None:
    (container,) = wired(crew(flags=["--ssh-key-type=rsa"])).value["spec"]["containers"]
    assert container["volumeMounts"] == mounts("/root/.ssh", "rsa")


@pytest.mark.parametrize("folder", ["/etc/ssh", "/etc//ssh/", "/etc"])
def test_a_folder_of_sshd_that_the_task_mounts_itself_stays_as_it_is(folder: str) -> None:
    job = crew(part(containers=(CrewContainer("main", mounts=(folder,)),)))
    (container,) = wired(job).value["spec"]["containers"]
    assert container["volumeMounts"] == mounts("/root/.ssh", "")


@pytest.mark.parametrize(
    ("case", "root", "fs_group", "folder", "expected"),
    [
        ("root", True, None, "/keys", 0o400),
        ("another user, for which the kubelet adds the group", False, 2000, "/keys", 0o400),
        ("another user without a group", False, None, "/keys", 0o444),
        ("the image's user, home of root", None, None, "/root/.ssh", 0o400),
        ("the image's user, home of another", None, None, "/home/me/.ssh", 0o444),
    ],
)
def test_private_keys_have_the_mode_that_openssh_takes_from_who_runs(
    case: str, root: bool | None, fs_group: int | None, folder: str, expected: int
) -> None:
    job = crew(
        part(containers=(CrewContainer("main", root=root),), fs_group=fs_group), flags=[f"--ssh-key-file-path={folder}"]
    )
    assert wired(job).value["spec"]["volumes"] == [volume(expected)]


def test_if_some_run_as_root_the_private_key_is_roots() -> None:
    both = (CrewContainer("main", root=False), CrewContainer("side", root=True))
    assert wired(crew(part(containers=both))).value["spec"]["volumes"] == [volume(0o400)]


def test_the_users_own_key_pair_is_mounted_under_the_same_names() -> None:
    spec = wired(crew(flags=["--ssh-key-secret=mine"])).value["spec"]
    assert spec["containers"][0]["volumeMounts"] == mounts("/root/.ssh")
    own = [item("config", 0o444), item("known_hosts", 0o444), item("ssh_host_key", 0o400)]
    users = [
        item("id_rsa", 0o400, "ssh-privatekey"),
        item("id_rsa.pub", 0o444, "ssh-publickey"),
        item("authorized_keys", 0o444, "ssh-publickey"),
    ]
    sources = [{"secret": {"name": "job-ssh", "items": own}}, {"secret": {"name": "mine", "items": users}}]
    assert spec["volumes"] == [{"name": "job-ssh", "projected": {"sources": sources}}]

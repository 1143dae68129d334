"""The arguments of the plugin, and its messages about wrong arguments."""

from typing import Any

import pytest

from jobgate.plugins import parse
from jobgate.plugins.ssh import SshArguments
from tests.plugins.ssh.builder import PATH, arguments
from webhook import Cause

FOLDER = (
    "its value must be an absolute path such as /home/me/.ssh, not a system directory, with at most 255 characters "
    "(letters, digits, '.', '_', '-' and '/') and without '.' and '..' as elements"
)
PORT = "its value must be a port number from 1 to 65535"
KEY_TYPE = "its value must be ed25519, or rsa for an old OpenSSH or for FIPS mode"
SECRET = "its value must be the name of a Secret in the job's namespace with the keys ssh-privatekey and ssh-publickey"
FLAGS = ["--ssh-key-file-path", "--ssh-port", "--ssh-key-type", "--ssh-key-secret"]


def causes(written: Any) -> list[Cause]:
    parsed, result = parse(SshArguments, "ssh", written, PATH)
    assert parsed is None or not result
    return result


@pytest.mark.parametrize("written", [None, [], {}])
def test_without_arguments_all_is_as_with_volcano(written: Any) -> None:
    parsed, _ = parse(SshArguments, "ssh", written, PATH)
    assert parsed == SshArguments()
    assert (parsed.folder, parsed.ssh_port, parsed.ssh_key_type, parsed.ssh_key_secret) == (
        "/root/.ssh", 22, "ed25519", None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "written",
    [
        ["--ssh-key-file-path=/home/me/.ssh", "--ssh-port=2222", "--ssh-key-type=rsa", "--ssh-key-secret=mine"],
        [
            "-ssh-key-file-path",
            "/home/me/.ssh/",
            "-ssh-port",
            "2222",
            "-ssh-key-type",
            "rsa",
            "-ssh-key-secret",
            "mine",
        ],
        {"ssh-key-file-path": "/home/me/.ssh", "ssh-port": 2222, "ssh-key-type": "rsa", "ssh-key-secret": "mine"},
        {"ssh-key-file-path": "/home/me/.ssh", "ssh-port": "2222", "ssh-key-type": "rsa", "ssh-key-secret": "mine"},
    ],
)
def test_flags_of_either_form_and_mappings_say_the_same(written: Any) -> None:
    parsed, _ = parse(SshArguments, "ssh", written, PATH)
    assert parsed is not None
    assert (parsed.folder, parsed.ssh_port, parsed.ssh_key_type, parsed.ssh_key_secret) == (
        "/home/me/.ssh", 2222, "rsa", "mine",
    )  # fmt: skip


@pytest.mark.parametrize("path", ["/root/.ssh", "/home/me", "/etc/ssh", "/usr/local/keys", "/a", "/opt/My_keys-1.0"])
def test_a_folder_of_ones_own_is_taken(path: str) -> None:
    assert arguments(f"--ssh-key-file-path={path}").folder == path


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "//", ".ssh", "~/.ssh", "root/.ssh",
        "/root/../.ssh", "/root/..", "/root/./.ssh", "/root//.ssh", "/root/.ssh//",
        "/root/.ssh:ro", "/root/my keys", "/root/%h", "/root/$HOME", "/root/'x'", '/root/"x"', "/root/#x", "/root/\\x", "/root/*",
        "/root/.ssh\n", "/root/.ssh\nProxyCommand evil", "/root/\0", "/root/ä",
        "/" + "a" * 255,
        "/etc", "/etc/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/var", "/run", "/boot", "/home", "/tmp",
        "/dev", "/dev/keys", "/proc", "/proc/self", "/sys", "/sys/kernel",
    ],
)  # fmt: skip
def test_a_path_that_is_none_or_the_systems_is_rejected_and_not_repeated(path: str) -> None:
    (cause,) = causes([f"--ssh-key-file-path={path}"])
    assert str(cause) == f'spec.plugins[ssh][0]: Invalid value: "--ssh-key-file-path": {FOLDER}'
    (cause,) = causes({"ssh-key-file-path": path})
    assert str(cause) == f'spec.plugins[ssh].ssh-key-file-path: Invalid value: "ssh-key-file-path": {FOLDER}'


@pytest.mark.parametrize(
    "port", ["0", "65536", "-1", "022", "0x16", "22.0", " 22", "2_2", "", "ssh", "9" * 99, "\uff12\uff12"]
)
def test_a_port_that_is_none_is_rejected(port: str) -> None:
    assert list(map(str, causes([f"--ssh-port={port}"]))) == [
        f'spec.plugins[ssh][0]: Invalid value: "--ssh-port": {PORT}'
    ]


@pytest.mark.parametrize("port", [0, 65536, True, 22.0, None, [22]])
def test_a_number_that_is_no_port_is_rejected(port: Any) -> None:
    assert list(map(str, causes({"ssh-port": port}))) == [
        f'spec.plugins[ssh].ssh-port: Invalid value: "ssh-port": {PORT}'
    ]


@pytest.mark.parametrize("port", [1, 65535])
def test_every_port_is_taken(port: int) -> None:
    assert arguments(f"--ssh-port={port}").ssh_port == port


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        ("--ssh-key-type=dsa", f'Invalid value: "--ssh-key-type": {KEY_TYPE}'),
        ("--ssh-key-type=RSA", f'Invalid value: "--ssh-key-type": {KEY_TYPE}'),
        ("--ssh-key-secret=", f'Invalid value: "--ssh-key-secret": {SECRET}'),
        ("--ssh-key-secret=My_key", f'Invalid value: "--ssh-key-secret": {SECRET}'),
        ("--ssh-key-secret=other/key", f'Invalid value: "--ssh-key-secret": {SECRET}'),
        ("--ssh-port", "Required value: --ssh-port takes a port number from 1 to 65535: use --ssh-port=<value>"),
        ("--no-root=perhaps", 'Invalid value: "--no-root": its value must be true or false'),
        (
            "--key-path=/x",
            'Unsupported value: "--key-path": supported values: ' + ", ".join(f'"{flag}"' for flag in FLAGS),
        ),
        (
            "rsa",
            "Forbidden: ssh takes only flags: use " + ", ".join(f"{flag}=<value>" for flag in FLAGS),
        ),
    ],
)  # fmt: skip
def test_what_a_flag_does_not_take_is_reported(flag: str, expected: str) -> None:
    assert list(map(str, causes([flag]))) == [f"spec.plugins[ssh][0]: {expected}"]


def test_a_mapping_may_have_the_same_keys_only() -> None:
    (cause,) = causes({"key-path": "/x"})
    assert str(cause) == (
        'spec.plugins[ssh].key-path: Unsupported value: "key-path": supported values: '
        '"ssh-key-file-path", "ssh-port", "ssh-key-type", "ssh-key-secret"'
    )


@pytest.mark.parametrize(
    "written",
    [
        ["--ssh-private-key=SECRET", "--ssh-public-key=SECRET"],
        ["--ssh-private-key", "-----BEGIN SECRET-----", "--ssh-public-key", "SECRET"],
        {"ssh-private-key": "SECRET", "ssh-public-key": ["SECRET"]},
    ],
)
def test_a_key_in_the_arguments_is_forgotten_at_once(written: Any) -> None:
    parsed, _ = parse(SshArguments, "ssh", written, PATH)
    assert parsed is not None
    assert parsed.ssh_private_key is not None
    assert parsed.ssh_public_key is not None
    assert "SECRET" not in repr(parsed)


@pytest.mark.parametrize(
    "written",
    [
        ["--ssh-privatekey=SECRET"],
        ["--ssh-privatekey", "SECRET"],
        ["-----BEGIN SECRET-----"],
        ["--ssh-key-file-path=SECRET", "--ssh-port=SECRET", "--ssh-key-type=SECRET", "--ssh-key-secret=SECRET"],
        {"ssh-privatekey": "SECRET", "ssh-key-secret": "SECRET", "ssh-port": {"SECRET": "SECRET"}},
        "SECRET",
    ],
)
def test_no_message_repeats_a_value(written: Any) -> None:
    result = causes(written)
    assert result
    assert "SECRET" not in repr(result)

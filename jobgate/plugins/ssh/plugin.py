"""The plugin `ssh` itself: its keys, their Secret, and the files in pods."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from jobgate.names import dns_label
from jobgate.plugins.crew import Crew, Member
from jobgate.plugins.limits import CONFIG_LIMIT
from jobgate.plugins.paths import collisions, is_inside
from jobgate.plugins.plugin import SECRET, Declared, Derived, Plugin
from jobgate.plugins.pod import Pod
from jobgate.plugins.ssh import access
from jobgate.plugins.ssh.arguments import SshArguments
from jobgate.plugins.ssh.client import IDENTITY, KNOWN_HOSTS, config, known_hosts
from jobgate.plugins.svc import FOLDER as HOSTS
from webhook import Cause, Forbidden, Invalid, Notice, Path

PUBLIC = f"{IDENTITY}.pub"
AUTHORIZED = "authorized_keys"
CONFIG = "config"
HOST_KEY = "ssh_host_key"

#: The keys of a user's own Secret: that of the type `kubernetes.io/ssh-auth`, and one for the public key.
USERS_PRIVATE, USERS_PUBLIC = "ssh-privatekey", "ssh-publickey"

#: The files in a pod, each mounted by itself: sshd rejects `authorized_keys` in a folder that other users can write to,
#: and everyone can write to the folder of a mounted Secret.
FILES = (IDENTITY, PUBLIC, AUTHORIZED, CONFIG, KNOWN_HOSTS, HOST_KEY)

#: The folder with the host keys of an image, in which `sshd` looks by default.
SSHD = "/etc/ssh"

#: Bytes of a Secret that are reserved for its keys; four RSA keys and their lines need less than half of it.
_ROOM_FOR_KEYS = 16 * 1024


class Ssh(Plugin[SshArguments]):
    """Creates a key pair and a host key for the job, and the files of client and server in its pods."""

    name = "ssh"
    arguments = SshArguments
    creates = (SECRET,)

    def check(self, crew: Crew, arguments: SshArguments, path: Path) -> Iterator[Cause | Notice]:
        """Yield the faults that would prevent pods from logging in, or disclose a key."""
        yield from _check_arguments(crew, arguments, path)
        if "svc" in crew.plugins and is_inside(arguments.folder, HOSTS):
            yield Forbidden(path, f"--ssh-key-file-path: svc mounts the host lists at {HOSTS}: use another directory")
        yield from collisions(
            crew,
            path,
            volume=secret_name(crew),
            folder=arguments.folder,
            what="keys",
            otherwise=", or set another directory with --ssh-key-file-path",
        )
        for part in crew.parts:
            yield from access.check(part, arguments.folder, path)
        if not crew.service_made and "svc" not in crew.plugins:
            yield Notice(path, "the job's pods have no Service, and ssh needs their DNS names: add the plugin svc")
        if len(config(crew, arguments)) + len(known_hosts(crew, arguments, "")) > CONFIG_LIMIT - _ROOM_FOR_KEYS:
            text = f"the tasks set more host names than fit into a Secret of {CONFIG_LIMIT} bytes"
            yield Forbidden(path, f"{text}: remove hostname and subdomain from the templates")

    def derived(self, crew: Crew, arguments: SshArguments) -> Iterator[Derived]:
        """Yield the volume of the keys; the Secret has the same name, but Secrets may have longer names."""
        yield Derived("plugin ssh", "volume", "<job>-ssh", dns_label, len("-ssh"))

    def wire(self, pod: Pod, member: Member, arguments: SshArguments) -> None:
        """Mount the files into the folder of the keys, and the host key where sshd looks for it."""
        name = secret_name(member.crew)
        private = access.mode_of(member.part, arguments.folder)
        pod.volume({"name": name, "projected": {"sources": list(_sources(name, arguments, private))}})
        places = {f"{arguments.folder}/{file}": file for file in FILES}
        if not any(is_inside(SSHD, mount) for container in member.part.containers for mount in container.mounts):
            places[f"{SSHD}/ssh_host_{arguments.ssh_key_type}_key"] = HOST_KEY
        for place, file in places.items():
            pod.mount({"name": name, "mountPath": place, "subPath": file, "readOnly": True})

    def objects(self, crew: Crew, arguments: SshArguments) -> Iterator[Declared]:
        """Yield the Secret of the keys. They are generated once, because running pods would not see new keys."""

        def generate() -> Mapping[str, Any]:
            return {"data": _encoded(_keys(crew, arguments))}

        def complete(stored: Mapping[str, Any]) -> bool:
            data = stored.get("data")
            return isinstance(data, Mapping) and all(data.get(file) for file in (CONFIG, *_generated_files(arguments)))

        yield Declared(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "Opaque",
                "metadata": {"name": secret_name(crew)},
                "data": _encoded({CONFIG: config(crew, arguments)}),
            },
            generate,
            complete,
        )


def secret_name(crew: Crew) -> str:
    """Return the name of the Secret, and of its volume in pods."""
    return f"{crew.name}-ssh"


def _generated_files(arguments: SshArguments) -> tuple[str, ...]:
    """Return the generated files; a user's own key pair is not generated."""
    users = arguments.ssh_key_secret is not None
    return (HOST_KEY, KNOWN_HOSTS) if users else (HOST_KEY, KNOWN_HOSTS, IDENTITY, PUBLIC, AUTHORIZED)


def _keys(crew: Crew, arguments: SshArguments) -> dict[str, str]:
    private, public = new_pair(arguments.ssh_key_type)
    files = {HOST_KEY: private, KNOWN_HOSTS: known_hosts(crew, arguments, public)}
    if arguments.ssh_key_secret is None:
        private, public = new_pair(arguments.ssh_key_type)
        line = f"{public} {crew.namespace}/{crew.name}\n"
        files |= {IDENTITY: private, PUBLIC: line, AUTHORIZED: line}
    return files


def _encoded(files: Mapping[str, str]) -> dict[str, str]:
    return {file: b64encode(text.encode()).decode() for file, text in files.items()}


def _sources(name: str, arguments: SshArguments, private: int) -> Iterator[dict[str, Any]]:
    """Yield the sources of the volume: the job's Secret, and the user's Secret if the job names it."""

    def items(secret: str, keys: Mapping[str, str]) -> dict[str, Any]:
        modes = {file: private if file in {IDENTITY, HOST_KEY} else access.PUBLIC for file in keys}
        return {
            "secret": {
                "name": secret,
                "items": [{"key": key, "path": file, "mode": modes[file]} for file, key in keys.items()],
            }
        }

    if arguments.ssh_key_secret is None:
        yield items(name, {file: file for file in FILES})
        return
    users = {IDENTITY: USERS_PRIVATE, PUBLIC: USERS_PUBLIC, AUTHORIZED: USERS_PUBLIC}
    yield items(name, {file: file for file in FILES if file not in users})
    yield items(arguments.ssh_key_secret, users)


def _check_arguments(crew: Crew, arguments: SshArguments, path: Path) -> Iterator[Cause | Notice]:
    """Yield the faults of the arguments themselves."""
    for flag, value in (
        ("--ssh-private-key", arguments.ssh_private_key),
        ("--ssh-public-key", arguments.ssh_public_key),
    ):
        if value is not None:
            yield Forbidden(
                path,
                f"{flag}: everyone who can read the job could read the key. Put both keys into a Secret with "
                "kubectl create secret generic <name> --type=kubernetes.io/ssh-auth "
                f"--from-file={USERS_PRIVATE}=<file> --from-file={USERS_PUBLIC}=<file>.pub, and set "
                "--ssh-key-secret=<name>",
                value,
            )
    if arguments.ssh_key_secret == secret_name(crew):
        text = "reserved for the Secret that is created for the job: use another name"
        yield Invalid(path, arguments.ssh_key_secret, f"--ssh-key-secret: {text}")
    if arguments.no_root:
        yield Notice(
            path, "ssh no longer has the flag --no-root: set the directory of the keys with --ssh-key-file-path"
        )


KeyType: TypeAlias = Literal["ed25519", "rsa"]

#: Size of an RSA key, in bits: nearly as strong as Ed25519 (NIST SP 800-57: 128 bits of security).
RSA_BITS = 3072


def new_pair(key_type: KeyType) -> tuple[str, str]:
    """Return a new private key as PEM without a passphrase, and its public key as in `authorized_keys`: type and key.

    An RSA key takes up to a second. Its format is PKCS #1, as with Volcano, for programs that are too old for Ed25519.
    """
    # Imported here because checking jobs does not need cryptography.
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa  # noqa: PLC0415

    key: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey
    if key_type == "rsa":
        key = rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)
        form = serialization.PrivateFormat.TraditionalOpenSSL
    else:
        key = ed25519.Ed25519PrivateKey.generate()
        form = serialization.PrivateFormat.OpenSSH
    private = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode()

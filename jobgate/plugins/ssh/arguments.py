"""The arguments of the plugin `ssh`: Volcano's flags, and others instead of its flags for plain keys."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from jobgate.names import dns_subdomain
from jobgate.plugins.arguments import Arguments, Takes

#: Maximum length of the folder, in characters: every container contains it several times.
PATH_LIMIT = 255

#: A path is written into OpenSSH's configuration, where blanks, quotes, `%`, `$`, `#` and `~` are special, and into a
#: mount, where `:` is.
_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+/?\Z")

#: System folders, which are not home directories, and folders of the kernel, in which nothing can be mounted.
_SYSTEM = frozenset(
    f"/{name}" for name in ("bin", "boot", "etc", "home", "lib", "lib32", "lib64", "run", "sbin", "tmp", "usr", "var")
)
_KERNEL = ("/dev/", "/proc/", "/sys/")

_PORT = re.compile(r"[1-9][0-9]{0,4}\Z")


def _folder(written: Any) -> str:
    if not isinstance(written, str) or len(written) > PATH_LIMIT or not _PATH.match(written):
        raise ValueError("no path")
    folder = written.rstrip("/")
    if not {".", ".."}.isdisjoint(folder.split("/")) or folder in _SYSTEM or f"{folder}/".startswith(_KERNEL):
        raise ValueError("no folder of keys")
    return folder


def _port(written: Any) -> int:
    # Volcano uses the default if it cannot parse the port, and parses 022 as 18.
    text = str(written) if type(written) is int else written
    if not isinstance(text, str) or not _PORT.match(text) or int(text) > 65535:
        raise ValueError("no port")
    return int(text)


def _secret(written: Any) -> str:
    if not isinstance(written, str) or dns_subdomain(written):
        raise ValueError("no name of a Secret")
    return written


def _hidden(_: Any) -> str:
    """Keep only that a value was given, because it is secret."""
    return "given"


class SshArguments(Arguments):
    """The folder and type of the keys, the port of sshd, and a Secret with the user's own keys."""

    ssh_key_file_path: Annotated[
        str,
        BeforeValidator(_folder),
        Takes(
            f"an absolute path such as /home/me/.ssh, not a system directory, with at most {PATH_LIMIT} "
            "characters (letters, digits, '.', '_', '-' and '/') and without '.' and '..' as elements"
        ),
    ] = "/root/.ssh"
    ssh_port: Annotated[int, BeforeValidator(_port), Takes("a port number from 1 to 65535")] = 22
    ssh_key_type: Annotated[Literal["ed25519", "rsa"], Takes("ed25519, or rsa for an old OpenSSH or for FIPS mode")] = (
        "ed25519"
    )
    ssh_key_secret: Annotated[
        str | None,
        BeforeValidator(_secret),
        Takes("the name of a Secret in the job's namespace with the keys ssh-privatekey and ssh-publickey"),
    ] = None
    ssh_private_key: Annotated[str | None, BeforeValidator(_hidden), Takes(offered=False)] = None
    ssh_public_key: Annotated[str | None, BeforeValidator(_hidden), Takes(offered=False)] = None
    no_root: Annotated[bool, Takes(offered=False)] = False

    @property
    def folder(self) -> str:
        """The folder of the keys, without a slash at its end."""
        return self.ssh_key_file_path

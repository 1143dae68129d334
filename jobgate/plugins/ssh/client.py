"""The configuration of OpenSSH clients for the hosts of a job, and its `known_hosts`.

Hosts are patterns, not lists: files that are mounted one by one are never refreshed, so a list would be wrong in
running pods when the job is scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jobgate.names import dns_label
from jobgate.plugins.crew import Crew
from jobgate.plugins.ssh.arguments import SshArguments

IDENTITY = "id_rsa"
KNOWN_HOSTS = "known_hosts"

#: The port that `known_hosts` need not name.
_SSH_PORT = 22


class Hosts(NamedTuple):
    """Patterns of the names of pods: the short name, and those that resolve, from `<hostname>.<subdomain>` on."""

    alias: str
    subdomain: str
    qualified: tuple[str, ...]


def hosts_of(crew: Crew) -> Iterator[Hosts]:
    """Yield patterns of the names of all pods of a job, those with a fixed name first.

    The usual names are one pattern, for it holds for tasks too that are still to come; where pods are not named after
    their job, `*` would be any host. An invalid name is omitted, because it would be a line of OpenSSH's configuration.
    """
    parts = [part for part in crew.parts if "*" not in part.name + part.hostname]
    fixed = [
        (part.hostname or _pods(crew, part.name), part.subdomain or crew.service)
        for part in parts
        if part.hostname or part.subdomain
    ]
    tasks = ["*"] if crew.name and crew.pod.startswith(crew.name) else [part.name for part in parts]
    usual = [(_pods(crew, task), crew.service) for task in tasks]
    for host, subdomain in dict.fromkeys((*fixed, *usual)):
        if not dns_label(host.replace("*", "0")) and not dns_label(subdomain):
            found = f"{host}.{subdomain}"
            here = f"{found}.{crew.namespace}"
            names = dict.fromkeys((found, here, f"{here}.svc", f"{here}.{crew.domain}"))
            yield Hosts(host, subdomain, tuple(names))


def config(crew: Crew, arguments: SshArguments) -> str:
    """Return the client's configuration: short names resolve, host checking is on, and the key is the job's."""
    options = (
        f"Port {arguments.ssh_port}",
        f"IdentityFile {arguments.folder}/{IDENTITY}",
        "IdentitiesOnly yes",
        "StrictHostKeyChecking yes",
        f"UserKnownHostsFile {arguments.folder}/{KNOWN_HOSTS}",
        # Addresses are those of pods, which another pod may have next. OpenSSH of before 8.5 would remember them.
        "CheckHostIP no",
    )
    blocks: list[tuple[str, ...]] = []
    for hosts in hosts_of(crew):
        # The first value that OpenSSH finds for an option holds.
        blocks.append((f"Host {hosts.alias} !*.*", f"HostName %h.{hosts.subdomain}", *options))
        blocks.append((f"Host {' '.join(hosts.qualified)}", *options))
    return "\n\n".join("\n    ".join(block) for block in blocks) + "\n"


def known_hosts(crew: Crew, arguments: SshArguments, public: str) -> str:
    """Return the lines of `known_hosts` for the names of the job's pods, all of which have one host key.

    The key is found without the port too, in case that sshd listens on another.
    """
    port = arguments.ssh_port
    lines = []
    for hosts in hosts_of(crew):
        with_port = [f"[{name}]:{port}" for name in hosts.qualified] if port != _SSH_PORT else []
        lines.append(f"{','.join((*with_port, *hosts.qualified))} {public}\n")
    return "".join(lines)


def _pods(crew: Crew, task: str) -> str:
    return crew.pod.replace("{task}", task).replace("{index}", "*")

"""The configuration of OpenSSH clients for the hosts of a job, and its `known_hosts`.

Hosts are patterns, not lists: the kubelet never refreshes files that are mounted one by one, so running pods would
keep an old list when the job is scaled.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from jobgate.names import dns_label
from jobgate.plugins.crew import Crew
from jobgate.plugins.ssh.arguments import SshArguments

IDENTITY = "id_rsa"
KNOWN_HOSTS = "known_hosts"

#: The default port, which `known_hosts` does not contain.
_SSH_PORT = 22


class Hosts(Struct, frozen=True):
    """Patterns of the names of pods: the host name, and the names in DNS, from `<hostname>.<subdomain>` on."""

    alias: str
    subdomain: str
    qualified: tuple[str, ...]


def hosts_of(crew: Crew) -> Iterator[Hosts]:
    """Yield patterns of the names of all pods of a job, fixed names first.

    If pods are named after their job, one pattern covers all tasks, including future ones; otherwise such a pattern
    would match any host. Invalid names are omitted, because they could inject lines into OpenSSH's configuration.
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
            local = f"{host}.{subdomain}"
            qualified = f"{local}.{crew.namespace}"
            names = dict.fromkeys((local, qualified, f"{qualified}.svc", f"{qualified}.{crew.domain}"))
            yield Hosts(host, subdomain, tuple(names))


def config(crew: Crew, arguments: SshArguments) -> str:
    """Return the client's configuration: it resolves short names, checks host keys, and uses the job's key."""
    options = (
        f"Port {arguments.ssh_port}",
        f"IdentityFile {arguments.folder}/{IDENTITY}",
        "IdentitiesOnly yes",
        "StrictHostKeyChecking yes",
        f"UserKnownHostsFile {arguments.folder}/{KNOWN_HOSTS}",
        # Another pod may reuse an address. OpenSSH before 8.5 would remember it.
        "CheckHostIP no",
    )
    blocks: list[tuple[str, ...]] = []
    for hosts in hosts_of(crew):
        # OpenSSH uses the first value of an option.
        blocks.append((f"Host {hosts.alias} !*.*", f"HostName %h.{hosts.subdomain}", *options))
        blocks.append((f"Host {' '.join(hosts.qualified)}", *options))
    return "\n\n".join("\n    ".join(block) for block in blocks) + "\n"


def known_hosts(crew: Crew, arguments: SshArguments, public: str) -> str:
    """Return the lines of `known_hosts` for the names of the job's pods, which share one host key.

    Each name is listed with and without the port, in case sshd listens on the default port.
    """
    port = arguments.ssh_port
    lines = []
    for hosts in hosts_of(crew):
        with_port = [f"[{name}]:{port}" for name in hosts.qualified] if port != _SSH_PORT else []
        lines.append(f"{','.join((*with_port, *hosts.qualified))} {public}\n")
    return "".join(lines)


def _pods(crew: Crew, task: str) -> str:
    return crew.pod.replace("{task}", task).replace("{index}", "*")

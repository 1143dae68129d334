"""The configuration of OpenSSH clients for the hosts of a job, and its `known_hosts`.

Hosts are patterns, not lists: files that are mounted one by one are never refreshed, so a list would be wrong in
running pods when the job is scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from jobgate.names import dns_label
from jobgate.plugins.crew import Crew, Part
from jobgate.plugins.ssh.arguments import SshArguments

IDENTITY = "id_rsa"
KNOWN_HOSTS = "known_hosts"

#: The port that `known_hosts` need not tell.
_SSH_PORT = 22


class Hosts(NamedTuple):
    """Patterns of the names of pods: the short name, and those that resolve, from `<hostname>.<subdomain>` on."""

    alias: str
    qualified: tuple[str, ...]


def hosts_of(crew: Crew) -> Iterator[Hosts]:
    """Yield patterns of the names of all pods of a job, those with a fixed name first.

    An invalid name is omitted, because it would be a line of OpenSSH's configuration.
    """
    seen = set()
    for host, subdomain in (*_fixed(crew), *_usual(crew)):
        if (host, subdomain) in seen or dns_label(host.replace("*", "0")) or dns_label(subdomain):
            continue
        seen.add((host, subdomain))
        found = f"{host}.{subdomain}"
        here = f"{found}.{crew.namespace}"
        yield Hosts(host, tuple(dict.fromkeys((found, here, f"{here}.svc", f"{here}.{crew.domain}"))))


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
        blocks.append((f"Host {hosts.alias} !*.*", f"HostName %h.{_subdomain(hosts)}", *options))
        blocks.append((f"Host {' '.join(hosts.qualified)}", *options))
    return "\n\n".join("\n    ".join(block) for block in blocks) + "\n"


def known_hosts(crew: Crew, arguments: SshArguments, public: str) -> str:
    """Return the line of `known_hosts` for each sort of names of the job's pods, all of which have one host key."""
    return "".join(f"{','.join(_known(hosts, arguments.ssh_port))} {public}\n" for hosts in hosts_of(crew))


def _known(hosts: Hosts, port: int) -> Iterator[str]:
    """Yield the names that a host key is looked up by; without the port too, in case that sshd listens on another."""
    if port != _SSH_PORT:
        yield from (f"[{name}]:{port}" for name in hosts.qualified)
    yield from hosts.qualified


def _subdomain(hosts: Hosts) -> str:
    return hosts.qualified[0].removeprefix(f"{hosts.alias}.")


def _fixed(crew: Crew) -> Iterator[tuple[str, str]]:
    """Yield host and subdomain of the tasks whose template fixes one of them."""
    for part in _sound(crew):
        if part.hostname or part.subdomain:
            yield part.hostname or _pods(crew, part.name), part.subdomain or crew.service


def _usual(crew: Crew) -> Iterator[tuple[str, str]]:
    """Yield host and subdomain of the others: in one pattern, for it holds for tasks too that are still to come.

    Where the pods are not called by their job, `*` would be any host.
    """
    tasks = ["*"] if crew.name and crew.pod.startswith(crew.name) else [part.name for part in _sound(crew)]
    for task in tasks:
        yield _pods(crew, task), crew.service


def _sound(crew: Crew) -> Iterator[Part]:
    """Yield the parts whose names are not patterns by themselves."""
    return (part for part in crew.parts if "*" not in part.name + part.hostname)


def _pods(crew: Crew, task: str) -> str:
    return crew.pod.replace("{task}", task).replace("{index}", "*")

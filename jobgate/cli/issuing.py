"""Options of all commands that issue certificates."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from certs import ServerNames

ISSUING = (
    click.option("--namespace", default="jobgate-system", show_default=True, help="Namespace of Service and Secret."),
    click.option("--secret-name", default="jobgate-webhook-tls", show_default=True, help="Name of the Secret."),
    click.option("--service", default="jobgate-webhook", show_default=True, help="Service that API servers call."),
    click.option(
        "--cluster-domain", default="svc.cluster.local", show_default=True, help="DNS domain of the cluster's Services."
    ),
    click.option(
        "--extra-name",
        "names",
        multiple=True,
        metavar="NAME",
        help="Additional DNS name or IP address of the server; repeatable.",
    ),
    click.option(
        "--key-type",
        type=click.Choice(["p256", "p384", "rsa3072"]),
        default="p256",
        show_default=True,
        help="Type of new keys, for CA and server.",
    ),
    click.option(
        "--days",
        type=click.IntRange(1, 3650),  # the upper bound catches typing errors
        default=90,
        show_default=True,
        help="Lifetime of new certificates.",
    ),
)


def server_names(service: str, namespace: str, cluster_domain: str, names: tuple[str, ...]) -> ServerNames:
    """Return the names of a server certificate; `names` are DNS names and IP addresses.

    Raises:
        click.UsageError: a name is invalid.
    """
    from certs import InvalidNames, service_names

    addresses = tuple(name for name in names if _is_address(name))
    dns_names = tuple(name for name in names if name not in addresses)
    try:
        return service_names(
            service, namespace, cluster_domain=cluster_domain, dns_names=dns_names, ip_addresses=addresses
        )
    except InvalidNames as invalid:
        raise click.UsageError("\n".join(invalid.faults)) from invalid


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True

"""`jobgate control`: the companion controller."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from pathlib import Path

import click

from jobgate.cli.settings import Told, setting, wiring
from jobgate.kinds.common.wiring import wired
from jobgate.names import dns_subdomain

#: Where a pod reads which namespace it is in.
_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@click.command()
@setting(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="/healthz, /readyz and /metrics, over plain HTTP.",
)
@setting("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="The address to listen on.")  # noqa: S104
@setting(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Credentials for the cluster, in the place of the pod's own.",
)
@setting("--lease-namespace", metavar="NAMESPACE", help="Where the Lease is.  [default: the pod's namespace]")
@setting("--lease-name", default="jobgate-controller", show_default=True, help="Of many with one Lease, one works.")
@wiring
@setting(
    "--requests-per-second",
    type=click.FloatRange(1, 1000),
    default=50,
    show_default=True,
    help="How often the API server is called at most, beside watching.",
)
def control(
    *,
    health_port: int,
    bind: str,
    kubeconfig: Path | None,
    lease_namespace: str | None,
    lease_name: str,
    requests_per_second: float,
    told: Told,
) -> None:
    """Make the objects that jobs' plugins declare, and keep them so, until SIGTERM or Ctrl-C."""
    try:
        from jobgate.cli.controlling import control_until
        from jobgate.cli.leading import Place
        from jobgate.controller import Settings
        from webhook.server import log
    except ImportError as error:
        raise click.ClickException(f"{error.name} is missing: pip install 'jobgate[server,cluster]'") from None

    log.configure()
    if fault := dns_subdomain(lease_name):
        raise click.BadParameter(fault, param_hint="--lease-name")
    place = Place(
        bind=bind,
        health_port=health_port,
        namespace=lease_namespace or _own_namespace(),
        lease=lease_name,
        # Another after each start: what an earlier process held is not ours.
        identity=f"{socket.gethostname()}_{os.getpid()}_{secrets.token_hex(4)}",
    )
    settings = Settings(told.settings.domain, requests_per_second, plugins=told.settings.plugins)
    try:
        asyncio.run(control_until(wired(told.kinds), kubeconfig, place, settings))
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}, port {health_port}: {error}") from None


def _own_namespace() -> str:
    """Return the namespace of the pod that this runs in.

    Raises:
        click.UsageError: it runs in none.
    """
    try:
        return _NAMESPACE.read_text(encoding="utf-8").strip()
    except OSError:
        raise click.UsageError("outside a pod, --lease-namespace says where the Lease is") from None

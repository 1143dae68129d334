"""`jobgate control`: the companion controller."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from jobgate.cli.pod import identity, own_namespace
from jobgate.cli.settings import Told, setting, wiring
from jobgate.kinds.common.wiring import wired
from jobgate.names import dns_subdomain


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
    from jobgate.cli.controlling import control_until
    from jobgate.cli.leading import Place
    from jobgate.controller import Settings
    from webhook.server import log

    log.configure()
    if fault := dns_subdomain(lease_name):
        raise click.BadParameter(fault, param_hint="--lease-name")
    namespace = lease_namespace or own_namespace()
    if namespace is None:
        raise click.UsageError("outside a pod, --lease-namespace says where the Lease is")
    place = Place(
        bind=bind,
        health_port=health_port,
        namespace=namespace,
        lease=lease_name,
        identity=identity(),
    )
    settings = Settings(told.settings.domain, requests_per_second, plugins=told.settings.plugins, namespace=namespace)
    try:
        asyncio.run(control_until(wired(told.kinds), kubeconfig, place, settings))
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}, port {health_port}: {error}") from None

"""`jobgate control`: the companion controller."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from jobgate.cli.pod import identity, own_namespace
from jobgate.cli.settings import Configured, setting, wiring
from jobgate.kinds.common.wiring import wired
from jobgate.names import dns_subdomain


@click.command()
@setting(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port for /healthz, /readyz and /metrics, over plain HTTP.",
)
@setting("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="Address to listen on.")  # noqa: S104
@setting(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Kubeconfig file to use instead of the pod's service account.",
)
@setting("--lease-namespace", metavar="NAMESPACE", help="Namespace of the Lease.  [default: the pod's namespace]")
@setting("--lease-name", default="jobgate-controller", show_default=True, help="Lease used for leader election.")
@wiring
@setting(
    "--requests-per-second",
    type=click.FloatRange(1, 1000),
    default=50,
    show_default=True,
    help="Maximum rate of requests to the API server, not counting watches.",
)
def control(
    *,
    health_port: int,
    bind: str,
    kubeconfig: Path | None,
    lease_namespace: str | None,
    lease_name: str,
    requests_per_second: float,
    configured: Configured,
) -> None:
    """Run the companion controller: create and maintain the objects that plugins of jobs declare."""
    from jobgate.cli.controlling import control_until
    from jobgate.controller import Settings
    from jobgate.serving.leader import Place
    from webhook.server import log

    log.configure()
    if fault := dns_subdomain(lease_name):
        raise click.BadParameter(fault, param_hint="--lease-name")
    namespace = lease_namespace or own_namespace()
    if namespace is None:
        raise click.UsageError("--lease-namespace is required outside a pod")
    place = Place(
        bind=bind,
        health_port=health_port,
        namespace=namespace,
        lease=lease_name,
        identity=identity(),
    )
    settings = Settings(
        configured.settings.domain, requests_per_second, plugins=configured.settings.plugins, namespace=namespace
    )
    try:
        asyncio.run(control_until(wired(configured.kinds), kubeconfig, place, settings))
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}:{health_port}: {error}") from None

"""`jobgate certs rotate`, `watch` and `status`: rotation of certificates."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jobgate.cli.cluster import ADDRESSES, KUBECONFIG, OUTPUT, connect, grouped, listening, require_dns_name

if TYPE_CHECKING:
    from certs import RotationSettings, ServerNames, Step
    from jobgate.cluster.bundles import RotationScope
    from jobgate.cluster.client import Client

T = TypeVar("T")

#: Options of all commands that issue certificates.
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

    try:
        return service_names(service, namespace, cluster_domain=cluster_domain, extra_names=names)
    except InvalidNames as invalid:
        raise click.UsageError("\n".join(invalid.faults)) from invalid


def _scope(  # noqa: PLR0913 - one argument an option
    *,
    namespace: str,
    secret_name: str,
    service: str,
    configuration: str,
    crds: tuple[str, ...],
    crd_selector: str,
    cluster_domain: str,
    names: tuple[str, ...],
    key_type: str,
    days: int,
    soak: float,
    addresses: tuple[tuple[str, int], ...],
) -> dict[str, Any]:
    from certs import KeyType, RotationSettings
    from jobgate.cluster.bundles import RotationScope

    settings = RotationSettings(
        names=server_names(service, namespace, cluster_domain, names),
        key_type=KeyType(key_type),
        lifetime=timedelta(days=days),
        soak=timedelta(seconds=soak),
    )
    scope = RotationScope(namespace, service, configuration, secret_name, crds, crd_selector, addresses)
    return {"scope": scope, "settings": settings}


#: Add the common options, which the command receives as `scope`, `settings` and `kubeconfig`.
_rotated = grouped(
    _scope,
    *ISSUING,
    click.option("--configuration", default="jobgate", show_default=True, help="Name of the webhook configurations."),
    click.option("--crd", "crds", multiple=True, metavar="NAME", help="CRD with a conversion webhook; repeatable."),
    click.option("--crd-selector", default="", metavar="LABELS", help="Label selector of CRDs, in addition to --crd."),
    click.option(
        "--soak",
        type=click.FloatRange(0, 86400),
        default=300,
        show_default=True,
        metavar="SECONDS",
        help="Time that API servers get to load a new CA before its certificate is served.",
    ),
    ADDRESSES,
    KUBECONFIG,
)


@click.command(short_help="Make the rotation steps that are due.")
@_rotated
@click.option("--force", is_flag=True, help="Rotate now, even if not due.")
@click.option(
    "--revoke",
    is_flag=True,
    help="Rotate now, and stop trusting former CAs once all servers serve the new certificate.",
)
@click.option(
    "--wait",
    "patience",
    type=click.FloatRange(0, 86400),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Maximum total time to wait for the next step. Run the command again to continue.",
)
def rotate(
    *,
    scope: RotationScope,
    settings: RotationSettings,
    kubeconfig: Path | None,
    force: bool,
    revoke: bool,
    patience: float,
) -> None:
    """Make the steps of the rotation that are due, and print the next one.

    Safe to run at any time, in parallel, and to interrupt. Exit status: 0 if nothing is left to do or only waiting is,
    1 if something must be fixed first.
    """
    from dataclasses import replace

    from certs import Blocked, Wait
    from jobgate.serving.rotation import rotate_once, sentence

    def printed(step: Step) -> None:
        if not isinstance(step, Wait | Blocked):
            click.echo(sentence(step))

    settings = replace(settings, revoke=revoke)

    async def work(client: Client) -> Wait | Blocked:
        limit = timedelta(seconds=patience)
        return await rotate_once(client, scope, settings, limit, now=force or revoke, on_step=printed)

    end = _run(kubeconfig, work)
    if isinstance(end, Blocked):
        raise click.ClickException("\n".join(end.reasons))
    click.echo(sentence(end))
    if end.overdue:
        raise click.exceptions.Exit(1)


def _run(kubeconfig: Path | None, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run something with a client."""
    from certs import Conflict, Refusal, Unavailable

    async def connected() -> T:
        async with await connect(kubeconfig) as client:
            try:
                return await work(client)
            except (Conflict, Refusal, Unavailable) as error:
                raise click.ClickException(str(error)) from error

    return asyncio.run(connected())


@click.command(short_help="Rotate until stopped.")
@_rotated
@click.option(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port for /healthz, /readyz and /metrics, over plain HTTP.",
)
@click.option("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="Address to listen on.")  # noqa: S104
@click.option(
    "--lease-name",
    default="jobgate-certificates",
    show_default=True,
    callback=require_dns_name,
    help="Lease used for leader election.",
)
def watch(
    *,
    scope: RotationScope,
    settings: RotationSettings,
    kubeconfig: Path | None,
    health_port: int,
    bind: str,
    lease_name: str,
) -> None:
    """Rotate certificates and maintain CA bundles, until SIGTERM or Ctrl-C.

    A bundle that another client overwrites is restored within seconds.
    """
    from jobgate.serving.leader import LeaderSettings
    from jobgate.serving.rotation import keep
    from webhook.server import log

    log.configure()
    leader = LeaderSettings(bind, health_port, scope.namespace, lease_name)
    with listening(f"{bind}:{health_port}"):
        _run(kubeconfig, lambda client: keep(client, scope, settings, leader))


@click.command(short_help="Show the state of the certificates.")
@_rotated
@OUTPUT
def status(*, scope: RotationScope, settings: RotationSettings, kubeconfig: Path | None, output: str) -> None:
    """Show generation, expiry, trusted and served certificates, and the next step.

    Changes nothing. Exit status: 0 if there is no problem, 1 if there is one.
    """
    from jobgate.serving.rotation import status_of

    report = _run(kubeconfig, lambda client: status_of(client, scope, settings))
    click.echo(json.dumps(report, indent=2) if output == "json" else _text(report))
    if report["problems"]:
        raise click.exceptions.Exit(1)


def _text(report: Mapping[str, Any]) -> str:
    generation = "none" if report["generation"] is None else str(report["generation"])
    lines = [f"generation  {generation}" + (f", {report['staged']} staged" if report["staged"] is not None else "")]
    if report["notAfter"] is not None:
        lines.append(f"expires     {report['notAfter']}, renewal due {report['renewal']}")
    for target in report["targets"]:
        trusts = ", ".join(map(str, target["trustsGenerations"])) or "none"
        foreign = f", {target['foreignCAs']} other CAs" if target["foreignCAs"] else ""
        lines.append(f"target      {target['name']}: {target['entries']} entries trust generations {trusts}{foreign}")
    lines += [
        f"server      {server['address']}: " + (server["fault"] or f"serves generation {server['generation']}")
        for server in report["served"]
    ]
    lines += [f"next        {report['next']['step']}: {report['next']['why']}"]
    lines += [f"problem     {problem}" for problem in report["problems"]]
    return "\n".join(lines)

"""`jobgate certs rotate`, `watch` and `status`: the commands around the rotation of certificates."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from jobgate.cli.address import ADDRESS
from jobgate.cli.pod import identity
from jobgate.names import dns_subdomain

if TYPE_CHECKING:
    from certs import Report, ServerNames, Settings
    from jobgate.cli.rotating import Installation

F = TypeVar("F", bound=Callable[..., Any])

# Longer than any certificate should hold; a typing error beyond.
_MOST_DAYS = 3650


_OPTIONS = (
    click.option("--namespace", default="jobgate-system", show_default=True, help="Of the Secret and the Service."),
    click.option("--secret-name", default="jobgate-webhook-tls", show_default=True, help="Holds the certificates."),
    click.option("--service", default="jobgate-webhook", show_default=True, help="Service that API servers call."),
    click.option("--configuration", default="jobgate", show_default=True, help="Both webhook configurations' name."),
    click.option("--crd", "crds", multiple=True, metavar="NAME", help="A CRD with a conversion webhook; repeatable."),
    click.option("--crd-selector", default="", metavar="LABELS", help="Label selector of more of such CRDs."),
    click.option(
        "--cluster-domain", default="svc.cluster.local", show_default=True, help="The domain of the cluster's Services."
    ),
    click.option(
        "--extra-name",
        "extra_names",
        multiple=True,
        metavar="NAME",
        help="A further DNS name or IP address of the server; repeatable.",
    ),
    click.option(
        "--key-type",
        type=click.Choice(["p256", "p384", "rsa3072"]),
        default="p256",
        show_default=True,
        help="Kind of new keys, for CA and server.",
    ),
    click.option(
        "--days",
        type=click.IntRange(1, _MOST_DAYS),
        default=90,
        show_default=True,
        help="How long new certificates hold.",
    ),
    click.option(
        "--soak",
        type=click.FloatRange(0, 86400),
        default=300,
        show_default=True,
        metavar="SECONDS",
        help="How long all API servers get to learn of a new CA before it is used.",
    ),
    click.option(
        "--address",
        "addresses",
        multiple=True,
        type=ADDRESS,
        metavar="HOST:PORT",
        help="Who serves, in the place of the Service's endpoints; repeatable.",
    ),
    click.option(
        "--kubeconfig",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Credentials for the cluster, in the place of the pod's own.",
    ),
)


def _rotated(command: F) -> F:
    """Add the options in common; the command gets them as `installation` and `settings`."""

    @functools.wraps(command)
    def collected(  # noqa: PLR0913 - one argument an option
        *args: Any,
        namespace: str,
        secret_name: str,
        service: str,
        configuration: str,
        crds: tuple[str, ...],
        crd_selector: str,
        cluster_domain: str,
        extra_names: tuple[str, ...],
        key_type: str,
        days: int,
        soak: float,
        addresses: tuple[tuple[str, int], ...],
        kubeconfig: Path | None,
        **rest: Any,
    ) -> Any:
        from certs import KeyType, Settings
        from jobgate.cli.rotating import Installation
        from jobgate.cluster.bundles import Selection

        settings = Settings(
            names=_names(service, namespace, cluster_domain, extra_names),
            key_type=KeyType(key_type),
            lifetime=timedelta(days=days),
            soak=timedelta(seconds=soak),
        )
        selection = Selection(namespace, service, configuration, crds, crd_selector)
        installation = Installation(selection, secret_name, addresses, kubeconfig)
        return command(*args, installation=installation, settings=settings, **rest)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return cast("F", collected)


def _names(service: str, namespace: str, cluster_domain: str, extra: tuple[str, ...]) -> ServerNames:
    from certs import InvalidNames, service_names

    addresses = tuple(name for name in extra if _is_address(name))
    dns_names = tuple(name for name in extra if name not in addresses)
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


@click.command()
@_rotated
@click.option("--force", is_flag=True, help="Rotate now, due or not.")
@click.option("--revoke", is_flag=True, help="Rotate now, and trust no former CA once all servers serve the new one.")
@click.option(
    "--wait",
    "patience",
    type=click.FloatRange(0, 86400),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Sit out waits up to so long in all; what is left is for the next call.",
)
def rotate(*, installation: Installation, settings: Settings, force: bool, revoke: bool, patience: float) -> None:
    """Do what is due of the rotation, and say what is next.

    Safe to be called at any time, by anyone, by many at once, and to be killed. Ends with 0 where nothing is left to do
    or a wait is due, and with 1 where something must be mended first.
    """
    from dataclasses import replace

    from certs import Blocked
    from jobgate.cli.rotating import rotate_once, sentence

    settings = replace(settings, revoke=revoke)
    end = asyncio.run(
        rotate_once(installation, settings, timedelta(seconds=patience), now=force or revoke, say=_said_if_done)
    )
    if isinstance(end, Blocked):
        raise click.ClickException("\n".join(end.reasons))
    click.echo(sentence(end))
    if end.overdue:
        raise click.exceptions.Exit(1)


def _said_if_done(line: str) -> None:
    if not line.startswith(("next:", "blocked:")):
        click.echo(line)


@click.command()
@_rotated
@click.option(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="/healthz, /readyz and /metrics, over plain HTTP.",
)
@click.option("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="The address to listen on.")  # noqa: S104
@click.option(
    "--lease-name", default="jobgate-certificates", show_default=True, help="Of many with one Lease, one works."
)
def watch(*, installation: Installation, settings: Settings, health_port: int, bind: str, lease_name: str) -> None:
    """Keep certificates rotated and bundles whole, until SIGTERM or Ctrl-C.

    A bundle that something else overwrites is mended within seconds.
    """
    from jobgate.cli.leading import Place
    from jobgate.cli.rotating import keep
    from webhook.server import log

    log.configure()
    if fault := dns_subdomain(lease_name):
        raise click.BadParameter(fault, param_hint="--lease-name")
    place = Place(
        bind=bind,
        health_port=health_port,
        namespace=installation.selection.namespace,
        lease=lease_name,
        identity=identity(),
    )
    try:
        asyncio.run(keep(installation, settings, place))
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}, port {health_port}: {error}") from None


@click.command()
@_rotated
@click.option(
    "--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For people, or jq."
)
def status(*, installation: Installation, settings: Settings, output: str) -> None:
    """Show generation, expiry, who trusts and who serves what, and what is next; change nothing.

    Ends with 1 where something is wrong.
    """
    from jobgate.cli.rotating import status_of

    found = asyncio.run(status_of(installation, settings))
    click.echo(json.dumps(_document(found), indent=2) if output == "json" else _text(found))
    if found.problems:
        raise click.exceptions.Exit(1)


def _document(found: Report) -> dict[str, Any]:
    from certs.mark import issuing_number

    return {
        "generation": found.generation,
        "staged": found.staged,
        "notAfter": _time(found.validity.not_after if found.validity else None),
        "renewal": _time(found.renewal),
        "clockSkewSeconds": round(found.skew.total_seconds(), 1),
        "targets": [
            {
                "name": target.name,
                "entries": target.entries,
                "trustsGenerations": list(target.generations),
                "foreignCAs": target.foreign,
            }
            for target in found.targets
        ],
        "served": [
            {"address": one.address, "generation": issuing_number(one.leaf) if one.leaf else None, "fault": one.fault}
            for one in found.served
        ],
        "problems": list(found.problems),
        "next": {"step": type(found.next).__name__.lower(), "why": found.next.why},
    }


def _text(found: Report) -> str:
    document = _document(found)
    generation = "none" if found.generation is None else str(found.generation)
    lines = [f"generation  {generation}" + (f", and {found.staged} staged" if found.staged is not None else "")]
    if found.validity is not None:
        lines.append(f"ends        {document['notAfter']}, next due {document['renewal']}")
    for target in document["targets"]:
        trusts = ", ".join(map(str, target["trustsGenerations"])) or "none"
        foreign = f", and {target['foreignCAs']} CAs of others" if target["foreignCAs"] else ""
        lines.append(f"target      {target['name']}: {target['entries']} entries trust generations {trusts}{foreign}")
    lines += [
        f"server      {one['address']}: " + (one["fault"] or f"serves generation {one['generation']}")
        for one in document["served"]
    ]
    lines += [f"next        {document['next']['step']}: {found.next.why}"]
    lines += [f"wrong       {problem}" for problem in found.problems]
    return "\n".join(lines)


def _time(time: datetime | None) -> str | None:
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if time else None

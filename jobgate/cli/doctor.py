"""`jobgate doctor`: diagnose an installation in a cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from jobgate.cli.cluster import ADDRESSES, KUBECONFIG, OUTPUT, CannotRead, connect
from jobgate.cli.settings import installation_fields

if TYPE_CHECKING:
    from jobgate.doctor import ClusterSnapshot, Expected, FoundFault
    from jobgate.doctor.look import ServerAccess

_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}


@click.command()
@KUBECONFIG
@click.option("--name", help="Name of the installation.  [default: jobgate]")
@click.option(
    "--namespace", "-n", help="Namespace of the installation.  [default: read from the webhook configurations]"
)
@click.option(
    "--values",
    type=click.File("rb"),
    help="YAML file with values of the Helm chart. Values that are not set are read from the cluster.",
)
@ADDRESSES
@click.option(
    "--handshake-seconds",
    type=click.FloatRange(min=0.1, max=60),
    default=2.0,
    show_default=True,
    help="Timeout of a TLS handshake with a server.",
)
@OUTPUT
@click.pass_context
def doctor(
    context: click.Context,
    *,
    kubeconfig: Path | None,
    name: str | None,
    namespace: str | None,
    values: BinaryIO | None,
    addresses: tuple[tuple[str, int], ...],
    handshake_seconds: float,
    output: str,
) -> None:
    """Diagnose an installation: report what is wrong and how to fix it.

    Changes nothing. Checks that lack a permission or cannot reach a server are skipped and listed. Exit status: 0 if no
    fault was found, 1 if one was, 2 if the installation cannot be examined.
    """
    named = {key: value for key, value in (("name", name), ("namespace", namespace)) if value}
    given = installation_fields(values) | named
    from jobgate.doctor import diagnose, document_of
    from jobgate.doctor.look import ServerAccess

    servers = ServerAccess(kubeconfig is None, addresses, handshake_seconds)
    observed, expected = asyncio.run(_look(kubeconfig, given, servers))
    findings = diagnose(observed, expected)
    if output == "json":
        click.echo(json.dumps(document_of(findings, observed, expected), indent=2))
    else:
        _print(findings, observed, expected)
    context.exit(1 if any(finding.severity.is_fault for finding in findings) else 0)


async def _look(
    kubeconfig: Path | None, given: Mapping[str, Any], servers: ServerAccess
) -> tuple[ClusterSnapshot, Expected]:
    from jobgate.doctor.look import CannotDiagnose, look
    from jobgate.kinds import installed

    try:
        async with await connect(kubeconfig) as client:
            return await look(client, installed(), given, servers)
    except (click.ClickException, CannotDiagnose) as error:
        raise CannotRead(str(error)) from error


def _print(findings: Sequence[FoundFault], observed: ClusterSnapshot, expected: Expected) -> None:
    choices = expected.installation
    click.echo(
        f"{choices.name} in {choices.namespace}: service {choices.service}, failurePolicy {choices.failure_policy}, "
        f"mode {choices.mode}, rotation {choices.rotation}"
        + (f", served by {choices.external_name}" if expected.outside else "")
    )
    click.echo(f"kinds: {', '.join(kind.qualified_plural for kind in expected.kinds)}")
    for finding in findings:
        click.echo(f"\n{click.style(finding.severity, fg=_COLOURS[finding.severity])} {finding.id}: {finding.where}")
        click.echo(f"  {finding.what}")
        click.echo(f"  fix: {finding.fix}")
    unseen = observed.not_checked()
    if unseen:
        click.echo("\nnot checked:")
    for why, what in unseen.items():
        click.echo(f"  {', '.join(what)}: {why}")
    faults = sum(finding.severity.is_fault for finding in findings)
    count = f"{faults} {'fault' if faults == 1 else 'faults'}" if faults else "no faults"
    click.echo(f"\n{count} found{' in what was checked' if unseen else ''}")

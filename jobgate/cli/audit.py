"""`jobgate audit`: review objects that a cluster has stored, or those in files, with what the cluster has."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crdgen.reporting import count
from jobgate.cli.cluster import KUBECONFIG, OUTPUT, CannotRead, reached
from jobgate.cli.report import read_files
from jobgate.cli.settings import Configured, in_cluster, installation
from jobgate.configured.catalogue import Catalogued
from jobgate.offline.audit import Audited, ListedObjects, audit, audit_stored, by_rule, document_of
from webhook import Registry
from webhook.values import mapping

if TYPE_CHECKING:
    from jobgate.cluster.client import Client


_CRDS: Final = "customresourcedefinitions.v1.apiextensions.k8s.io"


@click.command("audit")
@click.argument("files", nargs=-1, metavar="[FILE]…")
@KUBECONFIG
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Review only this namespace; repeatable.")
@click.option("--warnings/--no-warnings", default=False, help="Also report warnings.")
@OUTPUT
@installation
@click.pass_context
def audit_command(
    context: click.Context,
    *,
    files: tuple[str, ...],
    kubeconfig: Path | None,
    namespaces: tuple[str, ...],
    warnings: bool,
    output: str,
    configured: Configured,
) -> None:
    """Review the objects that a cluster has stored, and report by object and rule what would be denied today.

    With FILES, their objects are reviewed instead, as if they were created in the cluster. Those without a namespace
    belong to the first of --namespace, or to default. Changes nothing. Exit status: 0 if no object would be denied,
    1 if one would be, 2 if objects cannot be listed or read.
    """
    manifests, broken = read_files(files)
    if broken:
        context.exit(2)
    given = [_named(manifest.object, (*namespaces, "default")[0]) for manifest in manifests]
    audits, missing = asyncio.run(_audit(kubeconfig, configured, given if files else None, warnings=warnings))
    audits = [audited for audited in audits if not namespaces or audited.namespace in namespaces]
    _print(audits, missing, output, warnings=warnings)
    context.exit(1 if any(audited.faults for audited in audits) else 0)


def _named(document: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return an object of a file with a name and a namespace."""
    metadata = document.get("metadata")
    return {**document, "metadata": {"name": "", "namespace": namespace, **mapping(metadata)}}


async def _audit(
    kubeconfig: Path | None, configured: Configured, given: Sequence[dict[str, Any]] | None, *, warnings: bool
) -> tuple[list[Audited], list[str]]:
    """Review given or all stored jobs; also return the kinds that the cluster does not serve."""
    async with reached(kubeconfig) as client:
        if given is None:
            denied = {kind.qualified_plural for kind in configured.kinds if kind.resource is None}
            kinds = in_cluster(configured.kinds, denied)
        else:
            listed_crds = await _looked_up(client, [_CRDS])
            names = listed_crds.names(_CRDS) if _CRDS in listed_crds else ()
            known = Catalogued(configured.kinds, {name: listed_crds.get(_CRDS, name) or {} for name in names})
            by_type = {_type(job): known.get(*_type(job)) for job in given}
            kinds = Registry(kind for kind in by_type.values() if kind)
            for version, name in (each for each, kind in by_type.items() if kind is None):
                click.echo(f"not reviewed: {name} of {version} is no known kind; describe it with --kinds", err=True)
        needed = {name for kind in kinds for name in (*kind.watches, *(kind.reads if warnings else ()))}
        objects = await _looked_up(client, needed)
        if given is not None:
            pairs = ((by_type[_type(job)], job) for job in given)
            return [audit(kind, job, kinds, configured.settings, objects) for kind, job in pairs if kind], []
        audits, missing, faults = await audit_stored(client, kinds, kinds, configured.settings, objects)
        if faults:
            raise CannotRead("; ".join(f"{resource} cannot be listed: {fault}" for resource, fault in faults.items()))
    return audits, missing


def _type(job: Mapping[str, Any]) -> tuple[str, str]:
    return str(job.get("apiVersion")), str(job.get("kind"))


async def _looked_up(client: Client, resources: Iterable[str]) -> ListedObjects:
    """Return objects that rules look up, without the resources that may not be listed: rules skip those."""
    objects, faults = await ListedObjects.read(client, resources)
    for resource, fault in faults.items():
        click.echo(f"warning: {resource.rstrip('.')} cannot be listed: {fault}", err=True)
    return objects


def _print(audits: Sequence[Audited], missing: Sequence[str], output: str, *, warnings: bool) -> None:
    if output == "json":
        click.echo(json.dumps(document_of(audits, missing), indent=2))
        return
    for audited in audits:
        title = f"{audited.kind} {audited.namespace}/{audited.name}"
        if audited.faults:
            click.echo(f"{title}: would be denied")
        elif warnings and audited.notices:
            click.echo(f"{title}: has warnings")
        for rule, cause in audited.faults:
            click.echo(f"  * {cause} [{rule}]")
        for notice in audited.notices if warnings else ():
            click.echo(f"  warning: {notice}")
    for rule, number in by_rule(audits).items():
        click.echo(f"{rule}: {count(number, 'object')}")
    faulty = sum(bool(audited.faults) for audited in audits)
    click.echo(f"{count(len(audits), 'object')}, {faulty} would be denied")
    for kind in missing:
        click.echo(f"not installed: {kind}", err=True)

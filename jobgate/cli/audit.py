"""`jobgate audit`: review the jobs that a cluster has stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jobgate.cli.cluster import KUBECONFIG, OUTPUT, CannotRead, listed, reached
from jobgate.cli.settings import Configured, in_cluster, installation
from jobgate.jobs.kind import JobKind
from jobgate.offline.audit import Audited, audit, by_rule
from webhook import Registry

if TYPE_CHECKING:
    from jobgate.cluster.client import Client


class ListedObjects:
    """The listed objects of a cluster, by resource. Implements `webhook.Objects`."""

    def __init__(self, lists: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        self._objects = {
            resource: {(item["metadata"].get("namespace", ""), item["metadata"]["name"]): item for item in objects}
            for resource, objects in lists.items()
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None if it does not exist.

        Raises:
            LookupError: the resource was not listed.
        """
        return self._objects[resource].get((namespace, name))

    def __contains__(self, resource: object) -> bool:
        return resource in self._objects

    def names(self, resource: str, namespace: str = "") -> list[str]:
        """Return the names of the objects in a namespace; raises LookupError if the resource was not listed."""
        return [name for of, name in self._objects[resource] if of == namespace]


@click.command("audit")
@KUBECONFIG
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Review only jobs in this namespace; repeatable.")
@click.option("--warnings/--no-warnings", default=False, help="Also report warnings.")
@OUTPUT
@installation
@click.pass_context
def audit_command(
    context: click.Context,
    *,
    kubeconfig: Path | None,
    namespaces: tuple[str, ...],
    warnings: bool,
    output: str,
    configured: Configured,
) -> None:
    """Review the jobs that a cluster has stored, and report by job and rule what would be denied today.

    Changes nothing. Exit status: 0 if no job would be denied, 1 if one would be, 2 if jobs cannot be listed.
    """
    audits, missing = asyncio.run(_audit(kubeconfig, configured, warnings=warnings))
    audits = [audited for audited in audits if not namespaces or audited.namespace in namespaces]
    _print(audits, missing, output, warnings=warnings)
    context.exit(1 if any(audited.faults for audited in audits) else 0)


async def _audit(kubeconfig: Path | None, configured: Configured, *, warnings: bool) -> tuple[list[Audited], list[str]]:
    """Review all stored jobs; also return the kinds that the cluster does not serve."""
    async with reached(kubeconfig) as client:
        kinds = in_cluster(
            configured.kinds, {kind.qualified_plural for kind in configured.kinds if kind.resource is None}
        )
        objects = await _looked_up(client, kinds, reads=warnings)
        audits: list[Audited] = []
        missing: list[str] = []
        for kind in kinds:
            jobs = await listed(client, f"{kind.plural}.{kind.version}.{kind.group}")
            if jobs is None:
                missing.append(kind.qualified_plural)
            # Items of a list may lack these.
            typed = {"apiVersion": kind.gvk.api_version, "kind": kind.kind}
            documents = ({**typed, **job} for job in jobs or ())
            audits += [audit(kind, document, kinds, configured.settings, objects) for document in documents]
    return audits, missing


async def _looked_up(client: Client, kinds: Registry[JobKind], *, reads: bool) -> ListedObjects:
    """Return the objects that rules look up, without the resources that may not be listed: rules skip those.

    `reads` adds the resources that only warnings are about.
    """
    lists = {}
    for watched in sorted({name for kind in kinds for name in (*kind.watches, *(kind.reads if reads else ()))}):
        try:
            if (items := await listed(client, watched)) is not None:
                lists[watched] = items
        except CannotRead as error:
            click.echo(f"warning: {error}", err=True)
    return ListedObjects(lists)


def _print(audits: Sequence[Audited], missing: Sequence[str], output: str, *, warnings: bool) -> None:
    if output == "json":
        click.echo(json.dumps(_document(audits, missing), indent=2))
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
    for rule, jobs in by_rule(audits).items():
        click.echo(f"{rule}: {jobs} {'job' if jobs == 1 else 'jobs'}")
    faulty = sum(bool(audited.faults) for audited in audits)
    click.echo(f"{len(audits)} jobs, {faulty} would be denied")
    for kind in missing:
        click.echo(f"not installed: {kind}", err=True)


def _document(audits: Sequence[Audited], missing: Sequence[str]) -> dict[str, Any]:
    return {
        "jobs": [
            {
                "kind": audited.kind,
                "namespace": audited.namespace,
                "name": audited.name,
                "faults": [{"rule": rule, **cause.to_status()} for rule, cause in audited.faults],
                "warnings": [str(notice) for notice in audited.notices],
            }
            for audited in audits
        ],
        "rules": by_rule(audits),
        "notInstalled": list(missing),
    }

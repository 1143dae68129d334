"""`jobgate audit`: review the jobs that a cluster has stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jobgate.cli.cluster import KUBECONFIG, OUTPUT, CannotRead, listed, reached
from jobgate.cli.settings import Configured, installation
from jobgate.jobs.kind import JobKind
from jobgate.offline.audit import Audited, audit, by_rule
from webhook import Registry

if TYPE_CHECKING:
    from jobgate.cluster.client import Client


class ListedObjects:
    """The objects of a cluster, by resource, as they were listed. Implements `webhook.Objects`."""

    def __init__(self, lists: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        self._objects = {
            resource: {(one["metadata"].get("namespace", ""), one["metadata"]["name"]): one for one in objects}
            for resource, objects in lists.items()
        }

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None if it does not exist.

        Raises:
            LookupError: the resource was not listed.
        """
        return self._objects[resource].get((namespace, name))


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
    found, missing = asyncio.run(_audit(kubeconfig, configured))
    found = [one for one in found if not namespaces or one.namespace in namespaces]
    _print(found, missing, output, warnings=warnings)
    context.exit(1 if any(one.faults for one in found) else 0)


async def _audit(kubeconfig: Path | None, configured: Configured) -> tuple[list[Audited], list[str]]:
    """Return the findings of each job, and the kinds that the cluster does not serve."""
    async with reached(kubeconfig) as client:
        objects = await _looked_up(client, configured.kinds)
        found: list[Audited] = []
        missing: list[str] = []
        for kind in configured.kinds:
            jobs = await listed(client, f"{kind.plural}.{kind.version}.{kind.group}")
            if jobs is None:
                missing.append(kind.qualified_plural)
            # Items of a list may lack these.
            typed = {"apiVersion": kind.gvk.api_version, "kind": kind.kind}
            documents = ({**typed, **job} for job in jobs or ())
            found += [audit(kind, each, configured.kinds, configured.settings, objects) for each in documents]
    return found, missing


async def _looked_up(client: Client, kinds: Registry[JobKind]) -> ListedObjects:
    """Return the objects that rules look up. Rules skip resources that may not be listed."""
    lists = {}
    for watched in sorted({one for kind in kinds for one in kind.watches}):
        try:
            if (items := await listed(client, watched)) is not None:
                lists[watched] = items
        except CannotRead as error:
            click.echo(f"warning: {error}", err=True)
    return ListedObjects(lists)


def _print(found: Sequence[Audited], missing: Sequence[str], output: str, *, warnings: bool) -> None:
    if output == "json":
        click.echo(json.dumps(_document(found, missing), indent=2))
        return
    for one in found:
        title = f"{one.kind} {one.namespace}/{one.name}"
        if one.faults:
            click.echo(f"{title}: would be denied")
        elif warnings and one.notices:
            click.echo(f"{title}: has warnings")
        for rule, cause in one.faults:
            click.echo(f"  * {cause} [{rule}]")
        for notice in one.notices if warnings else ():
            click.echo(f"  warning: {notice}")
    for rule, jobs in by_rule(found).items():
        click.echo(f"{rule}: {jobs} {'job' if jobs == 1 else 'jobs'}")
    faulty = sum(bool(one.faults) for one in found)
    click.echo(f"{len(found)} jobs, {faulty} would be denied")
    for kind in missing:
        click.echo(f"not installed: {kind}", err=True)


def _document(found: Sequence[Audited], missing: Sequence[str]) -> dict[str, Any]:
    return {
        "jobs": [
            {
                "kind": one.kind,
                "namespace": one.namespace,
                "name": one.name,
                "faults": [{"rule": rule, **cause.to_status()} for rule, cause in one.faults],
                "warnings": [str(notice) for notice in one.notices],
            }
            for one in found
        ],
        "rules": by_rule(found),
        "notInstalled": list(missing),
    }

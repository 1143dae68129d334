"""`jobgate audit`: what the rules say of the jobs that a cluster has stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jobgate.cli.settings import Told, installation
from jobgate.offline.audit import Audited, audit, by_rule
from webhook import Kind, Registry

if TYPE_CHECKING:
    from jobgate.cluster.client import Client

_NOT_FOUND = 404


class Listed:
    """Objects of a cluster as they were when they were listed."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {}

    def take(self, resource: str, items: Iterable[Mapping[str, Any]]) -> None:
        """Know these objects of a resource, and no others."""
        found = ((one["metadata"], one) for one in items)
        self._objects[resource] = {(about.get("namespace", ""), about["name"]): one for about, one in found}

    def get(self, resource: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """Return an object, or None where there is none.

        Raises:
            LookupError: the resource was not listed.
        """
        return self._objects[resource].get((namespace, name))


@click.command("audit")
@click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="KUBECONFIG",
    help="Credentials for the cluster, in the place of the pod's own.",
)
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Only jobs of this namespace.")
@click.option("--warnings/--no-warnings", default=False, help="Also tell what would only be warned of.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
@installation
@click.pass_context
def audit_command(
    context: click.Context,
    *,
    kubeconfig: Path | None,
    namespaces: tuple[str, ...],
    warnings: bool,
    output: str,
    told: Told,
) -> None:
    """Review the jobs that a cluster has stored, and tell per job and rule what would be refused today.

    Nothing is changed. Exit status: 0 where no job has a fault, 1 where one has, 2 where jobs cannot be listed.
    """
    try:
        found, missing = asyncio.run(_audit(kubeconfig, told))
    except _Unlisted as error:
        click.echo(f"Error: {error}", err=True)
        context.exit(2)
    found = [one for one in found if not namespaces or one.namespace in namespaces]
    _print(found, missing, output, warnings=warnings)
    context.exit(1 if any(one.faults for one in found) else 0)


class _Unlisted(Exception):
    """What there is cannot be told."""


async def _audit(kubeconfig: Path | None, told: Told) -> tuple[list[Audited], list[str]]:
    """Return what is found of each job, and the kinds that the cluster does not serve.

    Raises:
        ImportError: the client is not installed.
        _Unlisted: there is no way to the cluster, or no right to list.
    """
    from jobgate.cluster.client import Client  # takes seconds, and may be missing

    try:
        async with await Client.connect(kubeconfig) as client:
            objects = await _looked_up(client, told.kinds)
            found: list[Audited] = []
            missing: list[str] = []
            for kind in told.kinds:
                jobs = await _listed(client, f"{kind.plural}.{kind.version}.{kind.group}")
                if jobs is None:
                    missing.append(kind.qualified_plural)
                found += [audit(kind, _typed(kind, job), told.settings, objects) for job in jobs or ()]
    except (_Unlisted, ImportError):
        raise
    except Exception as error:
        raise _Unlisted(f"the cluster cannot be reached: {type(error).__qualname__}: {error}") from error
    return found, missing


async def _looked_up(client: Client, kinds: Registry) -> Listed:
    """Return what rules look up; of what may not be listed nothing is known, and no rule says anything for it."""
    objects = Listed()
    for watched in sorted({one for kind in kinds for one in kind.watches}):
        try:
            items = await _listed(client, watched)
        except _Unlisted as error:
            click.echo(f"warning: {error}", err=True)
        else:
            if items is not None:
                objects.take(watched, items)
    return objects


async def _listed(client: Client, resource: str) -> list[dict[str, Any]] | None:
    """Return all objects of a resource, or None where it is not served.

    Raises:
        _Unlisted: the API server refuses.
    """
    from jobgate.cluster import Refused, Resource

    try:
        return (await client.list(Resource.parse(resource)))[0]
    except Refused as error:
        if error.code == _NOT_FOUND:
            return None
        raise _Unlisted(f"{resource.rstrip('.')} cannot be listed: {error}") from error


def _typed(kind: Kind, job: dict[str, Any]) -> dict[str, Any]:
    """Return a job with its type, which the items of a list may lack."""
    return {"apiVersion": kind.gvk.api_version, "kind": kind.kind, **job}


def _print(found: Sequence[Audited], missing: Sequence[str], output: str, *, warnings: bool) -> None:
    if output == "json":
        click.echo(json.dumps(_document(found, missing), indent=2))
        return
    for one in found:
        title = f"{one.kind} {one.namespace}/{one.name}"
        if one.faults:
            click.echo(f"{title}: would be refused")
        elif warnings and one.notices:
            click.echo(f"{title}: would be warned of")
        for rule, cause in one.faults:
            click.echo(f"  * {cause} [{rule}]")
        for notice in one.notices if warnings else ():
            click.echo(f"  warning: {notice}")
    for rule, jobs in by_rule(found).items():
        click.echo(f"{rule}: {jobs} {'job' if jobs == 1 else 'jobs'}")
    faulty = sum(bool(one.faults) for one in found)
    click.echo(f"{len(found)} jobs, of which {faulty} would be refused today")
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

"""`jobgate fit`: check whether CRDs of other charts are compatible with the kinds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from crdgen.cli.command import UsageError
from crdgen.cli.sources import objects
from jobgate.cli.settings import WITHOUT_KIND
from jobgate.offline.fit import Misfit, MisfitOutcome, misfits
from webhook import Registry

_CRDS = "customresourcedefinitions.v1.apiextensions.k8s.io"
_DEFINITION = "CustomResourceDefinition"


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    envvar="KUBECONFIG",
    help="Kubeconfig file to use instead of the pod's service account.",
)
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
@WITHOUT_KIND
@click.pass_context
def fit(
    context: click.Context, *, files: tuple[str, ...], kubeconfig: Path | None, output: str, kinds: Registry
) -> None:
    """Check whether the CRDs in FILEs, or those of the cluster, are compatible with the kinds of jobs.

    Use it if another chart installs the CRDs. Reports each field that would be dropped or rejected. Exit status: 0 if
    all are compatible, 1 if one is not or is missing, 2 if they cannot be read.
    """
    try:
        definitions = _read(files) if files else asyncio.run(_stored(kubeconfig))
    except _ReadFailed as error:
        click.echo(f"Error: {error}", err=True)
        context.exit(2)
    found = {
        kind.qualified_plural: misfits(stored, kind)
        for kind in kinds
        if (stored := definitions.get(kind.qualified_plural)) is not None
    }
    missing = [] if files else [kind.qualified_plural for kind in kinds if kind.qualified_plural not in found]
    if files and not found:
        click.echo("Error: the files contain no CRD of a known kind", err=True)
        context.exit(2)
    _print(found, missing, output)
    context.exit(1 if missing or any(map(_loses, found.values())) else 0)


class _ReadFailed(Exception):
    """CRDs cannot be read."""


def _loses(found: Sequence[Misfit]) -> bool:
    return any(one.outcome is not MisfitOutcome.DIFFERS for one in found)


def _read(files: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the CRDs of files, by name.

    Raises:
        _ReadFailed: a file cannot be read.
    """
    found: list[Mapping[str, Any]] = []
    for file in files:
        try:
            found += [manifest.object for manifest in objects(file)]
        except UsageError as error:
            raise _ReadFailed(str(error)) from None
    return _by_name(one for one in found if one.get("kind") == _DEFINITION)


async def _stored(kubeconfig: Path | None) -> dict[str, Mapping[str, Any]]:
    """Return the CRDs of a cluster, by name.

    Raises:
        ImportError: the client is not installed.
        _ReadFailed: the cluster cannot be reached, or listing is forbidden.
    """
    from jobgate.cluster import Refused, Resource  # takes seconds, and may be missing
    from jobgate.cluster.client import Client

    try:
        async with await Client.connect(kubeconfig) as client:
            return _by_name((await client.list(Resource.parse(_CRDS)))[0])
    except Refused as error:
        raise _ReadFailed(f"CRDs cannot be listed: {error}") from error
    except ImportError:
        raise
    except Exception as error:
        raise _ReadFailed(f"the cluster cannot be reached: {type(error).__qualname__}: {error}") from error


def _by_name(definitions: Any) -> dict[str, Mapping[str, Any]]:
    return {str((one.get("metadata") or {}).get("name")): one for one in definitions}


def _print(found: Mapping[str, Sequence[Misfit]], missing: Sequence[str], output: str) -> None:
    if output == "json":
        crds = {
            name: [{"path": one.path, "outcome": one.outcome, "message": one.message} for one in listed]
            for name, listed in found.items()
        }
        click.echo(json.dumps({"definitions": crds, "notInstalled": list(missing)}, indent=2))
        return
    for name, listed in found.items():
        click.echo(f"{name}: {'not compatible' if _loses(listed) else 'compatible'}")
        for one in listed:
            click.echo(f"  {'warning: ' if one.outcome is MisfitOutcome.DIFFERS else '* '}{one}")
    for name in missing:
        click.echo(f"{name}: not installed")

"""`jobgate fit`: check whether CRDs of other charts are compatible with the kinds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from crdgen import to_yaml
from crdgen.cli.sources import UsageError, definitions
from crdgen.reporting import count
from jobgate.cli.cluster import KUBECONFIG, OUTPUT, CannotRead, reached
from jobgate.cli.settings import WITHOUT_KIND
from jobgate.configured.catalogue import named_in_catalogue
from jobgate.configured.discover import entry_for
from jobgate.jobs.kind import CustomKind
from jobgate.kinds import installed
from jobgate.offline.fit import Misfit, MisfitOutcome, misfits
from webhook import Registry
from webhook.values import mapping

_CRDS = "customresourcedefinitions.v1.apiextensions.k8s.io"


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE…]")
@KUBECONFIG
@OUTPUT
@WITHOUT_KIND
@click.option(
    "--discover", is_flag=True, help="Print a first description of each kind with pod templates, for --kinds."
)
@click.pass_context
def fit(
    context: click.Context,
    *,
    files: tuple[str, ...],
    kubeconfig: Path | None,
    output: str,
    kinds: Registry[CustomKind] | None,
    discover: bool,
) -> None:
    """Check whether the CRDs in FILEs, or those of the cluster, are compatible with the kinds of jobs.

    Use it if another chart installs the CRDs. Reports each field that would be dropped or rejected. FILE may be a
    directory. Exit status: 0 if all are compatible, 1 if one is not or is missing, 2 if they cannot be read.
    """
    kinds = installed() if kinds is None else kinds
    stored = _read(files) if files else asyncio.run(_stored(kubeconfig))
    if discover:
        _discover(stored, {kind.qualified_plural for kind in kinds})
        return
    results = {
        kind.qualified_plural: misfits(stored[kind.qualified_plural], kind)
        for kind in kinds
        if kind.qualified_plural in stored
    }
    missing = [] if files else [kind.qualified_plural for kind in kinds if kind.qualified_plural not in results]
    if files and not results:
        raise CannotRead("the files contain no CRD of a known kind")
    _print(results, missing, output)
    context.exit(1 if missing or any(map(_loses, results.values())) else 0)


def _discover(stored: Mapping[str, Mapping[str, Any]], known: Container[str]) -> None:
    """Print a first entry of each kind whose CRD embeds pod templates, and list them on standard error."""
    entries = {name: entry_for(crd) for name, crd in sorted(stored.items()) if name not in known}
    if not any(entries.values()):
        click.echo(f"no pod templates in {count(len(stored), 'CRD')} other than those of known kinds", err=True)
    for name, entry in entries.items():
        if entry is None:
            continue
        in_catalogue = bool(named_in_catalogue(name))
        paths = ", ".join(str(task.get("each") or task.get("at")) for task in entry["tasks"])
        click.echo(f"{name}: {'in the catalogue' if in_catalogue else f'pods of {paths}'}", err=True)
        if not in_catalogue:
            click.echo(
                f"---\n# Check names, replicas and how the operator names pods (names).\n{to_yaml(entry)}", nl=False
            )


def _loses(differences: Sequence[Misfit]) -> bool:
    return any(misfit.outcome is not MisfitOutcome.DIFFERS for misfit in differences)


def _read(files: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the CRDs in files and below directories, by name."""
    try:
        return _by_name(manifest.object for file in files for manifest in definitions(file, some=False))
    except UsageError as error:
        raise CannotRead(str(error)) from None


async def _stored(kubeconfig: Path | None) -> dict[str, Mapping[str, Any]]:
    """Return the CRDs of a cluster, by name."""
    from jobgate.cluster import ApiError, Resource

    async with reached(kubeconfig) as client:
        try:
            return _by_name((await client.list(Resource.parse(_CRDS)))[0])
        except ApiError as error:
            raise CannotRead(f"CRDs cannot be listed: {error}") from error


def _by_name(crds: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {str(mapping(crd.get("metadata")).get("name")): crd for crd in crds}


def _print(results: Mapping[str, Sequence[Misfit]], missing: Sequence[str], output: str) -> None:
    if output == "json":
        crds = {name: [asdict(misfit) for misfit in misfits_] for name, misfits_ in results.items()}
        click.echo(json.dumps({"definitions": crds, "notInstalled": list(missing)}, indent=2))
        return
    for name, misfits_ in results.items():
        click.echo(f"{name}: {'not compatible' if _loses(misfits_) else 'compatible'}")
        for misfit in misfits_:
            click.echo(f"  {'warning: ' if misfit.outcome is MisfitOutcome.DIFFERS else '* '}{misfit}")
    for name in missing:
        click.echo(f"{name}: not installed")

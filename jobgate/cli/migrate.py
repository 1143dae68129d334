"""`jobgate migrate`: rewrite stored objects in the storage version."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobgate.cli.cluster import KUBECONFIG, CannotRead, reached
from jobgate.kinds import installed

if TYPE_CHECKING:
    from jobgate.cluster.client import Client
    from jobgate.cluster.migration import StoredVersions

#: Objects that could not be rewritten and are printed.
_PRINTED = 10


@click.command()
@click.argument("crds", metavar="[CRD]...", nargs=-1)
@KUBECONFIG
@click.pass_context
def migrate(context: click.Context, *, crds: tuple[str, ...], kubeconfig: Path | None) -> None:
    """Rewrite all objects of each CRD in its storage version, so that older versions can be removed from it.

    Without a CRD, print which versions the objects of the installed kinds are stored in, and change nothing. An
    interrupted migration continues where it was when it is called again: the progress is in an annotation of the CRD.
    Exit status: 0 if all objects are stored in the storage version, 1 if not, 2 if the cluster cannot be read.
    """
    context.exit(asyncio.run(_migrate(crds, kubeconfig)))


async def _migrate(names: Sequence[str], kubeconfig: Path | None) -> int:
    from jobgate.cluster import ApiError
    from jobgate.cluster.migration import DEFINITIONS, CannotMigrate, StoredVersions

    wanted = names or [kind.qualified_plural for kind in installed() if kind.resource is not None]
    failed = False
    async with reached(kubeconfig) as client:
        for name in wanted:
            try:
                crd = await client.get(DEFINITIONS, name)
                if crd is None:
                    if names:
                        raise CannotRead(f"there is no CRD {name}")
                    continue
                stored = StoredVersions.of(crd)
                if stored.older and names:
                    failed |= not await _rewrite(client, stored)
                else:
                    failed |= bool(stored.older)
                    click.echo(_state(stored))
            except (ApiError, CannotMigrate) as error:
                raise CannotRead(f"{name}: {error}; what is rewritten stays so: call it again to continue") from error
    return int(failed)


async def _rewrite(client: Client, stored: StoredVersions) -> bool:
    """Migrate one CRD; return whether all objects are in its storage version."""
    from jobgate.cluster.migration import migrate

    if seconds := stored.settling(client.time.now()):
        click.echo(f"{stored.name}: waits {seconds:.0f} s until all API servers store {stored.storage}", err=True)
    if stored.done:
        click.echo(f"{stored.name}: continues after {stored.done.lstrip('/')}", err=True)
    count, faults = await migrate(
        client, stored, lambda done: click.echo(f"{stored.name}: {done:,} objects rewritten", err=True)
    )
    click.echo(f"{stored.name}: {count:,} objects rewritten in {stored.storage}")
    if faults:
        more = len(faults) - _PRINTED
        click.echo(
            f"{stored.name}: {len(faults):,} objects cannot be rewritten, and may be stored in an older version:"
        )
        click.echo("\n".join(f"  {fault}" for fault in faults[:_PRINTED]))
        if more > 0:
            click.echo(f"  and {more:,} more")
    return not faults


def _state(stored: StoredVersions) -> str:
    if not stored.older:
        return f"{stored.name}: all objects are stored in {stored.storage}"
    versions = ", ".join(stored.older)
    return f"{stored.name}: objects may be stored in {versions}: `jobgate migrate {stored.name}` rewrites them"

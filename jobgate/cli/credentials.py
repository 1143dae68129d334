"""The way to the cluster of a command that cannot do without."""

from __future__ import annotations

from pathlib import Path

import click

from jobgate.cluster.writer import Writer


async def connect(kubeconfig: Path | None) -> Writer:
    """Return the API server, with the credentials of a kubeconfig, or else of the pod that this runs in.

    Raises:
        click.ClickException: there are none.
    """
    try:
        return await Writer.connect(kubeconfig)
    except Exception as error:
        raise click.ClickException(f"no credentials for a cluster: {error}") from error

"""Connecting to the cluster, for commands that require one."""

from __future__ import annotations

from pathlib import Path

import click

from jobgate.cluster.writer import Writer


async def connect(kubeconfig: Path | None) -> Writer:
    """Return a client with the credentials of a kubeconfig, or of the pod's service account.

    Raises:
        click.ClickException: there are no credentials.
    """
    try:
        return await Writer.connect(kubeconfig)
    except Exception as error:
        raise click.ClickException(f"no credentials for a cluster: {error}") from error

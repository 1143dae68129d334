"""Knowing the cluster beside serving: what the kinds' rules look up is kept up to date in the background."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from importlib.util import find_spec
from pathlib import Path

import click

from jobgate.cluster import Cache
from webhook import Registry

_logger = logging.getLogger("jobgate")


def cache(kinds: Registry, *, wanted: bool | None, kubeconfig: Path | None) -> Cache | None:
    """Return a cache of what the kinds watch, or None where there is no cluster to ask, or nothing to watch.

    Args:
        kinds: that are served.
        wanted: whether a cluster is to be asked; None where nobody said: then where credentials for it are at hand.
        kubeconfig: the credentials, or None for those of a pod.

    Raises:
        click.ClickException: a cluster is wanted, and there is no client for it.
    """
    resources = sorted({resource for kind in kinds for resource in kind.watches})
    at_hand = kubeconfig is not None or "KUBERNETES_SERVICE_HOST" in os.environ
    if wanted is False or not resources or not (wanted or at_hand):
        return None
    if find_spec("kubernetes") is None:
        if wanted or kubeconfig is not None:
            raise click.ClickException("kubernetes is missing: pip install 'jobgate[cluster]'")
        _logger.warning("cluster not watched", extra={"fields": {"reason": "jobgate[cluster] is not installed"}})
        return None
    return Cache(resources)


async def watch(known: Cache, kubeconfig: Path | None) -> None:
    """Keep the cache up to date, for ever.

    The client takes seconds to import: in a thread, so that the server serves meanwhile. Without credentials nothing is
    ever known, and rules do as without a cluster.
    """
    try:
        module = await asyncio.to_thread(importlib.import_module, "jobgate.cluster.client")
        client = await module.Client.connect(kubeconfig)
    except Exception as error:  # noqa: BLE001  # of many packages; none may end the server
        reason = f"{type(error).__qualname__}: {error}"
        _logger.error("cluster not watched", extra={"fields": {"reason": reason}})  # noqa: TRY400
        return
    async with client:
        await known.run(client)

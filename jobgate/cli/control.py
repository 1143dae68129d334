"""`jobgate control`: the companion controller."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobgate.cli.leading import lead, leading
from jobgate.cli.settings import Configured, running
from jobgate.kinds.common.wiring import wired

if TYPE_CHECKING:
    from jobgate.cluster.writer import Writer
    from jobgate.controller import Controller, ControllerMetrics
    from jobgate.serving.leader import Place


@click.command()
@leading("jobgate-controller", rate=50, most=1000)
@running
def control(*, kubeconfig: Path | None, place: Place, requests_per_second: float, configured: Configured) -> None:
    """Run the companion controller: create and maintain the objects that plugins of jobs declare."""
    from jobgate.controller import Controller, ControllerSettings
    from webhook.server import log

    log.configure()
    given = configured.settings
    settings = ControllerSettings(given.domain, requests_per_second, plugins=given.plugins, namespace=place.namespace)
    kinds = tuple(wired(configured.kinds, given.runs))

    async def controller(writer: Writer, metrics: ControllerMetrics) -> Controller:
        return Controller(writer, kinds, settings, metrics)

    asyncio.run(lead(kinds, kubeconfig, place, controller, "controller started"))

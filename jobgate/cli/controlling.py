"""The controller process."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jobgate.cli.credentials import connect
from jobgate.controller import Controller, ControllerMetrics, Settings
from jobgate.serving.leader import Place, lead_until_stopped
from webhook import Kind


async def control_until(kinds: Iterable[Kind], kubeconfig: Path | None, place: Place, settings: Settings) -> None:
    """Work while the Lease is held, until SIGTERM or SIGINT; then release the Lease.

    Raises:
        click.ClickException: there are no credentials.
        OSError: the port cannot be listened on.
    """
    metrics, kinds = ControllerMetrics(), tuple(kinds)
    for kind in kinds:
        kind.schema.check({})  # compiled now, so that the Lease, once held, is renewed in time
    async with await connect(kubeconfig) as writer:
        controller = Controller(writer, kinds, settings, metrics)
        await lead_until_stopped(
            writer,
            place,
            controller.work,
            settled=lambda: controller.settled,
            metrics=metrics,
            started="controller started",
        )

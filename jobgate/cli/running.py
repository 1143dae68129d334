"""The process of the runner."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jobgate.cli.credentials import connect
from jobgate.controller import ControllerMetrics
from jobgate.runner.run import RunnerController, Settings
from jobgate.serving.leader import Place, lead_until_stopped
from webhook import Kind


async def run_until(kinds: Iterable[Kind], kubeconfig: Path | None, place: Place, settings: Settings) -> None:
    """Work whenever the Lease is held, until SIGTERM or SIGINT; then give the Lease back.

    Raises:
        click.ClickException: there are no credentials.
        jobgate.runner.run.Beside: an operator of one of the kinds is alive.
        OSError: the port is taken, or may not be used.
    """
    metrics, kinds = ControllerMetrics(), tuple(kinds)
    for kind in kinds:
        kind.schema.check({})  # compiled now, so that the Lease, once held, is renewed in time
    async with await connect(kubeconfig) as writer:
        runner = RunnerController(writer, kinds, settings, metrics)
        await runner.alone()
        await lead_until_stopped(
            writer,
            place,
            runner.work,
            settled=lambda: runner.settled,
            metrics=metrics,
            started="runner started",
        )

"""`jobgate run`: the runner."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobgate.cli.leading import lead, leading
from jobgate.cli.settings import Configured, queueing_of, running, setting
from jobgate.plugins.queueing import QUEUES_PODS

if TYPE_CHECKING:
    from jobgate.cluster.writer import Writer
    from jobgate.controller import ControllerMetrics
    from jobgate.runner.run import RunnerController
    from jobgate.serving.leader import Place


@click.command()
@setting(
    "--queues",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML file of queues that jobs wait in, with weights and quotas.  [default: no job waits]",
)
@setting(
    "--ignore-operator",
    multiple=True,
    metavar="NAMESPACE/NAME",
    help="Deployment or Lease with an operator's name and rights that does not run these jobs; repeatable.",
)
@leading("jobgate-runner", rate=200, most=10000)
@running
def run(
    *,
    queues: Path | None,
    ignore_operator: tuple[str, ...],
    kubeconfig: Path | None,
    place: Place,
    requests_per_second: float,
    configured: Configured,
) -> None:
    """Run the jobs of the kinds in --run on the Job controller of Kubernetes, until SIGTERM or Ctrl-C."""
    from jobgate.runner.queues import InvalidQueues, read_queues
    from jobgate.runner.run import OperatorRunning, RunnerController, RunnerSettings
    from webhook.server import log

    log.configure()
    given = configured.settings
    if not given.runs:
        raise click.UsageError("name the kinds to run with --run, as --run torchjobs.train.distributed.io")
    try:
        waiting = read_queues(queues.read_text(encoding="utf-8")) if queues else None
    except (InvalidQueues, OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{queues}: {error}", param_hint="--queues") from None
    queueing = queueing_of(given)
    if queues and queueing and queueing.system in QUEUES_PODS:
        raise click.UsageError(f"{queueing.system} queues the pods of jobs: leave out --queues")
    settings = RunnerSettings(
        given.domain,
        queueing,
        requests_per_second,
        namespace=place.namespace,
        queues=waiting,
        queues_file=queues,
        ignored_operators=frozenset(ignore_operator),
    )
    kinds = [kind for kind in configured.kinds if kind.qualified_plural in given.runs]

    async def runner(writer: Writer, metrics: ControllerMetrics) -> RunnerController:
        found = RunnerController(writer, kinds, settings, metrics)
        await found.alone()
        return found

    try:
        asyncio.run(lead(kinds, kubeconfig, place, runner, "runner started"))
    except OperatorRunning as error:
        raise click.ClickException(str(error)) from None

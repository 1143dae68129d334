"""`jobgate control` and `jobgate run`: the controllers, which work while they hold a Lease."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jobgate.cli.cluster import connect, grouped, listening, own_namespace, require_dns_name
from jobgate.cli.settings import (
    BIND,
    CREDENTIALS,
    HEALTH_PORT,
    NAMESPACE_SELECTOR,
    Configured,
    in_cluster,
    log_lacking,
    queueing_of,
    queues_text,
    running,
    setting,
)
from jobgate.jobs.kind import job_kinds
from jobgate.jobs.runner import REPLACE_LOST_AFTER, runner_of
from jobgate.jobs.wiring import wired
from jobgate.names import HTTP_ADDRESS
from jobgate.plugins.queueing import QUEUES_PODS

if TYPE_CHECKING:
    from jobgate.cluster.client import Client
    from jobgate.controller import Controller, ControllerMetrics
    from jobgate.runner.notify import NotifySettings
    from jobgate.runner.run import RunnerController
    from jobgate.selectors import LabelSelector
    from jobgate.serving.leader import LeaderSettings
    from webhook import Kind

_logger = logging.getLogger("jobgate")
F = TypeVar("F", bound=Callable[..., Any])


def _leading(lease: str, rate: float, most: float) -> Callable[[F], F]:
    """Add the settings of probes, credentials, Lease and rate.

    The command receives `kubeconfig`, `leader` and `requests_per_second`.
    """
    return grouped(
        _led,
        HEALTH_PORT,
        BIND,
        CREDENTIALS,
        setting(
            "--lease-namespace",
            metavar="NAMESPACE",
            help="Namespace of the Lease; jobs in it are not handled.  [default: the pod's namespace]",
        ),
        setting(
            "--lease-name",
            default=lease,
            show_default=True,
            callback=require_dns_name,
            help="Lease used for leader election.",
        ),
        setting(
            "--requests-per-second",
            type=click.FloatRange(1, most),
            default=rate,
            show_default=True,
            help="Maximum rate of requests to the API server, not counting watches.",
        ),
    )


def _led(bind: str, health_port: int, lease_namespace: str | None, lease_name: str) -> dict[str, LeaderSettings]:
    from jobgate.serving.leader import LeaderSettings

    return {"leader": LeaderSettings(bind, health_port, lease_namespace or own_namespace() or "", lease_name)}


def _require(leader: LeaderSettings, *also: str) -> None:
    """Report all missing options at once; `also` has more such faults, or empty texts."""
    outside = "" if leader.namespace else "--lease-namespace is required outside a pod, for example jobgate-system"
    if missing := [fault for fault in (*also, outside) if fault]:
        raise click.UsageError("\n".join(missing))


async def lead(
    kinds: Iterable[Kind],
    kubeconfig: Path | None,
    leader: LeaderSettings,
    controller: Callable[[Client, ControllerMetrics], Awaitable[Controller | RunnerController]],
    started: str,
) -> None:
    """Run a controller while the Lease is held, until SIGTERM or SIGINT; then release the Lease.

    Raises:
        click.ClickException: there are no credentials, or the port cannot be listened on.
    """
    from jobgate.controller import ControllerMetrics
    from jobgate.serving.leader import lead_until_stopped

    for kind in kinds:
        kind.schema.check({})  # compiled now, so that the Lease, once held, is renewed in time
    metrics = ControllerMetrics()
    async with await connect(kubeconfig) as client:
        running = await controller(client, metrics)
        with listening(f"{leader.bind}:{leader.health_port}"):
            await lead_until_stopped(
                client, leader, running.work, settled=lambda: running.settled, metrics=metrics, started=started
            )


@click.command()
@_leading("jobgate-controller", rate=50, most=1000)
@NAMESPACE_SELECTOR
@running
def control(
    *,
    kubeconfig: Path | None,
    leader: LeaderSettings,
    requests_per_second: float,
    namespace_selector: LabelSelector,
    configured: Configured,
) -> None:
    """Run the companion controller: create and maintain the objects that plugins of jobs declare."""
    from jobgate.controller import Controller, ControllerSettings
    from webhook.server import log

    _require(leader)
    log.configure()
    log_lacking(configured.kinds)
    given = configured.settings
    settings = ControllerSettings(
        given.domain,
        requests_per_second,
        plugins=given.plugins,
        offered=given.offered,
        runs=given.runs,
        namespace=leader.namespace,
        selector=namespace_selector,
    )
    kinds = tuple(wired(in_cluster(configured.kinds), given.runs))

    async def controller(client: Client, metrics: ControllerMetrics) -> Controller:
        return Controller(client, kinds, settings, metrics)

    asyncio.run(lead(kinds, kubeconfig, leader, controller, "controller started"))


def _reached(
    notify: str, notify_secret: Path | None, di_server_url: str, di_server_tls: Path | None, di_server_port: int
) -> dict[str, Any]:
    from jobgate.runner.notify import NotifySettings

    if notify and not re.fullmatch(HTTP_ADDRESS, notify):
        raise click.UsageError("--notify must be a URL with http or https and without a user")
    if notify and notify_secret is None:
        raise click.UsageError("notifications are signed: --notify requires --notify-secret")
    if bool(di_server_url) is not bool(di_server_tls):
        raise click.UsageError("--di-server-url and --di-server-tls require each other")
    served = (di_server_url, di_server_tls, di_server_port) if di_server_tls else None
    return {"notify": NotifySettings(notify_secret, notify) if notify_secret else None, "served": served}


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
@setting(
    "--replace-lost-after",
    type=click.IntRange(0),
    default=REPLACE_LOST_AFTER,
    show_default=True,
    metavar="SECONDS",
    help="Replace a deleted pod whose node does not answer, so long after its grace period; 0 for never. Pods with a "
    "volume that their replacement can write to are replaced only when they are deleted by force.",
)
@setting(
    "--elastic-nodes",
    is_flag=True,
    help="Elastic jobs grow only as far as nodes have room, and shrink for pods that find no node; requires --queues.",
)
@grouped(
    _reached,
    setting("--notify", default="", metavar="URL", help="Address that the end of jobs is reported to by HTTP."),
    setting(
        "--notify-secret",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="File of the secrets that reports are signed with, one a line: whsec_ and 24 bytes or more in base64.",
    ),
    setting("--di-server-url", default="", help="Address by which pods find the server that --di-server-tls starts."),
    setting(
        "--di-server-tls",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Directory with tls.crt, tls.key and ca.crt of the server by which DIJobs ask for replicas.",
    ),
    setting("--di-server-port", type=click.IntRange(0, 65535), default=8443, show_default=True, help="Its port."),
)
@_leading("jobgate-runner", rate=200, most=10000)
@NAMESPACE_SELECTOR
@running
def run(  # noqa: PLR0913 - one argument an option
    *,
    queues: Path | None,
    ignore_operator: tuple[str, ...],
    replace_lost_after: int,
    elastic_nodes: bool,
    notify: NotifySettings | None,
    served: tuple[str, Path, int] | None,
    kubeconfig: Path | None,
    leader: LeaderSettings,
    requests_per_second: float,
    namespace_selector: LabelSelector,
    configured: Configured,
) -> None:
    """Run the jobs of the kinds in --run on the Job controller of Kubernetes, until SIGTERM or Ctrl-C."""
    from jobgate.cluster.informer import ApiError
    from jobgate.runner.jobserver.server import JobServer
    from jobgate.runner.queues.file import read_queues
    from jobgate.runner.run import OperatorRunning, RunnerController, RunnerSettings
    from webhook.server import log

    given = configured.settings
    _require(leader, "" if given.runs else "--run is required, for example --run torchjobs.train.distributed.io")
    log.configure()
    log_lacking(configured.kinds)
    waiting = queues_text(queues)
    queueing = queueing_of(given)
    if queues and queueing and queueing.system in QUEUES_PODS:
        raise click.UsageError(f"{queueing.system} queues the pods of jobs: leave out --queues")
    if elastic_nodes and not queues:
        raise click.UsageError("--elastic-nodes requires --queues: without queues, room is the scheduler's to give")
    found = read_queues(waiting) if waiting else None
    if notify is None and found and any(queue.notify for queue in found.queues.values()):
        _logger.warning("the end of jobs is not reported: notifications are signed, and require --notify-secret")
    kinds = [kind for kind in job_kinds(configured.kinds) if kind.qualified_plural in given.runs]
    server = None
    if served and (asking := [kind for kind in kinds if (runs := runner_of(kind)) and runs.server]):
        server = JobServer(asking[0], given.domain, leader.bind, *served)
        leader = replace(leader, beside=server.run)
    settings = RunnerSettings(
        given.domain,
        queueing,
        requests_per_second,
        namespace=leader.namespace,
        queues=found,
        queues_file=queues,
        replace_lost_after=replace_lost_after,
        ignored_operators=frozenset(ignore_operator),
        flows=any(kind.creates and kind.creates.qualified_plural in given.runs for kind in job_kinds(configured.kinds)),
        notify=notify,
        server=server.access if server else lambda: None,
        elastic_nodes=elastic_nodes,
        selector=namespace_selector,
    )

    async def runner(client: Client, metrics: ControllerMetrics) -> RunnerController:
        controller = RunnerController(client, kinds, settings, metrics, client.time.now)
        try:
            await controller.alone()
        except (ApiError, OSError) as error:
            raise click.ClickException(f"cannot find out whether an operator runs these jobs: {error}") from None
        return controller

    try:
        asyncio.run(lead(kinds, kubeconfig, leader, runner, "runner started"))
    except OperatorRunning as error:
        raise click.ClickException(str(error)) from None

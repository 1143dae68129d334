"""`jobgate run`: the runner."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from jobgate.cli.pod import identity, own_namespace
from jobgate.cli.settings import Configured, queueing_of, running, setting
from jobgate.names import dns_subdomain
from jobgate.plugins.queueing import QUEUES_PODS


@click.command()
@setting(
    "--queues",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A YAML file of queues that jobs wait in, with weights and quotas.  [default: no job waits]",
)
@setting(
    "--health-port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="Port for /healthz, /readyz and /metrics, over plain HTTP.",
)
@setting("--bind", default="0.0.0.0", show_default=True, metavar="ADDR", help="Address to listen on.")  # noqa: S104
@setting(
    "--kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Kubeconfig file to use instead of the pod's service account.",
)
@setting("--lease-namespace", metavar="NAMESPACE", help="Namespace of the Lease.  [default: the pod's namespace]")
@setting("--lease-name", default="jobgate-runner", show_default=True, help="Lease used for leader election.")
@setting(
    "--ignore-operator",
    multiple=True,
    metavar="NAMESPACE/NAME",
    help="Deployment or Lease with an operator's name and rights that does not run these jobs; repeatable.",
)
@running
@setting(
    "--requests-per-second",
    type=click.FloatRange(1, 10000),
    default=200,
    show_default=True,
    help="Most requests to the API server, beside watching.",
)
def run(  # noqa: PLR0913 - one for each setting
    *,
    queues: Path | None,
    health_port: int,
    bind: str,
    kubeconfig: Path | None,
    lease_namespace: str | None,
    lease_name: str,
    requests_per_second: float,
    ignore_operator: tuple[str, ...],
    configured: Configured,
) -> None:
    """Run the jobs of the kinds named by --run on Kubernetes' own Job controller, until SIGTERM or Ctrl-C."""
    from jobgate.cli.running import run_until
    from jobgate.runner.queues import Unfit, read_queues
    from jobgate.runner.run import Beside, Settings
    from jobgate.serving.leader import Place
    from webhook.server import log

    log.configure()
    if not configured.settings.runs:
        raise click.UsageError("name the kinds to run with --run, as --run torchjobs.train.distributed.io")
    if fault := dns_subdomain(lease_name):
        raise click.BadParameter(fault, param_hint="--lease-name")
    namespace = lease_namespace or own_namespace()
    if namespace is None:
        raise click.UsageError("outside a pod, --lease-namespace says where the Lease is")
    place = Place(bind=bind, health_port=health_port, namespace=namespace, lease=lease_name, identity=identity())
    try:
        waiting = read_queues(queues.read_text(encoding="utf-8")) if queues else None
    except (Unfit, OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{queues}: {error}", param_hint="--queues") from None
    queueing = queueing_of(configured.settings)
    if queues and queueing and queueing.system in QUEUES_PODS:
        raise click.UsageError(f"{queueing.system} queues the pods of jobs: leave out --queues")
    settings = Settings(
        configured.settings.domain,
        queueing,
        requests_per_second,
        namespace=namespace,
        queues=waiting,
        ignored_operators=frozenset(ignore_operator),
    )
    kinds = [kind for kind in configured.kinds if kind.qualified_plural in configured.settings.runs]
    try:
        asyncio.run(run_until(kinds, kubeconfig, place, settings))
    except Beside as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot listen on {bind}, port {health_port}: {error}") from None

"""Commands that run under a Lease: their settings, and their process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from jobgate.cli.cluster import connect, grouped, identity, listening, own_namespace
from jobgate.cli.settings import BIND, CREDENTIALS, HEALTH_PORT, setting
from jobgate.names import dns_subdomain

if TYPE_CHECKING:
    from jobgate.cluster.writer import Writer
    from jobgate.controller import ControllerMetrics
    from jobgate.serving.leader import Place
    from webhook import Kind

F = TypeVar("F", bound=Callable[..., Any])


class LedController(Protocol):
    """A controller that works while the Lease is held."""

    @property
    def settled(self) -> bool:
        """Whether the caches are synced."""

    async def work(self) -> None:
        """Work until cancelled."""


def leading(lease: str, rate: float, most: float) -> Callable[[F], F]:
    """Add the settings of probes, credentials, Lease and rate.

    The command receives `kubeconfig`, `place` and `requests_per_second`.
    """
    return grouped(
        _placed,
        HEALTH_PORT,
        BIND,
        CREDENTIALS,
        setting(
            "--lease-namespace",
            metavar="NAMESPACE",
            help="Namespace of the Lease; jobs in it are not handled.  [default: the pod's namespace]",
        ),
        setting("--lease-name", default=lease, show_default=True, help="Lease used for leader election."),
        setting(
            "--requests-per-second",
            type=click.FloatRange(1, most),
            default=rate,
            show_default=True,
            help="Maximum rate of requests to the API server, not counting watches.",
        ),
    )


def _placed(bind: str, health_port: int, lease_namespace: str | None, lease_name: str) -> dict[str, Place]:
    from jobgate.serving.leader import Place

    if fault := dns_subdomain(lease_name):
        raise click.BadParameter(fault, param_hint="--lease-name")
    namespace = lease_namespace or own_namespace()
    if namespace is None:
        raise click.UsageError("--lease-namespace is required outside a pod, for example jobgate-system")
    return {"place": Place(bind, health_port, namespace, lease_name, identity())}


async def lead(
    kinds: Iterable[Kind],
    kubeconfig: Path | None,
    place: Place,
    controller: Callable[[Writer, ControllerMetrics], Awaitable[LedController]],
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
    async with await connect(kubeconfig) as writer:
        found = await controller(writer, metrics)
        with listening(f"{place.bind}:{place.health_port}"):
            await lead_until_stopped(
                writer, place, found.work, settled=lambda: found.settled, metrics=metrics, started=started
            )

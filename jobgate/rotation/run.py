"""Running the rotation of certificates in a cluster: one pass, a loop under a Lease, a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, timedelta

from certs import Blocked, Rotation, RotationReport, RotationSettings, Stage, Step, Wait, report
from certs.places import Places
from certs.plan import RotationSnapshot
from certs.state import read_state
from jobgate.cluster.bundles import MUTATING, VALIDATING, Bundles, Selection
from jobgate.cluster.client import Client
from jobgate.cluster.endpoints import Address, Endpoints
from jobgate.cluster.events import EventRecorder
from jobgate.cluster.resource import Resource
from jobgate.cluster.secret import SECRETS
from jobgate.cluster.server import Server
from jobgate.cluster.tls_secret import TlsSecret
from jobgate.cluster.writer import Writer
from jobgate.rotation.keeper import Keeper, log_step
from jobgate.rotation.metrics import RotationMetrics
from jobgate.serving.leader import Place, lead_until_stopped


@dataclass(frozen=True, slots=True)
class RotationScope:
    """The bundles and the Secret that are rotated; addresses of servers are used instead of the Service's endpoints."""

    selection: Selection
    secret: str
    addresses: tuple[Address, ...] = ()


def places(client: Writer, scope: RotationScope) -> Places:
    """Return what the rotation reads and writes in a cluster."""
    selection = scope.selection
    return Places(
        store=TlsSecret(client, selection.namespace, scope.secret),
        targets=Bundles(client, selection),
        probe=Endpoints(client, selection.namespace, selection.service, scope.addresses),
        clock=Server(client),
    )


async def rotate_once(
    client: Writer,
    scope: RotationScope,
    settings: RotationSettings,
    patience: timedelta,
    *,
    now: bool,
    on_step: Callable[[Step], None],
) -> Wait | Blocked:
    """Make one pass. With `now`, replace the generation that is current when it begins."""
    async with events_of(client, scope) as events:

        def done(step: Step) -> None:
            on_step(step)
            announce(step, rotation.seen, events)

        if now:
            observed = await Rotation(places(client, scope), settings).observe()
            settings = replace(settings, beyond=read_state(observed.stored, settings.names, observed.now).number)
        rotation = Rotation(places(client, scope), settings, on_step=done)
        return await rotation.run(patience)


async def status_of(client: Writer, scope: RotationScope, settings: RotationSettings) -> RotationReport:
    """Return a report, and change nothing."""
    used = places(client, scope)
    observed = await Rotation(used, settings).observe()
    return report(observed, await used.probe.look(), settings)


async def keep(client: Writer, scope: RotationScope, settings: RotationSettings, place: Place) -> None:
    """Rotate while the Lease is held, until SIGTERM or SIGINT.

    Raises:
        OSError: the port cannot be listened on.
    """
    metrics = RotationMetrics()
    async with events_of(client, scope) as events:

        def done(step: Step) -> None:
            log_step(step)
            metrics.count(step)
            announce(step, rotation.seen, events)

        rotation = Rotation(places(client, scope), settings, on_step=done)
        # Only objects that the account may read by name are watched. CRDs are read at each pass.
        watched: list[tuple[Resource, Client]] = [
            (SECRETS, client.named(scope.secret, scope.selection.namespace)),
            *((one, client.named(scope.selection.configuration, "")) for one in (MUTATING, VALIDATING)),
        ]
        keeper = Keeper(rotation, watched)
        metrics.follow(keeper, settings)
        await lead_until_stopped(
            client, place, keeper.work, settled=lambda: keeper.settled, metrics=metrics, started="rotation started"
        )


def events_of(client: Writer, scope: RotationScope) -> EventRecorder:
    """Return a recorder of Events on the Secret."""
    about = {"kind": "Secret", "namespace": scope.selection.namespace, "name": scope.secret}
    return EventRecorder(client, {"apiVersion": "v1", **about}, "jobgate-certificates")


def announce(step: Step, seen: RotationSnapshot | None, events: EventRecorder) -> None:
    """Record an Event if the stored certificate could not be served."""
    if seen is None or not isinstance(step, Stage) or not step.emergency:
        return
    uid = str(seen.stored.origin["metadata"]["uid"]) if seen.stored.found else ""
    if any(entry.bundle.strip() for target in seen.targets for entry in target.entries):
        events.record(
            "Warning",
            "CertificateReplaced",
            f"{step.why}: issuing a new one; servers keep the last good certificate until then",
            uid,
        )
    else:
        events.record("Normal", "CertificateIssued", f"{step.why}: issuing the first one", uid)


def sentence(step: Step) -> str:
    """Return a step as text."""
    if isinstance(step, Wait):
        until = "" if step.overdue else f" at {step.until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"next: {step.then}{until}: {step.why}"
    return f"{type(step).__name__.lower()}: {step.why}"

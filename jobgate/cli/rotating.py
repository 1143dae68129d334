"""The rotation of certificates against a cluster: put together, run once, kept running, looked at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from pathlib import Path

import click
from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from certs import (
    Blocked,
    Conflict,
    Places,
    Refusal,
    Report,
    Rotation,
    Settings,
    Stage,
    Step,
    Trust,
    Unavailable,
    Wait,
    report,
)
from certs.plan import Observed
from certs.state import State, read_state
from jobgate.cli.credentials import connect
from jobgate.cli.leading import Place, lead_until_stopped
from jobgate.cluster.bundles import MUTATING, VALIDATING, Bundles, Selection
from jobgate.cluster.clock import ServerClock
from jobgate.cluster.endpoints import Address, Endpoints, Fixed, Slices
from jobgate.cluster.events import EventRecorder
from jobgate.cluster.keeper import Keeper, told
from jobgate.cluster.named import Named
from jobgate.cluster.resource import Resource
from jobgate.cluster.secret import SECRETS
from jobgate.cluster.tls_secret import TlsSecret
from jobgate.cluster.writer import Writer


@dataclass(frozen=True, slots=True)
class Installation:
    """What is rotated.

    Attributes:
        selection: the Service, and what tells API servers of its certificates.
        secret: the Secret's name.
        addresses: who serves, in the place of the Service's endpoints.
        kubeconfig: the credentials, or None for those of a pod.
    """

    selection: Selection
    secret: str
    addresses: tuple[Address, ...] = ()
    kubeconfig: Path | None = None


@asynccontextmanager
async def connected(installation: Installation) -> AsyncIterator[tuple[Writer, Places]]:
    """Connect to the cluster.

    Raises:
        click.ClickException: there are no credentials.
    """
    selection = installation.selection
    async with await connect(installation.kubeconfig) as client:
        directory = (
            Fixed(installation.addresses)
            if installation.addresses
            else Slices(client, selection.namespace, selection.service)
        )
        yield (
            client,
            Places(
                store=TlsSecret(client, selection.namespace, installation.secret),
                targets=Bundles(client, selection),
                # The name that API servers ask for.
                probe=Endpoints(directory, f"{selection.service}.{selection.namespace}.svc"),
                clock=ServerClock(client),
            ),
        )


async def rotate_once(
    installation: Installation, settings: Settings, patience: timedelta, *, now: bool, say: Callable[[str], None]
) -> Wait | Blocked:
    """Make one pass; with `now` the generation that is current when it begins is followed by another.

    Raises:
        click.ClickException: it cannot go on.
    """
    async with connected(installation) as (client, places), events_of(client, installation) as events:

        def heard(step: Step) -> None:
            say(sentence(step))
            announce(step, rotation.seen, events)

        try:
            if now:
                observed = await Rotation(places, settings).observe()
                state = read_state(observed.stored, settings.names, observed.now)
                settings = replace(settings, beyond=state.number)
            rotation = Rotation(places, settings, told=heard)
            return await rotation.run(patience)
        except (Conflict, Refusal, Unavailable) as error:
            raise click.ClickException(str(error)) from error


async def status_of(installation: Installation, settings: Settings) -> Report:
    """Look at everything, and change nothing.

    Raises:
        click.ClickException: it cannot be seen.
    """
    async with connected(installation) as (_, places):
        try:
            observed = await Rotation(places, settings).observe()
            return report(observed, await places.probe.look(), settings)
        except (Refusal, Unavailable) as error:
            raise click.ClickException(str(error)) from error


async def keep(installation: Installation, settings: Settings, place: Place) -> None:
    """Rotate whenever the Lease is held, until SIGTERM or SIGINT.

    Raises:
        click.ClickException: there are no credentials.
        OSError: the port is taken, or may not be used.
    """
    async with connected(installation) as (client, places), events_of(client, installation) as events:
        metrics = Metrics()

        def heard(step: Step) -> None:
            told(step)
            metrics.count(step)
            announce(step, rotation.seen, events)

        selection = installation.selection
        rotation = Rotation(places, settings, told=heard)
        # Each by its name alone: no more may be read. CRDs are looked at from time to time.
        watched: list[tuple[Resource, Named]] = [
            (SECRETS, Named(client, installation.secret, selection.namespace)),
            *((one, Named(client, selection.configuration, "")) for one in (MUTATING, VALIDATING)),
        ]
        keeper = Keeper(rotation, watched)
        metrics.follow(keeper, settings)
        await lead_until_stopped(
            client, place, keeper.work, settled=lambda: keeper.settled, metrics=metrics, doing="rotating"
        )


def events_of(client: Writer, installation: Installation) -> EventRecorder:
    """Return what writes Events about the Secret."""
    about = {"kind": "Secret", "namespace": installation.selection.namespace, "name": installation.secret}
    return EventRecorder(client, {"apiVersion": "v1", **about}, "jobgate-certificates")


def announce(step: Step, seen: Observed | None, events: EventRecorder) -> None:
    """Tell by an Event that nothing could be served from what was stored, and what is done about it."""
    if seen is None or not isinstance(step, Stage) or not step.emergency:
        return
    uid = str(seen.stored.origin["metadata"]["uid"]) if seen.stored.found else ""
    if any(entry.bundle.strip() for target in seen.targets for entry in target.entries):
        done = "another is made, and servers go on with the last good one"
        events.tell("Warning", "CertificateReplaced", f"{step.why}: {done}", uid)
    else:
        events.tell("Normal", "CertificateIssued", f"{step.why}: the first one is made", uid)


def sentence(step: Step) -> str:
    """Return what a step is, for people."""
    if isinstance(step, Wait):
        until = "" if step.overdue else f" at {step.until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"next: {step.then}{until}: {step.why}"
    return f"{type(step).__name__.lower()}: {step.why}"


class Metrics:
    """What is counted of the rotation, in a registry of its own."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.leader = Gauge(
            "leader_election_master_status", "Whether this is the one that works.", ["name"], registry=registry
        )
        self.steps = Counter(
            "jobgate_certificates_steps", "Steps of rotations that were done.", ["step"], registry=registry
        )
        self.mended = Counter(
            "jobgate_certificates_trusts",
            "How often a CA was added to a target: more than once a rotation, something else overwrites it.",
            ["target"],
            registry=registry,
        )
        self.generation = Gauge(
            "jobgate_certificates_generation", "The generation that the Secret has to be served.", registry=registry
        )
        self.expiry = Gauge(
            "jobgate_certificates_not_after_timestamp_seconds",
            "When it ends, its certificate or its CA; 0 where there is none that can be read.",
            registry=registry,
        )
        self.problem = Gauge(
            "jobgate_certificates_problem", "Whether something keeps the rotation from going on.", registry=registry
        )

    def count(self, step: Step) -> None:
        """Count a step that was done."""
        if isinstance(step, Wait | Blocked):
            return
        self.steps.labels(type(step).__name__.lower()).inc()
        if isinstance(step, Trust):
            self.mended.labels(str(step.target)).inc()

    def follow(self, keeper: Keeper, settings: Settings) -> None:
        """Take from a keeper what it saw last."""

        def state() -> State | None:
            seen: Observed | None = keeper.rotation.seen
            return None if seen is None else read_state(seen.stored, settings.names, seen.now)

        def expiry() -> float:
            found = state()
            validity = found.current.validity if found and found.current else None
            return validity.not_after.timestamp() if validity else 0.0

        self.generation.set_function(lambda: float(found.number) if (found := state()) else 0.0)
        self.expiry.set_function(expiry)
        self.problem.set_function(lambda: float(bool(keeper.problem)))

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self.registry)

"""The rotation of certificates (`certs`) in a cluster: one pass, the loop under a Lease, metrics, a report."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from prometheus_client import Counter, Gauge

from certs import Blocked, Conflict, Refusal, Rotation, RotationSettings, Stage, Step, Trust, Unavailable, Wait, report
from certs.places import Places
from certs.plan import RotationSnapshot
from certs.state import Pair, read_state
from jobgate.cluster.bundles import MUTATING, VALIDATING, Bundles, RotationScope
from jobgate.cluster.client import Client
from jobgate.cluster.endpoints import Endpoints
from jobgate.cluster.events import event, write_event
from jobgate.cluster.informer import Api, Backoff, Informer
from jobgate.cluster.objects import ObjectClient, asked_version
from jobgate.cluster.resource import Resource
from jobgate.cluster.secret import SECRETS
from jobgate.cluster.server import ApiServerClock
from jobgate.cluster.tls_secret import TlsSecret
from jobgate.serving.leader import LeaderMetrics, LeaderSettings, lead_until_stopped

#: Longest time between two passes, in seconds: clocks jump, machines sleep, watches break.
RESYNC = 60.0
#: Seconds between a change and the pass, so that one pass sees all changes of an apply.
SETTLE = 0.2

_BACKOFF: Final = Backoff(first=1.0, most=30.0)
_logger = logging.getLogger("jobgate")


class Keeper:
    """Runs a rotation whenever something may be due.

    Attributes:
        settled: whether a pass has been made.
        outcome: result of the last pass; None if it failed.
        problem: why the rotation is blocked; empty if it is not.
    """

    def __init__(self, rotation: Rotation, watched: Iterable[tuple[Resource, Api]]) -> None:
        """Create a keeper that is not running."""
        self.rotation = rotation
        self.settled = False
        self.outcome: Wait | Blocked | None = None
        self.problem = ""
        self._woken = asyncio.Event()
        backoff = Backoff(first=1.0, most=RESYNC)
        self._watched = [
            (Informer(resource, backoff, keep=asked_version, changed=lambda _: self._woken.set()), api)
            for resource, api in watched
        ]

    async def work(self) -> None:
        """Work until cancelled."""
        failures = 0
        async with asyncio.TaskGroup() as group:
            for informer, api in self._watched:
                group.create_task(informer.run(api))
            while True:
                self._woken.clear()
                failures = 0 if await self._passed() else failures + 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._idle(failures)):
                        await self._woken.wait()
                        await asyncio.sleep(SETTLE)

    async def _passed(self) -> bool:
        """Make one pass; return whether it ended without an error."""
        try:
            outcome = await self.rotation.run(timedelta(seconds=1))
        except (Conflict, Refusal, Unavailable) as error:
            self.outcome = None
            self._report(str(error))
            return False
        self.outcome, self.settled = outcome, True
        wrong = isinstance(outcome, Blocked) or outcome.overdue
        self._report(outcome.why if wrong else "")
        return True

    def _idle(self, failures: int) -> float:
        """Return the seconds until the next pass."""
        if failures:
            return _BACKOFF.seconds(failures)
        if isinstance(self.outcome, Wait) and self.rotation.seen is not None:
            left = (self.outcome.until - self.rotation.seen.now).total_seconds()
            return min(RESYNC, max(1.0, left + 0.1))
        return RESYNC

    def _report(self, problem: str) -> None:
        """Log a problem when it begins and when it ends."""
        if problem and problem != self.problem:
            _logger.error("certificate rotation blocked", extra={"fields": {"reason": problem}})
        elif self.problem and not problem:
            _logger.info("certificate rotation no longer blocked")
        self.problem = problem


class RotationMetrics(LeaderMetrics):
    """Metrics of one rotation."""

    def __init__(self) -> None:
        super().__init__()
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        self.steps = counter("jobgate_certificates_steps", "Steps of certificate rotations.", ["step"])
        self.trusts = counter(
            "jobgate_certificates_trusts",
            "CAs added to a target. More than one per rotation: another client overwrites the bundles.",
            ["target"],
        )
        self.generation = gauge("jobgate_certificates_generation", "Current generation in the Secret.")
        self.expiry = gauge(
            "jobgate_certificates_not_after_timestamp_seconds",
            "Expiry of the current certificate or its CA, whichever is earlier; 0 if there is none.",
        )
        self.problem = gauge("jobgate_certificates_problem", "1 if the rotation is blocked, else 0.")

    def count(self, step: Step) -> None:
        """Count and log a step."""
        if isinstance(step, Wait | Blocked):
            return
        name = type(step).__name__.lower()
        _logger.info("certificate rotation step", extra={"fields": {"step": name, "why": step.why}})
        self.steps.labels(name).inc()
        if isinstance(step, Trust):
            self.trusts.labels(str(step.target)).inc()

    def follow(self, keeper: Keeper, settings: RotationSettings) -> None:
        """Read the gauges from the last observation of a keeper."""

        def current() -> Pair | None:
            seen = keeper.rotation.seen
            return None if seen is None else read_state(seen.stored, settings.names, seen.now).current

        def expiry() -> float:
            pair = current()
            return pair.validity.not_after.timestamp() if pair and pair.validity else 0.0

        self.generation.set_function(lambda: float(pair.number) if (pair := current()) else 0.0)
        self.expiry.set_function(expiry)
        self.problem.set_function(lambda: float(bool(keeper.problem)))


def places(client: Client, scope: RotationScope) -> Places:
    """Return the places in a cluster that the rotation reads and writes."""
    return Places(
        store=TlsSecret(client, scope.namespace, scope.secret),
        targets=Bundles(client, scope),
        probe=Endpoints(client, scope.namespace, scope.service, scope.addresses),
        clock=ApiServerClock(client),
    )


async def rotate_once(
    client: Client,
    scope: RotationScope,
    settings: RotationSettings,
    patience: timedelta,
    *,
    now: bool,
    on_step: Callable[[Step], None],
) -> Wait | Blocked:
    """Make one pass. With `now`, replace the generation that is current when it begins."""

    async def done(step: Step) -> None:
        on_step(step)
        await announce(client, scope, step, rotation.seen)

    if now:
        observed = await Rotation(places(client, scope), settings).observe()
        settings = replace(settings, beyond=read_state(observed.stored, settings.names, observed.now).number)
    rotation = Rotation(places(client, scope), settings, on_step=done)
    return await rotation.run(patience)


async def status_of(
    client: Client, scope: RotationScope, settings: RotationSettings, *, probing: bool = True
) -> dict[str, Any]:
    """Return a report, and change nothing. Without `probing`, it does not say what servers serve."""
    used = places(client, scope)
    observed = await Rotation(used, settings).observe()
    return report(observed, await used.probe.look() if probing else None, settings)


async def keep(client: Client, scope: RotationScope, settings: RotationSettings, leader: LeaderSettings) -> None:
    """Rotate while the Lease is held, until SIGTERM or SIGINT.

    Raises:
        OSError: the port cannot be listened on.
    """
    metrics = RotationMetrics()

    async def done(step: Step) -> None:
        metrics.count(step)
        await announce(client, scope, step, rotation.seen)

    rotation = Rotation(places(client, scope), settings, on_step=done)
    # Only objects that the account may read by name are watched. CRDs are read at each pass.
    watched: list[tuple[Resource, Client]] = [
        (SECRETS, client.named(scope.secret, scope.namespace)),
        *((resource, client.named(scope.configuration, "")) for resource in (MUTATING, VALIDATING)),
    ]
    keeper = Keeper(rotation, watched)
    metrics.follow(keeper, settings)
    await lead_until_stopped(
        client, leader, keeper.work, settled=lambda: keeper.settled, metrics=metrics, started="rotation started"
    )


async def announce(objects: ObjectClient, scope: RotationScope, step: Step, seen: RotationSnapshot | None) -> None:
    """Record an Event on the Secret if the stored certificate could not be served."""
    if seen is None or not isinstance(step, Stage) or not step.emergency:
        return
    about = {"apiVersion": "v1", "kind": "Secret", "namespace": scope.namespace, "name": scope.secret}
    if seen.stored.exists:  # kubectl describe finds Events by the uid
        about["uid"] = str(seen.stored.origin["metadata"]["uid"])
    if any(entry.bundle.strip() for target in seen.targets for entry in target.entries):
        message = f"{step.why}: issuing a new one; servers keep the last good certificate until then"
        manifest = event(about, ("Warning", "CertificateReplaced", message), "jobgate-certificates", datetime.now(UTC))
    else:
        message = f"{step.why}: issuing the first one"
        manifest = event(about, ("Normal", "CertificateIssued", message), "jobgate-certificates", datetime.now(UTC))
    await write_event(objects, manifest)


def sentence(step: Step) -> str:
    """Return a step as text."""
    if isinstance(step, Wait):
        until = "" if step.overdue else f" at {step.until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return f"next: {step.then}{until}: {step.why}"
    return f"{type(step).__name__.lower()}: {step.why}"

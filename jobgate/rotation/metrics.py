"""Prometheus metrics of the rotation."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

from certs import Blocked, RotationSettings, Step, Trust, Wait
from certs.state import RotationState, read_state
from jobgate.rotation.keeper import Keeper
from jobgate.serving.leader import LeaderMetrics


class RotationMetrics(LeaderMetrics):
    """Metrics of one rotation."""

    def __init__(self) -> None:
        super().__init__()
        registry = self.registry
        self.steps = Counter(
            "jobgate_certificates_steps", "Steps of certificate rotations.", ["step"], registry=registry
        )
        self.trusts = Counter(
            "jobgate_certificates_trusts",
            "CAs added to a target. More than one per rotation: another client overwrites the bundles.",
            ["target"],
            registry=registry,
        )
        self.generation = Gauge(
            "jobgate_certificates_generation", "Current generation in the Secret.", registry=registry
        )
        self.expiry = Gauge(
            "jobgate_certificates_not_after_timestamp_seconds",
            "Expiry of the current certificate or its CA, whichever is earlier; 0 if there is none.",
            registry=registry,
        )
        self.problem = Gauge("jobgate_certificates_problem", "1 if the rotation is blocked, else 0.", registry=registry)

    def count(self, step: Step) -> None:
        """Count a step that was done."""
        if isinstance(step, Wait | Blocked):
            return
        self.steps.labels(type(step).__name__.lower()).inc()
        if isinstance(step, Trust):
            self.trusts.labels(str(step.target)).inc()

    def follow(self, keeper: Keeper, settings: RotationSettings) -> None:
        """Read the gauges from what a keeper observed last."""

        def state() -> RotationState | None:
            seen = keeper.rotation.seen
            return None if seen is None else read_state(seen.stored, settings.names, seen.now)

        def expiry() -> float:
            found = state()
            validity = found.current.validity if found and found.current else None
            return validity.not_after.timestamp() if validity else 0.0

        self.generation.set_function(lambda: float(found.number) if (found := state()) else 0.0)
        self.expiry.set_function(expiry)
        self.problem.set_function(lambda: float(bool(keeper.problem)))

"""Checks clocks, and the Leases of leader election."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from certs.plan import SKEW
from jobgate.cluster.lease import LEASES
from jobgate.doctor.expected import Expected
from jobgate.doctor.finding import FoundFault, fault_at
from jobgate.doctor.observed import ClusterSnapshot, NotChecked, place
from jobgate.installation import certificates, controller, runner

#: Time since the last renewal after which a Lease has no holder. The time is that of the holder's clock.
STALE = timedelta(minutes=1)


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield wrong clocks, and Leases without a holder."""
    if not isinstance(observed.clock, NotChecked) and abs(observed.clock.skew) > SKEW:
        side = "ahead of" if observed.clock.skew > timedelta() else "behind"
        what = f"the clock is {round(abs(observed.clock.skew).total_seconds())}s {side} the API server's"
        yield fault_at("clock-skew", "this machine", what)
    for name in leases(expected):
        if observed.missing(LEASES, name, expected.namespace):
            why = "not found"
        else:
            why = _unheld(observed.get(LEASES, name, expected.namespace) or {}, observed.now)
        if why:
            yield fault_at("lease-not-held", place(LEASES, name, expected.namespace), why)


def leases(expected: Expected) -> list[str]:
    """Return the Leases that must always have a holder."""
    accounts = {
        controller.LEASE: controller.ACCOUNT,
        certificates.LEASE: certificates.ACCOUNT,
        runner.LEASE: runner.ACCOUNT,
    }
    return [lease for lease, account in accounts.items() if account in expected.deployments]


def _unheld(lease: Mapping[str, Any], now: datetime | None) -> str:
    """Return why a Lease has no holder; empty if it has one or could not be read."""
    spec = lease.get("spec")
    if spec is None:
        return ""
    if not spec.get("holderIdentity"):
        return "it has no holder"
    if now is None or not spec.get("renewTime"):
        return ""
    renewed = datetime.fromisoformat(spec["renewTime"]).astimezone(UTC)
    if now - renewed <= max(STALE, 4 * timedelta(seconds=spec.get("leaseDurationSeconds") or 0)):
        return ""
    return f"the holder {spec['holderIdentity']} last renewed it at {renewed:%Y-%m-%d %H:%M:%S} UTC"

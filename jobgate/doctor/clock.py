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

#: Time since the last renewal, by the holder's clock, after which a Lease counts as not held.
STALE = timedelta(minutes=1)
#: A renewal so far in the future means that the clock of the holder is wrong.
AHEAD = timedelta(minutes=1)


def check(observed: ClusterSnapshot, expected: Expected) -> Iterator[FoundFault]:
    """Yield wrong clocks, and Leases without a holder."""
    if not isinstance(observed.clock, NotChecked) and abs(observed.clock.skew) > SKEW:
        side = "ahead of" if observed.clock.skew > timedelta() else "behind"
        what = f"the clock is {round(abs(observed.clock.skew).total_seconds())}s {side} the API server's"
        yield fault_at("clock-skew", "this machine", what)
    for name in leases(expected):
        where = place(LEASES, name, expected.namespace)
        if observed.missing(LEASES, name, expected.namespace):
            yield fault_at("lease-not-held", where, "not found")
        elif (lease := observed.get(LEASES, name, expected.namespace)) is not None:
            yield from _held(lease.get("spec") or {}, observed.now, where)


def leases(expected: Expected) -> list[str]:
    """Return the Leases that must always have a holder."""
    accounts = {
        controller.LEASE: controller.ACCOUNT,
        certificates.LEASE: certificates.ACCOUNT,
        runner.LEASE: runner.ACCOUNT,
    }
    name = expected.installation.name
    held = [lease for lease, account in accounts.items() if account in expected.deployments]
    return [f"{name}{lease.removeprefix('jobgate')}" for lease in held]


def _held(lease: Mapping[str, Any], now: datetime | None, where: str) -> Iterator[FoundFault]:
    """Yield faults of a Lease: nobody holds it, its renewal is late, or the clock of its holder is ahead."""
    holder = lease.get("holderIdentity")
    if not holder:
        yield fault_at("lease-not-held", where, "it has no holder")
    if not holder or now is None or not lease.get("renewTime"):
        return
    renewed = datetime.fromisoformat(lease["renewTime"]).astimezone(UTC)
    if now - renewed > max(STALE, 4 * timedelta(seconds=lease.get("leaseDurationSeconds") or 0)):
        last = f"{renewed:%Y-%m-%d %H:%M:%S} UTC"
        yield fault_at("lease-not-held", where, f"the holder {holder} last renewed it at {last}")
    elif renewed - now > AHEAD:
        ahead = round((renewed - now).total_seconds())
        yield fault_at("clock-skew", where, f"the clock of the holder {holder} is {ahead}s ahead of the API server's")

"""Why Kueue has not admitted groups of pods, from their Workloads. A Workload has the name of its group.

They are not watched but read: only while pods wait, and less often over time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from jobgate.cluster import Resource
from jobgate.cluster.informer import ApiError
from jobgate.cluster.objects import ObjectClient
from jobgate.plugins.queueing import KUEUE_CRD, KUEUE_GROUP
from jobgate.runner.subject import LONG_AGO, Observed, condition_of, later, moment
from jobgate.runner.uncreated import GRACE, LIMIT, PERIOD
from jobgate.runner.waiting import scheduled
from webhook.values import labels_of, mapping, metadata_of, objects, spec_of, text

#: Most seconds between two reads of a Workload; it is read after a tenth of the time that it has waited.
LONGEST: Final = 300.0

_logger = logging.getLogger("jobgate")


class Workloads:
    """Finds out why Kueue has not admitted groups of pods."""

    def __init__(self, objects: ObjectClient) -> None:
        """Read with a client."""
        self._objects = objects
        #: By namespace and name: when a Workload is read again, and why it is not admitted.
        self._known: dict[tuple[str, str], tuple[datetime, str]] = {}
        self._resume = LONG_AGO
        #: Whether the runner lacks the right to read Workloads, which is reported once.
        self._denied = False

    async def why(self, namespace: str, observed: Observed) -> tuple[Mapping[str, str], float | None]:
        """Return why groups of a job wait, by their names, and the seconds until to ask again; None for never."""
        now, since, reasons = observed.now, dict[str, datetime](), dict[str, str]()
        for pod in observed.pods:
            group, metadata = text(labels_of(pod).get(KUEUE_GROUP)), metadata_of(pod)
            if group and scheduled(pod).get("reason") == "SchedulingGated" and not metadata.get("deletionTimestamp"):
                since[group] = min(since.get(group, now), moment(metadata.get("creationTimestamp")) or now)
        due = {group: later(created, GRACE) for group, created in since.items()}
        for group in [group for group, time in due.items() if time <= now]:
            due[group], reasons[group] = await self._read((namespace, group), now, since[group])
        return reasons, min(((time - now).total_seconds() for time in due.values()), default=None)

    async def _read(self, key: tuple[str, str], now: datetime, since: datetime) -> tuple[datetime, str]:
        """Return when a Workload is read again, and why it is not admitted; empty if that is not known."""
        again, reason = self._known.get(key, (now, ""))
        if (again := max(again, self._resume)) > now:
            return again, reason
        (namespace, name), (plural, _, group), workload = key, KUEUE_CRD.partition("."), None
        try:
            for version in ("v1beta2", "v1beta1"):  # older releases of Kueue serve only the last
                workload = workload or await self._objects.get(Resource(plural, version, group), name, namespace)
        except (ApiError, OSError) as error:
            denied = isinstance(error, ApiError) and error.code == HTTPStatus.FORBIDDEN
            self._resume = later(now, LONGEST if denied else PERIOD)  # for all Workloads
            if not (denied and self._denied):
                fields = {"workload": name, "namespace": namespace, "reason": f"{type(error).__qualname__}: {error}"}
                _logger.warning(
                    "cannot read why Kueue has not admitted pods, will be retried", extra={"fields": fields}
                )
            self._denied = denied
            return self._resume, reason
        self._denied = False
        period = min(max((now - since).total_seconds() / 10, PERIOD), LONGEST)
        self._known = {each: known for each, known in self._known.items() if known[0] > now}
        self._known[key] = later(now, period), reason_of(name, workload)
        return self._known[key]


def reason_of(name: str, workload: Mapping[str, Any] | None) -> str:
    """Return why a Workload is not admitted; empty if that is not known."""
    if workload is None:
        return f"Workload {name} does not exist: Kueue must be running, with its integration pod"
    status = mapping(workload.get("status"))
    quota = condition_of(status, "QuotaReserved")
    why = text(quota.get("message"))
    if spec_of(workload).get("active") is False:
        why = "it is deactivated: its spec.active is false"
    elif quota.get("status") == "True":
        checks = [check for _, check in objects(status.get("admissionChecks")) if check.get("state") != "Ready"]
        waits = (" ".join(text(check.get(field)) for field in ("name", "state", "message")) for check in checks)
        why = "; ".join(f"AdmissionCheck {check}" for check in waits)
    return f"Workload {name}: {why}"[:LIMIT] if why else ""
